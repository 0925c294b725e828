//! `unstuck install` and `unstuck uninstall`: add this program to an agent's settings or remove it,
//! without any other change to them.

#[cfg(test)]
mod laws;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};
use unstuck_report::mistake::Mistake;
use unstuck_report::shown::{counted, plain};

use crate::agents::host::{Host, Scope, is_same};
use crate::agents::options::{Install, Uninstall};
use crate::agents::settings::{Copy, Line, Settings, uninstalled};
use crate::exit::Exit;
use crate::output::{Reader, fail, filled, print};
use crate::setup;

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
    if cfg!(windows) && host.hooks.form.is_for_a_shell() {
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
    if install.has_swarm() && std::env::var_os(crate::swarm::SECRET).is_none() {
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
