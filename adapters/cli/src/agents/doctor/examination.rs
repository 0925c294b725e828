//! The examination of one agent's settings in one scope.

use std::fs;
use std::path::PathBuf;
use std::{env, io};

use serde::Serialize;

use super::swarm;
use super::trial::measure;
use crate::agents::Agent;
use crate::agents::hooks::Form;
use crate::agents::host::{Diagnosis, Host, Installation, Scope, is_same};
use crate::agents::notify;
use crate::agents::process::version_of;
use crate::agents::settings::Entry;

/// The report on one settings file.
#[derive(Default, Serialize)]
pub(super) struct Examination {
    pub(super) agent: &'static str,
    #[serde(skip)]
    pub(super) name: &'static str,
    pub(super) scope: &'static str,
    pub(super) settings: String,
    /// The file exists.
    pub(super) exists: bool,
    /// The error if the file cannot be read or parsed.
    pub(super) unreadable: Option<String>,
    /// The events at which this program is installed.
    pub(super) events: Vec<String>,
    /// The events at which it should be installed, too.
    pub(super) missing: Vec<&'static str>,
    pub(super) commands: Vec<CommandReport>,
    /// The file that enables the plugin from a marketplace, which is another way of installation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plugin: Option<String>,
    /// The reasons why the agent does not run the installed hooks.
    pub(super) obstacles: Vec<String>,
    /// Hints for the user.
    pub(super) advice: Vec<String>,
    /// The user has trusted all installed hooks, according to the agent's configuration. `None` if the
    /// agent records no such thing.
    pub(super) trusted: Option<bool>,
}

/// An installed command line and the result of running it.
#[derive(Default, Serialize)]
pub(super) struct CommandReport {
    pub(super) command: String,
    /// `None` if the line was not run.
    pub(super) works: Option<bool>,
    /// The failure, or the reason why the line was not run.
    pub(super) fault: Option<String>,
    pub(super) median_ms: Option<f64>,
    /// The part of the median that the agent's shell takes.
    pub(super) shell_ms: Option<f64>,
}

impl Examination {
    pub(super) fn is_installed(&self) -> bool {
        self.has_hooks() || self.plugin.is_some()
    }

    /// Returns whether the settings list hooks of this program.
    pub(super) fn has_hooks(&self) -> bool {
        !self.events.is_empty()
    }

    /// Returns whether there are neither settings nor a plugin.
    pub(super) fn is_absent(&self) -> bool {
        !self.exists && !self.is_installed()
    }

    /// Returns whether everything that is installed works.
    pub(super) fn is_well(&self) -> bool {
        self.would_work() && self.trusted != Some(false)
    }

    /// Returns whether only the user's trust is missing.
    pub(super) fn is_only_untrusted(&self) -> bool {
        self.would_work() && self.trusted == Some(false)
    }

    fn would_work(&self) -> bool {
        self.commands.iter().all(|tried| tried.works != Some(false))
            && self.unreadable.is_none()
            && self.obstacles.is_empty()
            && (self.missing.is_empty() || !self.has_hooks())
    }
}

/// The settings file of an agent in one scope.
pub(super) struct SettingsFile {
    host: &'static Host,
    scope: Scope,
    path: PathBuf,
}

impl SettingsFile {
    pub(super) fn new(host: &'static Host, scope: Scope) -> Self {
        Self { host, scope, path: host.settings(scope) }
    }

