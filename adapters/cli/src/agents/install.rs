//! `unstuck install` and `unstuck uninstall`: add this program to an agent's settings or remove it,
//! without any other change to them.

#[cfg(test)]
mod laws;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anstyle::{AnsiColor, Style};
use clap::Args;
use similar::{ChangeTag, TextDiff};
use unstuck_core::{Action, Policy};
use unstuck_report::mistake::Mistake;
use unstuck_report::shown::{counted, plain};
use unstuck_text::PRESETS;

use crate::agents::Agent;
use crate::agents::hooks::Form;
use crate::agents::host::{Host, Scope, is_same};
use crate::agents::notify::Notify;
use crate::agents::settings::{Copy, Line, Settings, uninstalled};
use crate::exit::Exit;
#[cfg(not(feature = "fleet"))]
use crate::lacking::Server;
use crate::lacking::marked;
use crate::output::{Reader, fail, filled, print};
use crate::policy::options::{preset as policy_named, preset_names};
#[cfg(feature = "fleet")]
use crate::swarm::options::Server;
use crate::{policy, setup};

/// The text below the options of `install` and `uninstall`.
fn places() -> String {
    let places = Agent::ALL.iter().map(|agent| place(agent.host()));
    format!(
        "Settings files:\n{}\n\nIn a project they are in the folder of that name beside .git, such as \
         .codex, .opencode or .pi, and those of GitHub Copilot CLI in .github. Before a file is changed, \
         it is copied to a file beside it whose name ends with .unstuck-backup, unless nothing changes \
         but what install put there.",
        places.collect::<Vec<_>>().join("\n")
    )
}

/// A line on the user's settings file of an agent.
fn place(host: &Host) -> String {
    let (Host { title, file, .. }, (moved, usual)) = (host, host.place());
    let moved = moved.map(|(variable, inside)| match inside {
        "" => format!(" or ${variable}/{file}"),
        inside => format!(" or ${variable}/{inside}/{file}"),
    });
    format!("  {title:<18} ~/{usual}/{file}{}", moved.unwrap_or_default())
}

const MOVED: &str = "The settings name this program by its absolute path. If you move it, run install \
                     again.";

const SWARM: &str = "The swarm that the agent belongs to, as redis://host:port?swarm=name. The agent needs the \
                     swarm's secret in its environment: see unstuck swarm --help";

#[derive(Args)]
#[command(after_help = format!("{}\n\n{MOVED}", places()))]
pub(crate) struct Install {
    /// The agent to watch
    #[arg(value_enum, value_name = "AGENT")]
    agent: Agent,
    /// The settings to change
    #[arg(long, value_enum, default_value_t = Scope::User)]
    scope: Scope,
    /// Only record findings, and never answer the agent
    #[arg(long)]
    observe: bool,
    /// Ask the person at the agent before a loop's first refusal (Claude Code)
    #[arg(long, conflicts_with = "observe")]
    ask: bool,
    /// Save the work tree of git at the first prompt of a session, and go back to it where the policy starts over
    #[arg(long, conflicts_with = "observe")]
    start_over: bool,
    #[command(flatten)]
    notify: Notify,
    /// The policy, by name
    #[arg(long, value_name = "NAME", value_parser = preset_names())]
    preset: Option<String>,
    /// The policy, from a file like the output of presets --format toml
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    config: Option<PathBuf>,
    #[arg(long, value_name = "URL", value_parser = Server, help = marked(SWARM))]
    swarm: Option<String>,
    #[command(flatten)]
    change: Change,
}

