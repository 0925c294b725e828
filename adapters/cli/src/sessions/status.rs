//! `unstuck status`: the sessions that hooks watch, and their findings.
//!
//! The state of a session holds no arguments and no results, so none are shown.
//!
//! An agent runs `unstuck status --line` after each answer of the model and shows whatever is printed. So that prints one
//! line or none, and never fails.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;
use unstuck_report::json::Object;
use unstuck_report::shown::{counted, plain, shortened};

use crate::agents::Agent;
use crate::agents::hook::input;
use crate::agents::state::{Entry, FindingRecord, Folder, Key, Said, Session, What};
use crate::exit::Exit;
use crate::output::{Output, Reader, filled};
use crate::sessions::{FAINT, INDENT, STRONG, Status, folder, loop_lines};
use crate::time::{ago, now};

/// The message if there is no session.
const NONE: &str = "No session is watched. Run unstuck install to watch an agent, and unstuck doctor to \
                    check the installation.";

/// The time for which a session is listed after its last event, in milliseconds.
const LIVE: u64 = 24 * 60 * 60 * 1000;

/// The number of characters shown of a session's id, which is mostly random.
const ID_SHOWN: usize = 8;

/// A space at which no line is wrapped.
const GLUE: &str = "\u{a0}";

/// The version of the JSON lines. An added field does not change it.
const SCHEMA: u32 = 1;

pub(crate) fn run(status: &Status) -> Exit {
    if status.line {
        return status_line();
    }
    let folder = match folder() {
        Ok(folder) => folder,
        Err(exit) => return exit,
    };
    let now = now();
    let mut sessions = folder.map(|folder| listed(&folder)).unwrap_or_default();
    let all = sessions.len();
    if !status.all {
        sessions.retain(|Listed { session, .. }| now.saturating_sub(session.last_seen) <= LIVE);
    }
    // The latest come first. Ties are ordered by session and worker, so that the order is stable.
    sessions.sort_by_cached_key(|Listed { session, .. }| {
        (Reverse(session.last_seen), session.session.clone(), session.worker.clone())
    });
    let human = || human(&sessions, all - sessions.len(), now);
    status.format.print(human, sessions.iter().map(json_line_of))
}

/// A worker's session.
struct Listed {
    session: Session,
    /// The session is over. The time of its last event is the time of its end.
    ended: bool,
}

/// Returns the live sessions, and those in the journal that have ended with findings.
fn listed(folder: &Folder) -> Vec<Listed> {
    let live = folder.sessions().map(|session| Listed { session, ended: false });
    let mut listed: Vec<_> = live.collect();
    let mut over: BTreeMap<(String, String, String), Listed> = BTreeMap::new();
    for entry in folder.journal() {
        let Entry { at, agent, session, worker, cwd, what, .. } = entry;
        // A later version may know more agents.
        let Some(known) = Agent::named(&agent) else { continue };
        let key = Key { agent: known, session: &session, worker: &worker };
        if listed.iter().any(|one| !one.ended && one.session.is_of(&key)) {
            continue;
        }
        let mut new = Session::new(&key, at);
        new.cwd = cwd;
        let new = Listed { session: new, ended: false };
        let Listed { session, ended } = over.entry((agent, session, worker)).or_insert(new);
        session.last_seen = at;
        match what {
            What::Found(finding) => session.note(finding),
            What::Ended { begun, calls, events, errors, refused_again, loops: _ } => {
                *ended = true;
                session.begun = session.begun.min(begun);
                session.calls += calls;
                session.events += events;
                session.errors += errors;
                session.refused_again += refused_again;
            }
        }
    }
    let is_shown = |one: &Listed| one.ended && !one.session.findings.is_empty();
    listed.extend(over.into_values().filter(is_shown));
    listed
}

/// Returns the list for people. `old` further sessions are left out.
fn human(sessions: &[Listed], old: usize, now: u64) -> String {
    let mut text = String::new();
    for session in sessions {
        text += &described(session, now);
    }
    if sessions.is_empty() {
        let none = if old > 0 { "No session is live." } else { NONE };
        text += &filled(none, "");
    }
    if old > 0 {
        let _ = writeln!(text, "{FAINT}and {old} from before: --all{FAINT:#}");
    }
    text
}

fn described(Listed { session, ended }: &Listed, now: u64) -> String {
    let id: String = plain(&session.session).chars().take(ID_SHOWN).collect();
    let worker = match &session.worker[..] {
        "main" => String::new(),
        worker => format!(", worker {}", shortened(&plain(worker), 20)),
    };
    let calls = counted(session.calls, "call");
    let seen = ago(now, session.last_seen);
    let agent = session.agent.name();
    let verb = if *ended { "ended" } else { "seen" };
    let mut text = format!("{STRONG}{agent}  {id}{STRONG:#}{worker}  {calls}, {verb} {seen}");
    if let Some(cwd) = &session.cwd {
        let _ = write!(text, "  {FAINT}{}{FAINT:#}", plain(cwd));
    }
    text.push('\n');
    for findings in loops(&session.findings) {
        text += &what_was_done(&findings, now);
    }
    if session.refused_again > 0 {
        let again = counted(session.refused_again, "call");
        let _ = writeln!(text, "{INDENT}{again} came back after a stop, and stayed refused");
    }
    text
}

/// Groups the findings by loop, in the order of their first findings.
fn loops(findings: &[FindingRecord]) -> Vec<Vec<&FindingRecord>> {
    let mut loops: Vec<Vec<&FindingRecord>> = Vec::new();
    for finding in findings {
        match loops.iter_mut().find(|one| one[0].loop_id == finding.loop_id) {
            Some(one) => one.push(finding),
            None => loops.push(vec![finding]),
        }
    }
    loops
}

