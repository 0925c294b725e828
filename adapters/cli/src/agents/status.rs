//! `unstuck status`: the sessions that hooks watch, and what was found in them.
//!
//! What is kept of a session has no arguments and no results, so none can be shown.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use textwrap::Options;
use unstuck_core::LoopId;

use crate::agents::options::{SessionFormat, Status};
use crate::agents::state::{Folder, Noted, Session};
use crate::exit::Exit;
use crate::output::json::json_line;
use crate::output::shown::{COLUMNS, ago, counted, plain, shortened};
use crate::output::{Output, Reader};

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const FOUND: Style = AnsiColor::Red.on_default().bold();

/// What is said where nothing is watched.
const NONE: &str = "No session is watched. unstuck install has an agent watched, and unstuck doctor \
                    tells whether that works.";

/// How long a session counts as live after its last event, in milliseconds.
const LIVE: u64 = 24 * 60 * 60 * 1000;

/// How many characters are shown of a session's id and of a loop's: most are random.
const ID_SHOWN: usize = 8;

/// What stands before what is said of a loop beyond the first line.
const INDENT: &str = "            ";

/// A space at which no line ends.
const GLUE: &str = "\u{a0}";

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
    for findings in loops(&session.findings) {
        text += &found(&findings, now);
    }
    text
}

/// The findings of each loop, in the order in which the loops came.
fn loops(findings: &[Noted]) -> Vec<Vec<&Noted>> {
    let mut loops: Vec<Vec<&Noted>> = Vec::new();
    for noted in findings {
        match loops.iter_mut().find(|one| one[0].loop_id == noted.loop_id) {
            Some(one) => one.push(noted),
            None => loops.push(vec![noted]),
        }
    }
    loops
}

/// What is said of the findings of one loop: what recurs, what was done, and when for the last time.
fn found(findings: &[&Noted], now: u64) -> String {
    let Some(last) = findings.last() else { return String::new() };
    let id: String = LoopId::from_bits(last.loop_id).to_string().chars().take(ID_SHOWN).collect();
    let (what, done, when) = (plain(&last.what), plain(&done(findings)), ago(now, last.at));
    let said = format!("{what}: {done}; {}", when.replace(' ', GLUE));
    let options = Options::new(COLUMNS).initial_indent(INDENT).subsequent_indent(INDENT);
    let said = textwrap::fill(&said, options);
    format!("  {FOUND}{id}{FOUND:#}  {}\n", said.trim_start().replace(GLUE, " "))
}

/// What was done about a loop, as in "nudge, warn, 4 × block, stop", where no line ends within a
/// figure.
fn done(findings: &[&Noted]) -> String {
    let same = findings.chunk_by(|one, next| one.action == next.action);
    let done = same.map(|same| match same {
        [one] => one.action.clone(),
        many => format!("{}{GLUE}×{GLUE}{}", many.len(), many[0].action),
    });
    done.collect::<Vec<_>>().join(", ")
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
    /// What recurs, in words.
    what: &'a str,
    period: u64,
    laps: u64,
    r#loop: String,
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
            .map(|noted| FindingLine {
                rule: &noted.rule,
                kind: &noted.kind,
                action: &noted.action,
                tool: &noted.tool,
                what: &noted.what,
                period: noted.period,
                laps: noted.laps,
                r#loop: LoopId::from_bits(noted.loop_id).to_string(),
                at: noted.at,
            })
            .collect(),
    };
    json_line(&line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Agent;

    const NOW: u64 = 1_000_000_000_000;

    fn session(worker: &str, before: u64) -> Session {
        Session {
            agent: Agent::ALL[1],
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
    fn what_an_agent_calls_things_cannot_reach_the_terminal() {
        let mut one = session("a\nb", 61_000);
        let noted = |action: &str, loop_id: u64, what: &str| Noted {
            rule: "repeat".to_owned(),
            kind: "streak".to_owned(),
            action: action.to_owned(),
            tool: "a tool".to_owned(),
            what: what.to_owned(),
            period: 1,
            laps: 5,
            loop_id,
            at: NOW - 3_700_000,
        };
        let (one_loop, other) = (0x00c0_ffee_0000_0001, 0xabcd_ef01_0000_0002);
        let odd = "`mcp__\u{1b}]0;x` 5 times in a row";
        one.findings = vec![
            noted("nudge", one_loop, "`x` 3 times in a row"),
            noted("nudge", other, &"long ".repeat(20)),
            noted("block", one_loop, odd),
            noted("block", one_loop, odd),
        ];
        let text = anstream::adapter::strip_str(&human(&[one], 2, NOW)).to_string();
        let expected = "codex  01998f2c, worker a b  1 call, seen 1 min ago  /src/\u{fffd}[2J\n\
                        \u{20} 00c0ffee  `mcp__\u{fffd}]0;x` 5 times in a row: nudge, 2 × block; 1 h ago\n\
                        \u{20} abcdef01  long ";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with("and 2 from before: --all\n"), "{text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert_eq!(text.lines().count(), 5, "{text}");
    }

    #[test]
    fn all_sessions_that_are_left_out_are_said_to_be() {
        let text = human(&[], 1, NOW);
        assert!(text.starts_with("No session is live.\n"), "{text}");
    }
}