impl Install {
    /// Returns the options for `unstuck hook` in the agent's settings.
    fn options(&self) -> Result<Vec<String>, Exit> {
        let mut options = Vec::new();
        if self.observe {
            options.push("--observe".to_owned());
        }
        if self.ask {
            let host = self.agent.host();
            if host.is_attended.is_none() {
                let why = "no answer of its hooks asks a person: install without --ask";
                return Err(fail(Exit::Usage, host.title, why));
            }
            options.push("--ask".to_owned());
        }
        self.notify.check()?;
        options.extend(self.notify.words());
        let policy = match (&self.config, &self.preset) {
            (Some(path), _) => policy::load(path)?,
            (None, name) => name.as_deref().map_or(&PRESETS[0], policy_named),
        };
        if self.start_over {
            if !starts_over(policy.policy) {
                let why = "this policy never starts over: add --preset start_over, or a policy file \
                           with a rung of that action";
                return Err(fail(Exit::Usage, "--start-over", why));
            }
            options.push("--start-over".to_owned());
        }
        if let Some(preset) = &self.preset {
            options.extend(["--preset".to_owned(), preset.clone()]);
        }
        if let Some(path) = &self.config {
            options.extend(["--config".to_owned(), absolute(path)?]);
        }
        if let Some(url) = &self.swarm {
            options.extend(["--swarm".to_owned(), url.clone()]);
        }
        Ok(options)
    }
}

/// Returns whether a rule of the policy has a rung to start over.
fn starts_over(policy: &Policy<'_>) -> bool {
    let ladders = policy.rules().iter().map(|rule| rule.ladder);
    let mut rungs = ladders.flat_map(|ladder| ladder.rungs);
    rungs.any(|rung| rung.action == Action::StartOver)
}

#[derive(Args)]
#[command(after_help = places())]
pub(crate) struct Uninstall {
    /// The agent to stop watching
    #[arg(value_enum, value_name = "AGENT")]
    agent: Agent,
    /// The settings to change
    #[arg(long, value_enum, default_value_t = Scope::User)]
    scope: Scope,
    #[command(flatten)]
    change: Change,
}

#[derive(Args)]
struct Change {
    /// Print the changes without making them
    #[arg(long)]
    dry_run: bool,
}

/// Returns the absolute path of a file, which is valid in any folder.
fn absolute(path: &Path) -> Result<String, Exit> {
    let absolute = std::path::absolute(path).map_err(|error| error.to_string());
    let text = absolute
        .and_then(|path| path.into_os_string().into_string().map_err(|_| "not UTF-8".to_owned()));
    text.map_err(|why| fail(Exit::Setup, &path.display().to_string(), &why))
}

pub(crate) fn install(install: &Install) -> Exit {
    finish(put_in(install))
}

pub(crate) fn uninstall(uninstall: &Uninstall) -> Exit {
    finish(take_out(uninstall))
}

/// Prints the report on a finished change.
fn finish(done: Result<String, Exit>) -> Exit {
    done.map_or_else(|exit| exit, |report| print(Reader::Person, &report, Exit::Clean))
}

fn put_in(install: &Install) -> Result<String, Exit> {
    let host = install.agent.host();
    if let Some(why) = host.too_old() {
        return Err(fail(Exit::Setup, host.title, &why));
    }
    if cfg!(windows) && matches!(host.hooks.form, Form::LoginShell | Form::Bash) {
        return Err(fail(Exit::Setup, host.title, NOT_ON_WINDOWS));
    }
    let program = program().map_err(|why| fail(Exit::Setup, "the path of this program", &why))?;
    let line = Line::new(&program, host.name, install.options()?);
    let path = host.settings(install.scope);
    let settings = settings(&path)?;
    let old = settings.text.as_deref().unwrap_or_default();
    let before = host.listed(old).map_err(|mistake| mistaken(&path, old, &mistake))?;
    let new = host.installed(old, &line);
    let new = new.map_err(|mistake| mistaken(&path, old, &mistake))?;

    let place = plain(&path.display().to_string());
    if new == old {
        return Ok(format!(
            "{} already runs unstuck through {place}: nothing to do.\n",
            host.title
        ));
    }
    if install.change.dry_run {
        return Ok(would_change(&place, old, &new));
    }
    // An update only changes what this program wrote, so it needs no backup.
    let (done, backup) = if before.is_empty() {
        ("installed", settings.replace(&new))
    } else {
        ("brought up to date", settings.update(&new).map(|()| None))
    };
    let backup = backup.map_err(|why| fail(Exit::Setup, &path.display().to_string(), &why))?;
    let events = events(host, host.hooks.events.len());
    // The address of a swarm may contain a password.
    let runs = plain(&line.shell().unwrap_or_default());
    let mut report = format!("{}: {done}, {events} in {place}\n  runs: {runs}\n", host.title);
    report += &backup_line(backup.as_deref());
    report += &filled(host.advice, "");
    report += SHOWN;
    if install.scope == Scope::Project {
        report += &filled(PROJECT, "");
    }
    #[cfg(feature = "fleet")]
    if install.swarm.is_some() && env::var_os(crate::swarm::SECRET).is_none() {
        report += &filled(NO_SECRET, "");
    }
    if let Some(other) = elsewhere(host, &path) {
        report += &filled(
            &format!("It is also installed in {other}: events of that project may reach it twice."),
            "",
        );
    }
    if let Some(plugin) = Scope::ALL.into_iter().find_map(|scope| host.enabled_plugin(scope)) {
        let plugin = plain(&plugin.display().to_string());
        report += &filled(
            &format!(
                "Its plugin is enabled as well, in {plugin}, so its events are judged twice: see unstuck doctor."
            ),
            "",
        );
    }
    Ok(report)
}

