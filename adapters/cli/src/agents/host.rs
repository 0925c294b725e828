//! The description of a coding agent: all that the commands ask about one.
//!
//! Each agent has a module with one value of [`Host`]. This module knows none of them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use unstuck_report::mistake::Mistake;
use unstuck_trace::Format;

use super::dialect::{self, Dialect};
use super::event::{BadPayload, Call, Ending, Event};
use super::hooks::{Form, Hooks, Plugin};
use super::process::Needs;
use super::published::Published;
use super::reply::{Encoded, Reply};
use super::settings::{self, Entry, Line, switch};
use super::transcript::Answer;

/// A coding agent. The fields behind `diagnose` are for agents that differ from most.
#[derive(Debug)]
pub(crate) struct Host {
    /// The name on the command line and in reports, for example `claude-code`.
    pub(crate) name: &'static str,
    /// The name in messages to people, for example `Claude Code`.
    pub(crate) title: &'static str,
    /// The variable with which a user moves the agent's folder.
    pub(crate) home: Home,
    /// The agent's folder, in the user's home folder and in a project.
    pub(crate) folder: &'static str,
    /// The file in that folder that lists hooks, or the plugin.
    pub(crate) file: &'static str,
    pub(crate) hooks: Hooks,
    /// The text that `install` prints last: the steps that are left to the user.
    pub(crate) advice: &'static str,
    /// The payload of a call that is about to run, with which `doctor` tries the hook.
    pub(crate) sample: &'static str,
    /// Reads a payload as an event.
    pub(crate) decode: Decode,
    /// Writes a reply to an event.
    pub(crate) encode: Encode,
    /// The turns that a hook can end. Where it cannot, a stop refuses the calls of the loop until the user
    /// speaks.
    pub(crate) ends: Ends,
    /// The agent's transcripts, or `None` if no transcript format covers them.
    pub(crate) transcripts: Option<Transcripts>,
    /// The agent's part of `unstuck doctor`.
    pub(crate) diagnose: fn(&Installation<'_>) -> Diagnosis,
    /// The agent's folder in a project, if it is another than in the user's home folder.
    pub(crate) project_folder: Option<&'static str>,
    /// The oldest version that understands these settings, or `None` if every version with hooks does, because it
    /// ignores an event that it does not know.
    pub(crate) needs: Option<Needs>,
    /// The text that the agent reads as no answer.
    pub(crate) silence: &'static str,
    /// The number of equal calls in a row after which the agent itself ends the run, if it does. The hook
    /// refuses the last of them if the guard has found a loop of that call before, so that the model reads
    /// a reason first.
    pub(crate) equal_calls_max: Option<u16>,
    pub(crate) steps: Steps,
    /// Returns whether the call with this id failed, according to the transcript. Only for agents whose events
    /// do not tell.
    pub(crate) has_failed: Option<fn(&Path, &str) -> bool>,
    /// The tools whose calls end without an event if they fail. The next event then tells that such a call
    /// has failed.
    pub(crate) silent: &'static [&'static str],
    /// Reads from the transcript which calls have ended without an event.
    pub(crate) unreported: Option<Unreported>,
    /// Returns whether a person is there to be asked about a call, which would else be denied. `None` if the agent's
    /// hooks cannot ask.
    pub(crate) is_attended: Option<fn() -> bool>,
    /// Reads which answer of the model a line of the transcript has the tokens of. `None` if tokens are not read there.
    pub(crate) answer: Option<fn(&str) -> Option<Answer>>,
    /// The plugin of this program that the agent may install from a marketplace, if there is one.
    pub(crate) published: Option<Published>,
}

/// The translation of an agent's hook payloads into the shared events, and of the shared replies.
pub(crate) type Decode = for<'a> fn(&'a [u8]) -> Result<Event<'a>, BadPayload>;
pub(crate) type Encode = fn(&Reply, &Event<'_>) -> Encoded;

/// The turns that the answer to some event ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// No turn.
    Nothing,
    /// The turns of the main agent, and not of its subagents.
    MainTurns,
    /// Every turn.
    Turns,
}

/// Returns the calls that have ended according to a transcript, in their order, and how. The end of those before one
/// for whose id the function returns `true` is known.
pub(crate) type Unreported =
    fn(&Path, &dyn Fn(&str) -> bool) -> Vec<(Call<'static>, Ending<'static>)>;

/// The way in which the hook learns which calls the model issued together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Steps {
    /// No event tells. Calls that come at once are taken for one step.
    Guessed,
    /// The transcript tells. The function returns whether the call with this id goes on with the step before
    /// it, or `None` if the transcript does not show that, in which case it is guessed.
    Transcribed(fn(&Path, &str) -> Option<bool>),
    /// An event follows when all calls of a step have ended. Until the first one comes, as for
    /// `Transcribed`.
    Reported(fn(&Path, &str) -> Option<bool>),
}