/// Returns the lines on one loop: what recurs, the actions, and the time of the last one.
fn what_was_done(findings: &[&FindingRecord], now: u64) -> String {
    let Some(last) = findings.last() else { return String::new() };
    let (what, actions, when) = (plain(&last.what), plain(&actions(findings)), ago(now, last.at));
    let text = format!("{what}: {actions}; {}", when.replace(' ', GLUE));
    loop_lines(last.loop_id, &text).replace(GLUE, " ")
}

/// Returns what was done about a loop, for example "nudged, warned, 2 × refused, stopped". No line is wrapped
/// inside "2 × refused".
fn actions(findings: &[&FindingRecord]) -> String {
    let same = findings.chunk_by(|one, next| one.said == next.said);
    let done = |said: Said, times: usize| match times {
        1 => said.done().to_owned(),
        times => format!("{times}{GLUE}×{GLUE}{}", said.done()),
    };
    let actions: Vec<_> = same.map(|same| done(same[0].said, same.len())).collect();
    let is_observed = findings.iter().all(|finding| finding.observed);
    let would = if is_observed { "would have " } else { "" };
    format!("{would}{}", actions.join(", "))
}

/// Returns the JSON line of a session. Its times are in milliseconds since 1970. Its errors are the calls that ran and
/// failed. Those that were refused again came back after a stop, without a new finding.
fn json_line_of(Listed { session, ended }: &Listed) -> String {
    Object::default()
        .with("schema", SCHEMA)
        .with("agent", session.agent.name())
        .with("session", &session.session)
        .with("worker", &session.worker)
        .with("cwd", &session.cwd)
        .with("calls", session.calls)
        .with("errors", session.errors)
        .with("refused_again", session.refused_again)
        .with("events", session.events)
        .with("begun", session.begun)
        .with("last_seen", session.last_seen)
        .with("ended", ended)
        .with("findings", &session.findings)
        .line()
}

/// What the agent gives to a status line. The rest is not needed.
#[derive(Deserialize)]
struct Given {
    session_id: String,
}

/// Prints the line on the session that standard input names.
fn status_line() -> Exit {
    let given = input::payload().ok().and_then(|text| serde_json::from_slice::<Given>(&text).ok());
    let folder = Folder::find().filter(|_| !unstuck::is_off());
    let workers = folder
        .zip(given)
        .map(|(folder, Given { session_id })| folder.of_session(&session_id).collect::<Vec<_>>());
    // An agent whose reader has gone shows no line.
    let _ = Output::stdout(Reader::Person).write(&line(&workers.unwrap_or_default()));
    Exit::Clean
}

/// Returns the line on the workers of a session. It is empty if hooks do not watch the session.
fn line(workers: &[Session]) -> String {
    if workers.is_empty() {
        return String::new();
    }
    let loops: usize = workers.iter().map(|worker| worker.loops.len()).sum();
    let freed: usize = workers.iter().map(Session::freed).sum();
    let saved: u64 = workers.iter().map(|worker| worker.refused).sum();
    let parts = [
        (loops > 0).then(|| counted(loops, "loop")),
        (freed > 0).then(|| format!("{freed} freed")),
        (saved > 0).then(|| format!("{} saved", counted(saved, "call"))),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let text = if parts.is_empty() { "no loop".to_owned() } else { parts.join(", ") };
    format!("unstuck: {text}\n")
}

#[cfg(test)]
mod tests {
    use unstuck_core::LoopId;
    use unstuck_report::shown::COLUMNS;

    use super::*;

    const NOW: u64 = 1_000_000_000_000;

    fn session(worker: &str, before: u64) -> Session {
        let key = Key { agent: Agent::ALL[1], session: "01998f2c-aaaa\u{1b}[31m", worker };
        let mut session = Session::new(&key, NOW - before);
        session.cwd = Some("/src/\u{1b}[2J".to_owned());
        session.calls = 1;
        session
    }

    #[test]
    fn control_characters_in_names_do_not_reach_the_terminal() {
        let mut one = session("a\nb", 61_000);
        let finding = |said: Said, loop_id: u64, what: &str| FindingRecord {
            said,
            observed: loop_id & 1 == 0,
            what: what.to_owned(),
            loop_id: LoopId::from_bits(loop_id),
            ..FindingRecord::example(NOW - 3_700_000)
        };
        let (one_loop, other) = (0x00c0_ffee_0000_0001, 0xabcd_ef01_0000_0002);
        let odd = "`mcp__\u{1b}]0;x` 5 times in a row";
        one.findings = vec![
            finding(Said::Nudge, one_loop, "`x` 3 times in a row"),
            finding(Said::Nudge, other, &"long ".repeat(20)),
            finding(Said::Refusal, one_loop, odd),
            finding(Said::Refusal, one_loop, odd),
        ];
        one.refused_again = 2;
        let text = human(&[Listed { session: one, ended: true }], 2, NOW);
        let text = anstream::adapter::strip_str(&text).to_string();
        let expected = "codex  01998f2c, worker a b  1 call, ended 1 min ago  /src/\u{fffd}[2J\n\
                        \u{20} 00c0ffee00000001  `mcp__\u{fffd}]0;x` 5 times in a row: nudged, 2 × refused; 1 h ago\n\
                        \u{20} abcdef0100000002  long ";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains(": would have nudged;\n                    1 h ago\n"), "{text}");
        assert!(text.ends_with("and 2 from before: --all\n"), "{text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert!(
            text.contains("\n                    2 calls came back after a stop, and"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 7, "{text}");
    }

    #[test]
    fn sessions_that_are_left_out_are_counted() {
        let text = human(&[], 1, NOW);
        assert!(text.starts_with("No session is live.\n"), "{text}");
    }
}