/// Returns the settings of another scope than `path` if this program is installed there, too.
fn elsewhere(host: &Host, path: &Path) -> Option<String> {
    let mut others = Scope::ALL.into_iter().filter_map(|scope| host.installation(scope));
    // A link may make them the same file.
    let other = others.find(|other| !is_same(other, path))?;
    Some(plain(&other.display().to_string()))
}

/// The line on the commands that show findings.
const SHOWN: &str = "To see what it finds: unstuck status (now), unstuck report (the last days)\n";

/// The warning about a swarm without a secret.
#[cfg(feature = "fleet")]
const NO_SECRET: &str = "UNSTUCK_SWARM_SECRET is not set here. Without it the agent is watched alone, not with its \
                         swarm: set it where the agent starts, to the same secret for all of them, with export \
                         UNSTUCK_SWARM_SECRET=… (a new one: openssl rand -hex 16)";

/// The error on Windows for an agent that passes a hook to a shell: `cmd` and `PowerShell` read other lines than `bash`,
/// and Gemini CLI takes a line that fails for a denial.
const NOT_ON_WINDOWS: &str = "on Windows, it runs hooks in a shell for which unstuck has no line yet. Run both in WSL, \
                              or use Claude Code, opencode, Kilo Code or pi, which need no shell";

/// The warning about a project's settings.
const PROJECT: &str = "This file belongs to the project, but the path in it is a path on this machine. \
                       Other people who use the project need unstuck at the same path.";

fn take_out(uninstall: &Uninstall) -> Result<String, Exit> {
    let host = uninstall.agent.host();
    let path = host.settings(uninstall.scope);
    let settings = settings(&path)?;
    let old = settings.text.as_deref().unwrap_or_default();
    let entries = host.listed(old).map_err(|mistake| mistaken(&path, old, &mistake))?;
    let place = plain(&path.display().to_string());
    let Some(entry) = entries.first() else {
        return Ok(format!(
            "{} does not run unstuck through {place}: nothing to do.\n",
            host.title
        ));
    };

    let undone = undone(&settings, old, host, &entry.line);
    let undone = undone.map_err(|mistake| mistaken(&path, old, &mistake))?;
    if uninstall.change.dry_run {
        return Ok(would_change(&place, old, undone.text()));
    }
    let backup = match &undone {
        Undone::Absent => settings.remove(&host.base(uninstall.scope)).map(|()| None),
        Undone::Restored(copy) => settings.update(&copy.text).map(|()| None),
        Undone::Taken(new) => settings.replace(new),
    };
    let backup = backup.and_then(|backup| settings.forget(undone.text()).map(|()| backup));
    let backup = backup.map_err(|why| fail(Exit::Setup, &path.display().to_string(), &why))?;
    let events = events(host, entries.len());
    let state = undone.state();
    let report = format!("{}: uninstalled, {events} in {place}{state}\n", host.title);
    Ok(report + &backup_line(backup.as_deref()))
}

/// The settings after uninstalling.
enum Undone {
    /// No file, because `install` created it and it holds nothing else.
    Absent,
    /// The content of the backup, because the file has not changed otherwise since then.
    Restored(Copy),
    /// The present content without the entries of this program.
    Taken(String),
}

