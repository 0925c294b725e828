//! `unstuck status`: the sessions that hooks watch, and what was found in them.
//!
//! What is kept of a session has no arguments and no results, so none can be shown.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::args::{SessionFormat, Status};
use crate::exit::Exit;
use crate::output::{Output, Reader};
use crate::shown::{COLUMNS, counted, plain, shortened, tool_name};
use crate::state::{Folder, Noted, Session};

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const FOUND: Style = AnsiColor::Red.on_default().bold();

/// What is said where nothing is watched.
const NONE: &str = "No session is watched. unstuck install has an agent watched, and unstuck doctor \
                    tells whether that works.";

/// How long a session counts as live after its last event, in milliseconds.
const LIVE: u64 = 24 * 60 * 60 * 1000;

/// How many characters of a session's id are shown: most are random.
const ID_SHOWN: usize = 8;

/// The version of the JSON's shape. A field that is added does not change it.
const SCHEMA: u32 = 1;

pub(crate) fn run(status: &Status) -> Exit {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let mut sessions: Vec<_> = Folder::find().iter().flat_map(Folder::sessions).collect();
    let all = sessions.len();
    if !status.all {
        sessions.retain(|session| now.saturating_sub(session.last_seen) <= LIVE);
    }
    // The latest first; of one moment, in an order that is always the same.
    sessions.sort_by(|a, b| {
        let order = |one: &Session| (u64::MAX - one.last_seen, one.session.clone());
        order(a).cmp(&order(b)).then_with(|| a.worker.cmp(&b.worker))
    });
    let (reader, text) = match status.format {
        SessionFormat::Human => (Reader::Person, human(&sessions, all - sessions.len(), now)),
        SessionFormat::Jsonl => (Reader::Program, sessions.iter().map(line).collect()),
    };
    match Output::stdout(reader).write(&text) {
        Ok(()) => Exit::Clean,
        Err(closed) => closed.exit(Exit::Clean),
    }
}

/// The sessions for people, where so many more are left out as old.
fn human(sessions: &[Session], old: usize, now: u64) -> String {
    let mut text = String::new();
    for session in sessions {
        text += &described(session, now);
    }
    if sessions.is_empty() {
        let none = if old > 0 { "No session is live." } else { NONE };
        let _ = writeln!(text, "{}", textwrap::fill(none, COLUMNS));
    }
    if old > 0 {
        let _ = writeln!(text, "{FAINT}and {old} from before: --all{FAINT:#}");
    }
    text
}

fn described(session: &Session, now: u64) -> String {
    let id: String = plain(&session.session).chars().take(ID_SHOWN).collect();
    let worker = match &session.worker[..] {
        "main" => String::new(),
        worker => format!(", worker {}", shortened(&plain(worker), 20)),
    };
    let calls = counted(usize::try_from(session.calls).unwrap_or(usize::MAX), "call");
    let seen = ago(now, session.last_seen);
    let agent = session.agent.name();
    let mut text = format!("{STRONG}{agent}  {id}{STRONG:#}{worker}  {calls}, seen {seen}");
    if let Some(cwd) = &session.cwd {
        let _ = write!(text, "  {FAINT}{}{FAINT:#}", plain(cwd));
    }
    text.push('\n');
    for noted in &session.findings {
        text += &found(noted, now);
    }
    text
}

/// A finding, in one line.
fn found(noted: &Noted, now: u64) -> String {
    let Noted { rule, kind, action, tool, laps, at } = noted;
    let when = ago(now, *at);
    let tool = if tool.is_empty() { String::new() } else { format!(", `{}`", tool_name(tool, 24)) };
    let rest = format!("{rule}: {kind} of {laps}{tool}, {when}");
    let rest = shortened(&plain(&rest), COLUMNS - 11);
    format!("  {FOUND}{action:<7}{FOUND:#}  {rest}\n")
}

