//! One agent's settings in one scope, and what is to be said of them.

use std::fs;
use std::path::PathBuf;
use std::{env, io, process};

use serde::Serialize;

use super::swarm;
use super::trial::Trial;
use crate::agents::host::{Diagnosis, Host, Installation, Scope};
use crate::agents::settings::{Entry, listed};

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
    /// Whether the agent was told to trust all that is installed, as far as its configuration shows;
    /// not known of one that keeps that elsewhere.
    pub(super) trusted: Option<bool>,
}

/// A command line that is installed, and what came of it.
#[derive(Serialize)]
pub(super) struct Tried {
    pub(super) command: String,
    /// Not known of a line that was not tried.
    pub(super) works: Option<bool>,
    /// What is wrong with it, or why it was not tried.
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
        self.commands.iter().all(|tried| tried.works != Some(false))
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
            agent: self.host.name,
            name: self.host.title,
            scope: self.scope.name(),
            settings: self.settings(),
            exists: true,
            unreadable: None,
            events: Vec::new(),
            missing: Vec::new(),
            commands: Vec::new(),
            obstacles: Vec::new(),
            advice: Vec::new(),
            trusted: None,
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
        let events = self.host.event_names();
        examined.missing =
            events.filter(|event| !examined.events.iter().any(|one| one == event)).collect();
        examined.commands = self.tried(entries);
        let Self { host, scope, path } = self;
        let installation = Installation { host, scope: *scope, path, text, entries };
        let Diagnosis { obstacles, advice, trusted } = (host.diagnose)(&installation);
        examined.obstacles = host.too_old().into_iter().chain(obstacles).collect();
        examined.trusted = trusted.map(|trusted| trusted == entries.len());
        examined.advice = advice;
        let may_ask = |entry: &&Entry| self.scope == Scope::User || is_harmless(entry);
        examined.advice.extend(swarm::told(entries.iter().filter(may_ask)));
    }

    /// Each command line of `entries`, tried out once.
    fn tried(&self, entries: &[Entry]) -> Vec<Tried> {
        let mut tried: Vec<Tried> = Vec::new();
        for entry in entries {
            let words = entry.has_args.then(|| entry.line.shell()).flatten();
            let command = words.unwrap_or_else(|| entry.command.clone());
            if !tried.iter().any(|one| one.command == command) {
                tried.push(self.trial(entry, command));
            }
        }
        tried
    }

    fn trial(&self, entry: &Entry, command: String) -> Tried {
        let untried = Tried { command, works: None, fault: None, median_ms: None, shell_ms: None };
        if self.scope == Scope::Project && !is_harmless(entry) {
            return Tried { fault: Some(FOREIGN.to_owned()), ..untried };
        }
        let scratch = Scratch::new().map_err(|error| format!("cannot be tried: {error}"));
        match scratch.and_then(|state| Trial::of(self.host, entry, &state.0)) {
            Ok(Trial { median, shell }) => {
                let (works, median_ms) = (Some(true), Some(median));
                Tried { works, median_ms, shell_ms: shell, ..untried }
            }
            Err(fault) => Tried { works: Some(false), fault: Some(fault), ..untried },
        }
    }
}

/// Why a line is not tried.
const FOREIGN: &str = "not tried: whoever wrote this project's settings would run a program of their \
                       own by it, or more than one";

/// Whether an entry that somebody else may have written runs this program, and nothing else.
fn is_harmless(entry: &Entry) -> bool {
    let this = env::current_exe().and_then(fs::canonicalize);
    let is_this = fs::canonicalize(&entry.line.program)
        .is_ok_and(|program| this.is_ok_and(|this| this == program));
    is_this && (entry.has_args || !entry.command.contains(SHELL))
}

/// What means something to a shell other than a word and its quotes.
const SHELL: [char; 16] =
    [';', '&', '|', '<', '>', '$', '`', '(', ')', '{', '}', '*', '?', '#', '\n', '\r'];

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
