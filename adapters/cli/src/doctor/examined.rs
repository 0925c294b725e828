//! One agent's settings in one scope, and what is to be said of them.

use std::fs;
use std::path::PathBuf;
use std::{env, io, process};

use serde::Serialize;

use super::advice;
use super::trial::Trial;
use crate::args::Scope;
use crate::install::{Entry, Host, listed};

/// What was found out about one file of settings.
#[derive(Serialize)]
pub(super) struct Examined {
    pub(super) agent: &'static str,
    #[serde(skip)]
    pub(super) name: &'static str,
    pub(super) scope: &'static str,
    pub(super) settings: String,
    /// Whether there is such a file.
    pub(super) exists: bool,
    /// What keeps it from being understood.
    pub(super) unreadable: Option<String>,
    /// The events at which this program is run, and those at which it should be, too.
    pub(super) events: Vec<String>,
    pub(super) missing: Vec<&'static str>,
    pub(super) commands: Vec<Tried>,
    /// What keeps the agent from running what is installed.
    pub(super) obstacles: Vec<String>,
    /// What is to be done or to be known.
    pub(super) advice: Vec<String>,
}

/// A command line that is installed, and what came of it.
#[derive(Serialize)]
pub(super) struct Tried {
    pub(super) command: String,
    pub(super) works: bool,
    pub(super) fault: Option<String>,
    pub(super) median_ms: Option<f64>,
    /// How much of that is the shell's that the agent starts.
    pub(super) shell_ms: Option<f64>,
}

impl Examined {
    pub(super) fn is_installed(&self) -> bool {
        !self.events.is_empty()
    }

    /// Whether what is installed, if anything is, works.
    pub(super) fn is_well(&self) -> bool {
        self.commands.iter().all(|tried| tried.works)
            && self.unreadable.is_none()
            && self.obstacles.is_empty()
            && (self.missing.is_empty() || !self.is_installed())
    }
}

/// Where an agent's settings are.
pub(super) struct Place {
    host: &'static Host,
    scope: Scope,
    path: PathBuf,
}

impl Place {
    pub(super) fn new(host: &'static Host, scope: Scope) -> Self {
        Self { host, scope, path: host.settings(scope) }
    }

    pub(super) fn settings(&self) -> String {
        self.path.display().to_string()
    }

    /// What there is to be found out.
    pub(super) fn examined(&self) -> Examined {
        let mut examined = Examined {
            agent: self.host.agent.name(),
            name: self.host.name,
            scope: self.scope.name(),
            settings: self.settings(),
            exists: true,
            unreadable: None,
            events: Vec::new(),
            missing: Vec::new(),
            commands: Vec::new(),
            obstacles: Vec::new(),
            advice: Vec::new(),
        };
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) => {
                examined.exists = error.kind() != io::ErrorKind::NotFound;
                examined.unreadable = examined.exists.then(|| error.to_string());
                return examined;
            }
        };
        match listed(&text) {
            Ok(entries) => self.judge(&mut examined, &entries, &text),
            Err(mistake) => {
                let (line, column) = mistake.place(&text);
                examined.unreadable = Some(format!("{line}:{column}: {}", mistake.what()));
            }
        }
        examined
    }

    /// Says what is true of `entries`, that are all in the settings `text`.
    fn judge(&self, examined: &mut Examined, entries: &[Entry], text: &str) {
        if entries.is_empty() {
            return;
        }
        examined.events = entries.iter().map(|entry| entry.event.clone()).collect();
        let events = self.host.events();
        examined.missing =
            events.filter(|event| !examined.events.iter().any(|one| one == event)).collect();
        examined.commands = tried(self.host, entries);
        examined.obstacles = advice::obstacles(self.host, text, &self.path);
        examined.advice = advice::advice(self.host, self.scope, entries, &self.path);
    }
}

/// Each command line of `entries`, tried out once.
fn tried(host: &Host, entries: &[Entry]) -> Vec<Tried> {
    let mut tried: Vec<Tried> = Vec::new();
    for entry in entries {
        let command = match entry.has_args {
            true => entry.line.shell().unwrap_or_else(|| entry.command.clone()),
            false => entry.command.clone(),
        };
        if tried.iter().any(|one| one.command == command) {
            continue;
        }
        let trial = Scratch::new()
            .map_err(|error| format!("cannot be tried: {error}"))
            .and_then(|state| Trial::of(host, entry, &state.0));
        tried.push(Tried {
            command,
            works: trial.is_ok(),
            median_ms: trial.as_ref().ok().map(|trial| trial.median),
            shell_ms: trial.as_ref().ok().and_then(|trial| trial.shell),
            fault: trial.err(),
        });
    }
    tried
}

/// A folder for the state of hooks that are tried, which goes away with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Self> {
        let path = env::temp_dir().join(format!("unstuck-doctor-{}", process::id()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left of it is the system's to clean up.
        let _ = fs::remove_dir_all(&self.0);
    }
}