    /// Returns whether `other` is the same file, possibly by a symbolic link.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        is_same(&self.path, &other.path)
    }

    /// Reads the settings and tries the hooks in them.
    pub(super) fn examine(&self) -> Examination {
        let mut examined = Examination {
            agent: self.host.name,
            name: self.host.title,
            scope: self.scope.name(),
            settings: self.path.display().to_string(),
            exists: true,
            ..Examination::default()
        };
        self.examine_plugin(&mut examined);
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) => {
                examined.exists = error.kind() != io::ErrorKind::NotFound;
                examined.unreadable = examined.exists.then(|| error.to_string());
                return examined;
            }
        };
        match self.host.listed(&text) {
            Ok(entries) => self.complete(&mut examined, &entries, &text),
            Err(mistake) => {
                let (line, column) = mistake.place(&text);
                examined.unreadable = Some(format!("{line}:{column}: {}", mistake.what()));
            }
        }
        examined
    }

    /// Adds the report on the plugin, if it is enabled.
    fn examine_plugin(&self, examined: &mut Examination) {
        let plugin = self.host.enabled_plugin(self.scope).zip(self.host.published);
        let Some((path, published)) = plugin else { return };
        examined.plugin = Some(path.display().to_string());
        examined.advice.push(published.advice.to_owned());
        let this = env!("CARGO_PKG_VERSION");
        examined.obstacles.extend(match version_of("unstuck").map(|version| version.to_string()) {
            None => Some("its plugin finds no unstuck in PATH: put this program there".to_owned()),
            Some(version) if version != this => Some(format!(
                "its plugin runs unstuck {version}, and this is {this}: update one of them"
            )),
            Some(_) => None,
        });
    }

    /// Completes the report for settings that list these entries.
    fn complete(&self, examined: &mut Examination, entries: &[Entry], text: &str) {
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
        examined.obstacles.extend(host.too_old().into_iter().chain(obstacles));
        examined.obstacles.extend(self.several(entries));
        examined.obstacles.extend(self.other_versions(entries));
        examined.trusted = trusted.map(|trusted| trusted == entries.len());
        examined.advice.extend(advice);
        let may_ask =
            |entry: &&Entry| self.scope == Scope::User || is_harmless(entry, host.hooks.form);
        examined.advice.extend(narrow(entries));
        examined.advice.extend(swarm::checks(entries.iter().filter(may_ask)));
        examined.advice.extend(notify::checks(entries.iter()));
    }

    /// Returns an obstacle if an event has two entries, or if the entries run different lines.
    fn several(&self, entries: &[Entry]) -> Option<String> {
        let twice = entries
            .iter()
            .enumerate()
            .find(|(at, entry)| entries[..*at].iter().any(|earlier| earlier.event == entry.event));
        let what = match twice {
            Some((_, entry)) => format!("{} has two entries, so it is counted twice", entry.event),
            None if entries.windows(2).any(|pair| pair[0].line != pair[1].line) => {
                "its events run different command lines".to_owned()
            }
            None => return None,
        };
        Some(format!("{what}: {}", self.reinstall()))
    }

    /// Returns an obstacle for each other program in `entries` that is another version than this one.
    fn other_versions(&self, entries: &[Entry]) -> Vec<String> {
        let mut programs: Vec<&str> = Vec::new();
        for entry in entries.iter().filter(|entry| !runs_this(entry)) {
            if !programs.contains(&&entry.line.program[..]) {
                programs.push(&entry.line.program);
            }
        }
        // A project's settings may name any program, so theirs are not run.
        programs.retain(|_| self.scope == Scope::User);
        let is_other = |program: &&str| {
            let version = version_of(program)?;
            let this = env!("CARGO_PKG_VERSION");
            (version.to_string() != this).then(|| {
                let again = self.reinstall();
                format!("runs unstuck {version} at {program}, and this is {this}: {again}")
            })
        };
        programs.iter().filter_map(is_other).collect()
    }

    fn reinstall(&self) -> String {
        format!("run unstuck install {} --scope {} again", self.host.name, self.scope.name())
    }

    /// Tries each command line of `entries` once.
    fn tried(&self, entries: &[Entry]) -> Vec<CommandReport> {
        let mut tried: Vec<CommandReport> = Vec::new();
        for entry in entries {
            let is_as_written = entry.command == entry.line.command(self.host.hooks.form);
            let words = (entry.has_args || is_as_written).then(|| entry.line.shell()).flatten();
            let command = words.unwrap_or_else(|| entry.command.clone());
            if !tried.iter().any(|one| one.command == command) {
                tried.push(self.trial(entry, command));
            }
        }
        tried
    }

    fn trial(&self, entry: &Entry, command: String) -> CommandReport {
        let untried = CommandReport { command, ..CommandReport::default() };
        if self.scope == Scope::Project && !is_harmless(entry, self.host.hooks.form) {
            return CommandReport { fault: Some(FOREIGN.to_owned()), ..untried };
        }
        // The state of the hook that is tried.
        let scratch = tempfile::Builder::new().prefix("unstuck-doctor-").tempdir();
        let scratch = scratch.map_err(|error| format!("cannot be tried: {error}"));
        match scratch.and_then(|state| measure(self.host, entry, state.path())) {
            Ok((median, shell_ms)) => {
                let (works, median_ms) = (Some(true), Some(median));
                CommandReport { works, median_ms, shell_ms, ..untried }
            }
            Err(fault) => CommandReport { works: Some(false), fault: Some(fault), ..untried },
        }
    }
}

/// Returns advice if entries are restricted to some tools.
fn narrow(entries: &[Entry]) -> Option<String> {
    let entry = entries.iter().find(|entry| entry.matcher.is_some())?;
    let (event, matcher) = (&entry.event, entry.matcher.as_deref().unwrap_or_default());
    Some(format!(
        "The matcher {matcher:?} restricts it at {event}: other calls are not watched. To watch all, \
         change it to \"*\"."
    ))
}

/// Reports an agent that is installed in two of `places`, which are all of one agent.
pub(super) fn report_twice(places: &mut [Examination]) {
    let plugin = places.iter().find_map(|place| place.plugin.clone());
    if let Some((plugin, place)) = plugin.zip(places.iter_mut().find(|place| place.has_hooks())) {
        let Examination { agent, scope, .. } = *place;
        let removal = Agent::named(agent).and_then(|agent| agent.host().published);
        let removal = removal.map_or("remove the plugin", |published| published.removal);
        place.obstacles.push(format!(
            "its plugin is enabled as well, in {plugin}, so its events are judged twice: run unstuck uninstall \
             {agent} --scope {scope}, or {removal}"
        ));
    }
    if let [first, .., last] = places
        && first.has_hooks()
        && last.has_hooks()
    {
        last.obstacles.push(format!(
            "it is also installed in {}, so its events may be counted twice: run unstuck uninstall {} \
             --scope {}",
            first.settings, last.agent, last.scope
        ));
    }
}

/// The reason why a line in a project's settings is not run.
const FOREIGN: &str = "not tried: this line comes with the project and runs something else than this \
                       unstuck";

/// Returns whether an entry runs this program and nothing else.
fn is_harmless(entry: &Entry, form: Form) -> bool {
    let is_written_by_install = entry.command == entry.line.command(form);
    runs_this(entry) && (entry.has_args || is_written_by_install || !entry.command.contains(SHELL))
}

/// Returns whether the program of an entry is this one.
fn runs_this(entry: &Entry) -> bool {
    let this = env::current_exe().and_then(fs::canonicalize);
    fs::canonicalize(&entry.line.program)
        .is_ok_and(|program| this.is_ok_and(|this| this == program))
}

/// The characters that a shell treats as more than words and quotes.
const SHELL: [char; 16] =
    [';', '&', '|', '<', '>', '$', '`', '(', ')', '{', '}', '*', '?', '#', '\n', '\r'];