/// How long before `now` something was, both in milliseconds since 1970.
fn ago(now: u64, then: u64) -> String {
    match now.saturating_sub(then) / 1000 {
        0..10 => "just now".to_owned(),
        s @ 10..60 => format!("{s} s ago"),
        s @ 60..3600 => format!("{} min ago", s / 60),
        s @ 3600..86_400 => format!("{} h ago", s / 3600),
        s => format!("{} ago", counted(usize::try_from(s / 86_400).unwrap_or(usize::MAX), "day")),
    }
}

#[derive(Serialize)]
struct Line<'a> {
    schema: u32,
    agent: &'static str,
    session: &'a str,
    worker: &'a str,
    cwd: Option<&'a str>,
    calls: u64,
    events: u64,
    /// In milliseconds since 1970.
    begun: u64,
    last_seen: u64,
    findings: Vec<FindingLine<'a>>,
}

#[derive(Serialize)]
struct FindingLine<'a> {
    rule: &'a str,
    kind: &'a str,
    action: &'a str,
    tool: &'a str,
    laps: u64,
    at: u64,
}

/// The session for programs.
fn line(session: &Session) -> String {
    let findings = session.findings.iter();
    let line = Line {
        schema: SCHEMA,
        agent: session.agent.name(),
        session: &session.session,
        worker: &session.worker,
        cwd: session.cwd.as_deref(),
        calls: session.calls,
        events: session.events,
        begun: session.begun,
        last_seen: session.last_seen,
        findings: findings
            .map(|Noted { rule, kind, action, tool, laps, at }| FindingLine {
                rule,
                kind,
                action,
                tool,
                laps: *laps,
                at: *at,
            })
            .collect(),
    };
    // Every part of it has a JSON form.
    serde_json::to_string(&line).map_or_else(|_| String::new(), |line| line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Agent;

    const NOW: u64 = 1_000_000_000_000;

    fn session(worker: &str, before: u64) -> Session {
        Session {
            agent: Agent::Codex,
            session: "01998f2c-aaaa\u{1b}[31m".to_owned(),
            worker: worker.to_owned(),
            cwd: Some("/src/\u{1b}[2J".to_owned()),
            events: 2,
            calls: 1,
            begun: NOW - before,
            last_seen: NOW - before,
            findings: Vec::new(),
        }
    }

    #[test]
    fn how_long_ago_is_told_in_the_unit_that_fits() {
        for (seconds, told) in [
            (0, "just now"),
            (9, "just now"),
            (10, "10 s ago"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (3599, "59 min ago"),
            (3600, "1 h ago"),
            (86_399, "23 h ago"),
            (86_400, "1 day ago"),
            (200_000, "2 days ago"),
        ] {
            assert_eq!(ago(NOW, NOW - seconds * 1000), told);
        }
        // A clock that was set back.
        assert_eq!(ago(NOW, NOW + 1), "just now");
    }

    #[test]
    fn what_an_agent_calls_things_cannot_reach_the_terminal() {
        let mut one = session("a\nb", 61_000);
        let noted = |tool: &str| Noted {
            rule: "repeat".to_owned(),
            kind: "streak".to_owned(),
            action: "deny".to_owned(),
            tool: tool.to_owned(),
            laps: 5,
            at: NOW - 3_700_000,
        };
        one.findings = vec![noted("mcp__\u{1b}]0;x"), noted(&"long".repeat(99)), noted("")];
        let text = anstream::adapter::strip_str(&human(&[one], 2, NOW)).to_string();
        let expected = "codex  01998f2c, worker a b  1 call, seen 1 min ago  /src/\u{fffd}[2J\n  \
                        deny     repeat: streak of 5, `mcp__\u{fffd}]0;x`, 1 h ago\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with("and 2 from before: --all\n"), "{text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
        assert_eq!(text.lines().count(), 5, "{text}");
    }

    #[test]
    fn all_sessions_that_are_left_out_are_said_to_be() {
        let text = human(&[], 1, NOW);
        assert!(text.starts_with("No session is live.\n"), "{text}");
    }
}
