//! The folder of one run: a home, a project, and the logs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::client::Client;
use crate::machine;

/// The project that the agents work on.
const PROJECT: &str = "xtask/agents/project";

/// The number of files for the scenario `many-files`.
const PARTS: usize = 12;

/// The folder of all runs.
pub(super) const RUNS: &str = "target/agents/runs";

/// The folder of a run of `client`.
pub(super) fn folder(client: &Client, name: &str) -> PathBuf {
    machine::root().join(RUNS).join(client.name).join(name)
}

/// The folders and files of one run.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The folder that contains the others.
    pub(super) root: PathBuf,
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    /// Where the scripted model is for this run.
    pub(super) url: String,
}

impl Place {
    /// Makes the folder anew.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(super) fn new(root: PathBuf, url: String) -> io::Result<Self> {
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        let place = Self { home: root.join("home"), project: root.join("project"), root, url };
        for folder in [&place.home, &place.project, &place.state(), &place.root.join("tmp")] {
            fs::create_dir_all(folder)?;
        }
        for entry in fs::read_dir(machine::root().join(PROJECT))? {
            let entry = entry?;
            fs::copy(entry.path(), place.project.join(entry.file_name()))?;
        }
        for part in 0..PARTS {
            fs::write(place.project.join(format!("part{part}.txt")), "same\n")?;
        }
        // Some agents look for the root of a project.
        let mut git = Command::new("git");
        git.args(["init", "--quiet"]).current_dir(&place.project).stdin(Stdio::null());
        git.status()?;
        Ok(place)
    }

    /// The logs of the model.
    pub(super) fn logs(&self) -> PathBuf {
        self.root.join("model")
    }

    /// The folder in which `unstuck` keeps its state.
    pub(super) fn state(&self) -> PathBuf {
        self.home.join(".local/state/unstuck")
    }

    /// Writes a file below the home or the project, with the folders above it.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(super) fn write(folder: &Path, path: &str, text: &str) -> io::Result<()> {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, text)
    }
}