impl Undone {
    fn text(&self) -> &str {
        match self {
            Self::Absent => "",
            Self::Restored(copy) => &copy.text,
            Self::Taken(text) => text,
        }
    }

    /// Returns the end of the sentence that reports on them.
    fn state(&self) -> &'static str {
        match self {
            Self::Absent => ", which held nothing else and was removed",
            Self::Restored(_) => ", which is as before the installation",
            Self::Taken(_) => "",
        }
    }
}

/// Removes `line` from `text`. If installing the line into a backup, or into no file, gives exactly
/// `text`, that earlier state is restored.
fn undone(settings: &Settings, text: &str, host: &Host, line: &Line) -> Result<Undone, Mistake> {
    let becomes = |old: &str| {
        host.listed(old).is_ok_and(|entries| entries.is_empty())
            && host.installed(old, line).is_ok_and(|new| new == text)
    };
    if let Some(copy) = settings.copies().find(|copy| becomes(&copy.text)) {
        return Ok(Undone::Restored(copy));
    }
    if host.has_plugin() || becomes("") {
        return Ok(Undone::Absent);
    }
    uninstalled(text).map(Undone::Taken)
}

/// Returns the words on the events at which an agent runs this program.
fn events(host: &Host, count: usize) -> String {
    if host.has_plugin() { "every event".to_owned() } else { counted(count, "event") }
}

fn settings(path: &Path) -> Result<Settings, Exit> {
    Settings::read(path).map_err(|why| fail(Exit::Setup, &path.display().to_string(), &why))
}

/// Prints a mistake in the settings `text` of the file `path`.
fn mistaken(path: &Path, text: &str, mistake: &Mistake) -> Exit {
    setup::mistaken(&path.display().to_string(), text, mistake)
}

fn would_change(place: &str, old: &str, new: &str) -> String {
    format!("{place} would change like this (dry run: nothing was written):\n{}", shown(old, new))
}

/// The line of a report that names the backup.
fn backup_line(backup: Option<&Path>) -> String {
    backup.map_or_else(String::new, |backup| {
        format!("  backup: {}\n", plain(&backup.display().to_string()))
    })
}

const GONE: Style = AnsiColor::Red.on_default();
const NEW: Style = AnsiColor::Green.on_default();
const PLACE: Style = AnsiColor::Cyan.on_default();

/// The number of unchanged lines around each change.
const AROUND: usize = 3;

/// Returns the lines in which `new` differs from `old`, with some lines around them.
fn shown(old: &str, new: &str) -> String {
    let difference = TextDiff::from_lines(old, new);
    let mut text = String::new();
    for hunk in difference.unified_diff().context_radius(AROUND).iter_hunks() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{PLACE}{}{PLACE:#}", hunk.header().to_string().trim_end());
        for change in hunk.iter_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ('-', GONE),
                ChangeTag::Insert => ('+', NEW),
                ChangeTag::Equal => (' ', Style::new()),
            };
            let line = plain(change.value().trim_end_matches(['\n', '\r']));
            let _ = writeln!(text, "{style}{sign}{line}{style:#}");
        }
    }
    text
}

/// Returns the path with which agents start this program.
///
/// This is the first `unstuck` in `PATH` that leads to this program, because an upgrade keeps that path
/// even if it moves the file behind it. Without such an entry it is the file itself.
fn program() -> Result<String, String> {
    let this = env::current_exe().map_err(|error| format!("cannot be found: {error}"))?;
    let path = env::var_os("PATH").and_then(|path| in_path(&this, &path)).unwrap_or(this);
    path.into_os_string().into_string().map_err(|path| {
        format!("{} is not UTF-8, as settings need: install it elsewhere", path.to_string_lossy())
    })
}

/// Returns the first entry of `path` that leads to `this`.
fn in_path(this: &Path, path: &OsStr) -> Option<PathBuf> {
    let real = fs::canonicalize(this).ok()?;
    let name = format!("unstuck{}", env::consts::EXE_SUFFIX);
    let found = env::split_paths(path).map(|folder| folder.join(&name));
    found
        .filter(|found| found.is_absolute())
        .find(|found| fs::canonicalize(found).is_ok_and(|found| found == real))
}
