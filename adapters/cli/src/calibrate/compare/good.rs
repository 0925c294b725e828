//! The runs that are known to be good: those that a file lists, or those that ended well.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use unstuck_report::mistake::Mistake;

use super::trial::TriedRun;
use crate::calibrate::labels;
use crate::exit::Exit;
use crate::read::inputs::Input;
use crate::scan::options::Scan;
use crate::setup;

/// What makes a run a good one.
pub(super) enum Good {
    /// Its file is one of these, which are canonical.
    Listed(HashSet<PathBuf>),
    /// It ended with passing tests or a commit.
    EndedWell,
}

impl Good {
    /// Reads the file of `--good`, if there is one. Prints an error if it is wrong.
    pub(super) fn load(scan: &Scan) -> Result<Self, Exit> {
        let Some(path) = &scan.good else { return Ok(Self::EndedWell) };
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let folders = [PathBuf::new(), folder].into_iter().chain(scan.paths.iter().cloned());
        let folders: Vec<PathBuf> = folders.collect();
        setup::load(path, "paths or labels, one a line", |text| listed(text, &folders))
            .map(Self::Listed)
    }

    /// Returns whether a run of `input` is good.
    pub(super) fn has(&self, input: &Input, run: &TriedRun) -> bool {
        match (self, input) {
            (Self::EndedWell, _) => run.ended_well,
            (Self::Listed(_), Input::Stdin) => false,
            (Self::Listed(files), Input::File(path)) => {
                path.canonicalize().is_ok_and(|path| files.contains(&path))
            }
        }
    }
}

/// Returns the files of the good runs that `text` lists. Each is looked for in the `folders`.
fn listed(text: &str, folders: &[PathBuf]) -> Result<HashSet<PathBuf>, Mistake> {
    let (mut files, mut start) = (HashSet::new(), 0);
    for line in text.split_inclusive('\n') {
        let entry = line.trim();
        let span = start..start + line.trim_end().len();
        start += line.len();
        if entry.is_empty() {
            continue;
        }
        let file = if entry.starts_with('{') {
            let label = labels::label(entry).map_err(|why| Mistake::new(span.clone(), why))?;
            if !label.is_good() {
                continue;
            }
            label.file
        } else {
            PathBuf::from(entry)
        };
        let found = folders.iter().find_map(|folder| folder.join(&file).canonicalize().ok());
        files.insert(found.ok_or_else(|| {
            let what = "no such file: expected the path of a run, as it is scanned or relative to \
                        this file, or a label of `unstuck eval`";
            Mistake::new(span, what)
        })?);
    }
    Ok(files)
}