/// The variable with which a user moves an agent's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// The variable names the agent's folder itself.
    Folder(&'static str),
    /// The variable names the folder that contains the agent's folder.
    Parent(&'static str),
    /// The variable names the agent's folder itself, which otherwise has this path in the home folder.
    Within(&'static str, &'static str),
    /// The agent's folder has this name in `XDG_CONFIG_HOME`, or else in `.config` in the home folder.
    Config(&'static str),
    /// There is no such variable.
    Fixed,
}

/// The transcripts of an agent's sessions on disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transcripts {
    pub(crate) format: Format,
    /// The folder of the transcripts inside the agent's folder.
    pub(crate) folder: &'static str,
    /// A folder that must be on the path of each transcript below that, if there is one.
    pub(crate) within: Option<&'static str>,
    /// The file extensions of transcripts.
    pub(crate) extensions: &'static [&'static str],
}

impl Transcripts {
    /// Transcripts of this format in JSON Lines, anywhere in a folder.
    pub(super) const fn jsonl(format: Format, folder: &'static str) -> Self {
        Self { format, folder, within: None, extensions: &["jsonl"] }
    }

    /// Returns whether the file `path`, relative to the folder, is a transcript.
    pub(crate) fn include(&self, path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| self.extensions.contains(&extension))
            && self.within.is_none_or(|folder| path.iter().any(|part| part == folder))
    }
}

/// One settings file with installed hooks, as `doctor` hands it to the agent's module.
#[derive(Debug)]
pub(crate) struct Installation<'a> {
    pub(crate) host: &'static Host,
    pub(crate) scope: Scope,
    pub(crate) path: &'a Path,
    /// The content of the file.
    pub(crate) text: &'a str,
    /// The entries of this program in the file.
    pub(crate) entries: &'a [Entry],
}

impl Installation<'_> {
    /// Returns the advice on an agent that runs a project's hooks once it trusts the folder.
    pub(super) fn trust(&self) -> Vec<String> {
        let title = self.host.title;
        let advice = format!("{title} runs the hooks of a project once its folder is trusted.");
        Vec::from_iter((self.scope == Scope::Project).then_some(advice))
    }
}

/// The result of an agent's part of `doctor`.
#[derive(Debug, Default)]
pub(crate) struct Diagnosis {
    /// The reasons why the agent does not run the installed hooks, for example a switch in its settings.
    pub(crate) obstacles: Vec<String>,
    /// Hints for the user.
    pub(crate) advice: Vec<String>,
    /// The number of entries that the user has trusted, or `None` if the agent records no such thing.
    pub(crate) trusted: Option<usize>,
}

impl Diagnosis {
    /// The diagnosis of an agent that runs a project's hooks once it trusts the folder, and no hook if its settings
    /// have `true` at this JSON pointer. The user's settings hold in a project, too.
    pub(crate) fn of_switch(found: &Installation<'_>, pointer: &str) -> Self {
        let users = fs::read_to_string(found.host.settings(Scope::User)).unwrap_or_default();
        let is_off = [found.text, &users].iter().any(|text| switch(text, pointer) == Some(true));
        let name = pointer.trim_start_matches('/').replace('/', ".");
        let obstacle = is_off.then(|| format!("{name} is true, so no hook runs: remove it"));
        Self { obstacles: Vec::from_iter(obstacle), advice: found.trust(), trusted: None }
    }
}

/// The scope of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// Your own settings, for all projects
    User,
    /// The settings of the project that contains the current folder
    Project,
}

impl Scope {
    pub(crate) const ALL: [Self; 2] = [Self::User, Self::Project];

    /// Returns the name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// Returns the path with these parts, which are separated by slashes. Windows shows its own separator.
fn parts(path: &str) -> PathBuf {
    path.split('/').collect()
}

/// The advice on most agents.
pub(super) const WATCHED: &str = "Sessions that begin from now on are watched.";

impl Host {
    /// Describes an agent by what most have in common: a `settings.json` in a folder that no variable moves, and no
    /// diagnosis of its own. The folder, the events and a sample are still to be filled in.
    pub(super) const fn new(
        name: &'static str,
        title: &'static str,
        decode: Decode,
        encode: Encode,
    ) -> Self {
        Self {
            name,
            title,
            home: Home::Fixed,
            folder: "",
            file: "settings.json",
            hooks: Hooks::at(&[]),
            advice: WATCHED,
            sample: "",
            decode,
            encode,
            ends: Ends::Nothing,
            transcripts: None,
            diagnose: |_| Diagnosis::default(),
            project_folder: None,
            needs: None,
            silence: "",
            equal_calls_max: None,
            steps: Steps::Guessed,
            has_failed: None,
            silent: &[],
            unreported: None,
            is_attended: None,
            answer: None,
            published: None,
        }
    }

    /// Describes an agent whose payloads and answers have this dialect, like [`Host::new`].
    pub(super) const fn of<D: Dialect>(name: &'static str, title: &'static str) -> Self {
        Self::new(name, title, dialect::decode::<D>, dialect::encode::<D>)
    }

    /// Returns the path of the settings file in this scope.
    pub(crate) fn settings(&self, scope: Scope) -> PathBuf {
        let folder = match scope {
            Scope::User => self.user_folder(),
            Scope::Project => project().join(self.project_folder.unwrap_or(self.folder)),
        };
        folder.join(parts(self.file))
    }

