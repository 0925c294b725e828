//! `unstuck install` and `unstuck uninstall`: puts this program into an agent's settings, or takes
//! it out, and changes nothing else in them.

mod difference;
#[cfg(test)]
mod laws;
mod program;

use std::fs;
use std::path::{Path, PathBuf};

use crate::agents::host::{Host, Scope};
use crate::agents::options::{Install, Uninstall};
use crate::agents::settings::{Copy, Line, Settings, installed, listed, uninstalled};
use crate::exit::Exit;
use crate::output::shown::{counted, masked, plain};
use crate::output::{Output, Reader, complain, show};
use crate::setup::Mistake;
use difference::shown;

pub(crate) fn install(install: &Install) -> Exit {
    finish(put_in(install))
}

pub(crate) fn uninstall(uninstall: &Uninstall) -> Exit {
    finish(take_out(uninstall))
}

/// Prints what was done.
fn finish(done: Result<String, Exit>) -> Exit {
    match done.map(|told| Output::stdout(Reader::Person).write(&told)) {
        Ok(Ok(())) => Exit::Clean,
        Ok(Err(closed)) => closed.exit(Exit::Clean),
        Err(exit) => exit,
    }
}

fn put_in(install: &Install) -> Result<String, Exit> {
    let host = install.agent.host();
    if let Some(why) = host.too_old() {
        return Err(fails(host.title, &why));
    }
    let program = program::path().map_err(|why| fails("the path of this program", &why))?;
    let line = Line::new(&program, host.name, install.options()?);
    let path = host.settings(install.scope);
    let settings = settings(&path)?;
    let old = settings.text.as_deref().unwrap_or_default();
    let before = listed(old).map_err(|mistake| mistaken(&path, old, &mistake))?;
    let new = installed(old, &host.hooks, &line);
    let new = new.map_err(|mistake| mistaken(&path, old, &mistake))?;

    let place = plain(&path.display().to_string());
    if new == old {
        return Ok(format!("{} runs unstuck already, by {place}: nothing to do.\n", host.title));
    }
    if install.change.dry_run {
        return Ok(would_change(&place, old, &new));
    }
    // Of what is brought up to date, nothing changes but what this program put in.
    let (done, backup) = if before.is_empty() {
        ("installed", settings.replace(&new))
    } else {
        ("brought up to date", settings.update(&new).map(|()| None))
    };
    let backup = backup.map_err(|why| fails(&path.display().to_string(), &why))?;
    let events = counted(host.hooks.events.len(), "event");
    // A password may stand in the address of a swarm.
    let runs = plain(&masked(&line.shell().unwrap_or_default()));
    let mut told = format!("{}: {done}, {events} in {place}\n  runs: {runs}\n", host.title);
    told += &kept(backup.as_deref());
    told += &filled(host.advice);
    if install.scope == Scope::Project {
        told += &filled(PROJECT);
    }
    if let Some(other) = elsewhere(host, &path) {
        told += &filled(&format!(
            "It is installed in {other}, too: events of that project may reach it twice."
        ));
    }
    Ok(told)
}

/// The settings in another scope than those in `path` that have this program, too.
fn elsewhere(host: &Host, path: &Path) -> Option<String> {
    let others = Scope::ALL.into_iter().map(|scope| host.settings(scope));
    let others = others.filter(|other| other != path);
    let is_installed = |other: &PathBuf| {
        let text = fs::read_to_string(other).unwrap_or_default();
        listed(&text).is_ok_and(|entries| !entries.is_empty())
    };
    let other = others.into_iter().find(is_installed)?;
    Some(plain(&other.display().to_string()))
}

/// What is to be known of a project's settings.
const PROJECT: &str = "This file belongs to the project, and the path in it to this machine: whoever \
                       else works with it needs unstuck there, too.";

fn take_out(uninstall: &Uninstall) -> Result<String, Exit> {
    let host = uninstall.agent.host();
    let path = host.settings(uninstall.scope);
    let settings = settings(&path)?;
    let old = settings.text.as_deref().unwrap_or_default();
    let entries = listed(old).map_err(|mistake| mistaken(&path, old, &mistake))?;
    let place = plain(&path.display().to_string());
    let Some(entry) = entries.first() else {
        return Ok(format!("{} does not run unstuck by {place}: nothing to do.\n", host.title));
    };

    let undone = undone(&settings, old, host, &entry.line);
    let undone = undone.map_err(|mistake| mistaken(&path, old, &mistake))?;
    if uninstall.change.dry_run {
        return Ok(would_change(&place, old, undone.text()));
    }
    let backup = match &undone {
        Undone::Absent => settings.remove(host.folder).map(|()| None),
        Undone::Restored(copy) => settings.update(&copy.text).map(|()| None),
        Undone::Taken(new) => settings.replace(new),
    };
    let backup = backup.and_then(|backup| settings.forget(undone.text()).map(|()| backup));
    let backup = backup.map_err(|why| fails(&path.display().to_string(), &why))?;
    let events = counted(entries.len(), "event");
    let rest = undone.rest();
    let told = format!("{}: uninstalled, {events} in {place}{rest}\n", host.title);
    Ok(told + &kept(backup.as_deref()))
}

/// What settings become by uninstalling.
enum Undone {
    /// There were none before, and there is nothing else in them.
    Absent,
    /// Nothing else was done to them since they were what the copy holds.
    Restored(Copy),
    /// Something else was: they are what is left of them.
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

    /// What is said of them.
    fn rest(&self) -> &'static str {
        match self {
            Self::Absent => ", which held nothing else and is gone",
            Self::Restored(_) => ", which is what it was",
            Self::Taken(_) => "",
        }
    }
}

/// What `text` is without `line`. Where it is what becomes of a copy, or of nothing, by installing
/// that line, nothing but that was done to it.
fn undone(settings: &Settings, text: &str, host: &Host, line: &Line) -> Result<Undone, Mistake> {
    let becomes = |old: &str| {
        listed(old).is_ok_and(|entries| entries.is_empty())
            && installed(old, &host.hooks, line).is_ok_and(|new| new == text)
    };
    if let Some(copy) = settings.copies().find(|copy| becomes(&copy.text)) {
        return Ok(Undone::Restored(copy));
    }
    if becomes("") {
        return Ok(Undone::Absent);
    }
    uninstalled(text).map(Undone::Taken)
}

fn settings(path: &Path) -> Result<Settings, Exit> {
    Settings::read(path).map_err(|why| fails(&path.display().to_string(), &why))
}

fn fails(what: &str, why: &str) -> Exit {
    complain(what, why);
    Exit::Setup
}

/// Says what keeps the settings `text` in the file `path` from being changed.
fn mistaken(path: &Path, text: &str, mistake: &Mistake) -> Exit {
    let (line, column) = mistake.place(text);
    complain(&format!("{}:{line}:{column}", path.display()), mistake.what());
    show(&mistake.quote(text));
    Exit::Setup
}

fn would_change(place: &str, old: &str, new: &str) -> String {
    format!("{place} would change like this (dry run: nothing was written):\n{}", shown(old, new))
}

/// Where a copy is of what was there before.
fn kept(backup: Option<&Path>) -> String {
    backup.map_or_else(String::new, |backup| {
        format!("  before: {}\n", plain(&backup.display().to_string()))
    })
}

fn filled(text: &str) -> String {
    textwrap::fill(text, crate::output::shown::COLUMNS) + "\n"
}
