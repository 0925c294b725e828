//! The report of `doctor` for people.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unstuck_report::shown::{counted, plain};

use super::Report;
use super::examination::{CommandReport, Examination};
use super::state::State;
use crate::agents::state::LOG;
use crate::output::filled;
use crate::time::ago;

const BAD: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// The indentation of lines below a settings file.
const INDENT: &str = "           ";

/// The line on hooks that cannot store their state.
const LOST: &str = "its state has no usable folder: see State below";

/// Returns the report. With `is_brief`, the agents without settings are in one paragraph.
pub(super) fn human(report: &Report, is_brief: bool) -> String {
    let mut text = String::new();
    let mut absent = Vec::new();
    for places in report.places.chunk_by(|one, next| one.agent == next.agent) {
        let name = places[0].name;
        if is_brief && places.iter().all(Examination::is_absent) {
            absent.push(name);
            continue;
        }
        let _ = writeln!(text, "{STRONG}{name}{STRONG:#}");
        text.extend(places.iter().map(|examined| place(examined, report)));
    }
    if !absent.is_empty() {
        let names = filled(&absent.join(", "), "  ");
        let _ = write!(text, "{STRONG}No settings{STRONG:#}\n{names}");
    }
    text += &report.state.as_ref().map_or_else(
        || format!("{STRONG}State{STRONG:#}\n  there is no folder for it: set HOME\n"),
        state,
    );
    if report.off {
        text +=
            "\nUNSTUCK=off is set here: hooks that inherit it do nothing and let every call run.\n";
    }
    text
}

/// The lines on one settings file. Writing to a string cannot fail.
fn place(examined: &Examination, report: &Report) -> String {
    let is_lost = examined.is_installed() && !report.can_store();
    let (style, word) = match examined {
        one if one.is_only_untrusted() && !is_lost => (BAD, "not trusted"),
        one if !one.is_well() || is_lost => (BAD, "does not work"),
        one if one.commands.iter().any(|tried| tried.works.is_none()) => (FAINT, "not tried"),
        one if one.is_installed() && report.off => (BAD, "turned off"),
        one if one.is_installed() => (GOOD, "works"),
        one if one.exists => (FAINT, "not installed"),
        _ => (FAINT, "no settings"),
    };
    let settings = plain(&examined.settings);
    let mut text = String::new();
    let scope = examined.scope;
    let _ = writeln!(text, "  {scope:<7}  {style}{word:<13}{style:#}  {settings}");
    for what in examined.unreadable.iter().chain(&examined.obstacles) {
        text += &below(what);
    }
    if is_lost {
        text += &below(LOST);
    }
    for tried in &examined.commands {
        text += &command(tried);
    }
    if examined.has_hooks() && !examined.missing.is_empty() {
        let (missing, agent) = (examined.missing.join(", "), examined.agent);
        text += &below(&format!(
            "not installed at {missing}: run unstuck install {agent} --scope {scope} to add them"
        ));
    }
    for advice in &examined.advice {
        text += &below(advice);
    }
    text
}

fn command(tried: &CommandReport) -> String {
    let mut text = format!("{INDENT}{}\n", plain(&tried.command));
    if let Some(median) = tried.median_ms {
        let shell = tried
            .shell_ms
            .map_or_else(String::new, |shell| format!(", its shell alone {}", milliseconds(shell)));
        let took = milliseconds(median);
        text += &below(&format!("exit 0, silent, {took} (median of 5){shell}"));
    }
    if let Some(fault) = &tried.fault {
        text += &below(fault);
    }
    text
}

fn milliseconds(time: f64) -> String {
    if time < 10.0 { format!("{time:.1} ms") } else { format!("{time:.0} ms") }
}

fn state(state: &State) -> String {
    let State { folder, bytes, sessions, log, now, .. } = state;
    let mut text = format!("{STRONG}State{STRONG:#}\n  {}\n", plain(folder));
    for fault in &state.faults {
        let fault = filled(&plain(fault), "  ");
        let _ = writeln!(text, "{BAD}{}{BAD:#}", fault.trim_end());
    }
    if !state.exists && !state.faults.is_empty() {
        return text;
    }
    if !state.exists {
        text += "  does not exist yet: the first event of an agent creates it\n";
        return text;
    }
    let mode = state.mode.as_ref().map_or_else(String::new, |mode| format!("mode {mode}, "));
    let kept = counted(*sessions, "session");
    let _ = writeln!(text, "  {mode}{} KiB, {kept} kept", bytes.div_ceil(1024));
    for line in log {
        let (when, what) = (ago(*now, line.at), plain(&line.what));
        text += &filled(&format!("{LOG}, {when}: {what}"), "  ");
    }
    text
}

fn below(what: &str) -> String {
    filled(&plain(what), INDENT)
}