    /// Returns the agent's folder for this user.
    pub(crate) fn user_folder(&self) -> PathBuf {
        let (base, folder) = self.user_place();
        if folder.is_empty() { base } else { base.join(parts(&folder)) }
    }

    /// Returns the folder of the user or the project, which exists without the agent.
    pub(crate) fn base(&self, scope: Scope) -> PathBuf {
        match scope {
            Scope::User => self.user_place().0,
            Scope::Project => project(),
        }
    }

    /// Returns where the agent's folder is: the variable that moves it, if there is one, with the path below the folder that
    /// the variable names; and the path below the home folder that applies otherwise.
    pub(crate) fn place(&self) -> (Option<(&'static str, &'static str)>, String) {
        match self.home {
            Home::Folder(variable) => (Some((variable, "")), self.folder.to_owned()),
            Home::Parent(variable) => (Some((variable, self.folder)), self.folder.to_owned()),
            Home::Within(variable, path) => (Some((variable, "")), path.to_owned()),
            Home::Config(name) => (Some(("XDG_CONFIG_HOME", name)), format!(".config/{name}")),
            Home::Fixed => (None, self.folder.to_owned()),
        }
    }

    /// Returns the folder that a variable names, or else the home folder, and the path of the agent's folder
    /// in it.
    fn user_place(&self) -> (PathBuf, String) {
        let (moved, usual) = self.place();
        let named = moved.and_then(|(variable, inside)| {
            let folder = env::var_os(variable).filter(|folder| !folder.is_empty())?;
            Some((folder.into(), inside.to_owned()))
        });
        // Without a home folder, its name in shells is shown.
        named.unwrap_or_else(|| (home().unwrap_or_else(|| "~".into()), usual))
    }

    /// Returns whether the agent loads a plugin.
    pub(crate) fn has_plugin(&self) -> bool {
        matches!(self.hooks.form, Form::Plugin(_))
    }

    /// Returns the content of the settings or plugin `text` after this program was installed.
    pub(crate) fn installed(&self, text: &str, line: &Line) -> Result<String, Mistake> {
        match self.hooks.form {
            Form::Plugin(plugin) => Ok(plugin.text(self.name, line)),
            _ => settings::installed(text, &self.hooks, line),
        }
    }

    /// Returns the entries of this program in the settings or plugin `text`.
    pub(crate) fn listed(&self, text: &str) -> Result<Vec<Entry>, Mistake> {
        match self.hooks.form {
            Form::Plugin(_) => Ok(Plugin::entry(text).into_iter().collect()),
            _ => settings::listed(text),
        }
    }

    /// Returns the settings file in this scope if it lists hooks of this program.
    pub(crate) fn installation(&self, scope: Scope) -> Option<PathBuf> {
        let path = self.settings(scope);
        let text = fs::read_to_string(&path).unwrap_or_default();
        self.listed(&text).is_ok_and(|entries| !entries.is_empty()).then_some(path)
    }

    /// Returns whether a person can be asked about a call now.
    pub(crate) fn can_ask(&self) -> bool {
        self.is_attended.is_some_and(|is_attended| is_attended())
    }

    /// Returns whether a hook can end the turn of the agent or subagent that caused this event.
    pub(crate) fn ends_turn_of(&self, event: &Event<'_>) -> bool {
        match self.ends {
            Ends::Nothing => false,
            Ends::MainTurns => event.subagent.is_none(),
            Ends::Turns => true,
        }
    }

    /// Returns whether `call`, which the event reports as answered, has failed according to the transcript.
    pub(crate) fn tells_failure(&self, event: &Event<'_>, call: &Call<'_>) -> bool {
        let place = event.transcript.as_deref().zip(call.id.as_deref());
        self.has_failed.zip(place).is_some_and(|(ask, (path, id))| ask(Path::new(path), id))
    }

    /// Returns the complaint if the agent in `PATH` is too old for the settings that `install` writes.
    pub(crate) fn too_old(&self) -> Option<String> {
        self.needs.as_ref()?.complaint(self.title)
    }

    /// The names of the events at which the hook is installed.
    pub(crate) fn event_names(&self) -> impl Iterator<Item = &'static str> {
        self.hooks.events.iter().map(|event| event.name)
    }
}

/// Returns the user's home folder: what `HOME`, or `USERPROFILE` on Windows, names, or else what the system has
/// for the user. Agents that `cron` or `systemd` start may have no such variable.
pub(crate) fn home() -> Option<PathBuf> {
    env::home_dir().filter(|home| home.is_absolute())
}

/// Returns whether two paths lead to the same file, possibly by a symbolic link.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

/// Returns the project's folder: the nearest one that contains `.git`, or else the current one.
fn project() -> PathBuf {
    let here = env::current_dir().unwrap_or_else(|_| ".".into());
    let root = here.ancestors().find(|folder| folder.join(".git").exists());
    root.map_or(here.clone(), Path::to_owned)
}
