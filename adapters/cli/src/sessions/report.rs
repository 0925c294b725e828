//! `unstuck report`: what hooks found in the last days, also in sessions that are over.
//!
//! The journal holds no arguments and no results, so none are shown.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use textwrap::Options;
use unstuck_core::LoopId;
use unstuck_report::effect::{Effect, FOLLOWED_BY};
use unstuck_report::json::json_line;
use unstuck_report::shown::{COLUMNS, counted, plain, shortened};

use crate::agents::state::{Entry, FindingRecord, Folder, Line, Said, Session, What};
use crate::exit::Exit;
use crate::output::effect::tables;
use crate::output::filled;
use crate::sessions::effect::{Note, Workers};
use crate::sessions::{Report, STRONG, folder, loop_lines};
use crate::time::{ago, now};

/// A day in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// The largest number of loops in the list of the most frequent ones.
const FREQUENT: usize = 5;

/// The width of a column of names.
const NAME: usize = 12;

/// The message if no session was watched.
const UNWATCHED: &str = "No session was watched in that time. Run unstuck install to watch an agent, and \
                         unstuck doctor to check the installation.";

pub(crate) fn run(report: &Report) -> Exit {
    let folder = match folder() {
        Ok(folder) => folder,
        Err(exit) => return exit,
    };
    let journal = folder.as_ref().map(Folder::journal).unwrap_or_default();
    let live: Vec<_> = folder.iter().flat_map(Folder::sessions).collect();
    let period = Period { days: report.days, now: now() };
    let records = Records::of(&journal, &live, period);
    if report.effect && !records.findings.is_empty() {
        let notes = records.notes();
        let lines = notes.iter().map(|note| json_line(&note.line()));
        let human = || {
            let shown: Vec<_> = notes.iter().map(Note::shown).collect();
            tables(&format!("Last {}", period.name()), &shown)
        };
        return report.format.print(human, lines);
    }
    let lines = records.findings.iter();
    let lines = lines.map(|(entry, finding)| json_line(&Line::of(entry, finding)));
    report.format.print(|| human(&records, period), lines)
}

/// The time that a report is about.
#[derive(Clone, Copy)]
struct Period {
    days: u32,
    now: u64,
}

impl Period {
    fn includes(self, at: u64) -> bool {
        self.now.saturating_sub(at) < DAY * u64::from(self.days)
    }

    /// Returns the number of whole days since `at`.
    fn age(self, at: u64) -> u64 {
        self.now.saturating_sub(at) / DAY
    }

    fn name(self) -> String {
        if self.days == 1 { "24 hours".to_owned() } else { counted(self.days, "day") }
    }
}

/// An agent's name and its id of a session.
type Id<'j> = (&'j str, &'j str);

/// A finding and the line of the journal that holds it.
type Found<'j> = (&'j Entry, &'j FindingRecord);

/// What the journal and the live sessions say about a period.
struct Records<'j> {
    /// The sessions that hooks have watched.
    watched: BTreeSet<Id<'j>>,
    /// The findings, in the order of their times.
    findings: Vec<Found<'j>>,
    /// What is known of each worker, also from before.
    workers: Workers<'j>,
    /// The calls of each session that came back after a stop and were refused, without a new finding.
    refused_again: HashMap<Id<'j>, u64>,
}

impl<'j> Records<'j> {
    fn of(journal: &'j [Entry], live: &'j [Session], period: Period) -> Self {
        let mut records = Self {
            watched: BTreeSet::new(),
            findings: Vec::new(),
            workers: Workers::of(journal, live),
            refused_again: HashMap::new(),
        };
        for entry in journal.iter().filter(|entry| period.includes(entry.at)) {
            records.watched.insert(id(entry));
            match &entry.what {
                What::Found(finding) => records.add(entry, finding),
                What::Ended { refused_again, .. } => {
                    *records.refused_again.entry(id(entry)).or_default() += refused_again;
                }
            }
        }
        for session in live.iter().filter(|session| period.includes(session.last_seen)) {
            let id = (session.agent.name(), &session.session[..]);
            records.watched.insert(id);
            *records.refused_again.entry(id).or_default() += session.refused_again;
        }
        records
    }

    /// Adds a finding. It replaces the one that would have refused its call.
    fn add(&mut self, entry: &'j Entry, finding: &'j FindingRecord) {
        let is_of_worker = |one: &Entry| id(one) == id(entry) && one.worker == entry.worker;
        let last = self.findings.iter_mut().rfind(|(one, _)| is_of_worker(one));
        match last.filter(|(_, last)| last.is_refusal_of(finding)) {
            Some(last) => *last = (entry, finding),
            None => self.findings.push((entry, finding)),
        }
    }

    /// Returns the notes with their effects.
    fn notes(&self) -> Vec<Note<'j>> {
        let found = self.findings.iter().filter(|(_, finding)| Note::is_note(finding));
        let note = |&(entry, finding): &Found<'j>| Note {
            entry,
            finding,
            effect: self.workers.effect(entry, finding),
        };
        found.map(note).collect()
    }

    /// Returns the findings of each loop of each worker.
    fn loops(&self) -> BTreeMap<(Id<'j>, &'j str, LoopId), Vec<Found<'j>>> {
        let mut loops: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for found in &self.findings {
            let (entry, finding) = found;
            let key = (id(entry), &entry.worker[..], finding.loop_id);
            loops.entry(key).or_default().push(*found);
        }
        loops
    }
}

fn id(entry: &Entry) -> Id<'_> {
    (&entry.agent, &entry.session)
}

fn human(records: &Records<'_>, period: Period) -> String {
    let name = period.name();
    if records.watched.is_empty() {
        return filled(&format!("Nothing found in {name}. {UNWATCHED}"), "");
    }
    let watched = counted(records.watched.len(), "watched session");
    if records.findings.is_empty() {
        return filled(&format!("Nothing found in {name}, in {watched}."), "");
    }
    let stuck: BTreeSet<_> = records.findings.iter().map(|(entry, _)| id(entry)).collect();
    let mut text = filled(&format!("Last {name}: findings in {} of {watched}", stuck.len()), "");
    text += &days(records, period);
    text += &rules(records);
    text += &frequent(records, period.now);
    text += &ended_early(records);
    text
}

/// Returns the lines on each day and agent.
fn days(records: &Records<'_>, period: Period) -> String {
    let mut days: BTreeMap<u64, BTreeMap<&str, Day<'_>>> = BTreeMap::new();
    let mut again = records.refused_again.clone();
    // The refusals after a stop count for the day of the session's latest finding.
    for found in records.findings.iter().rev() {
        let (entry, _) = found;
        let agents = days.entry(period.age(entry.at)).or_default();
        let day = agents.entry(&entry.agent).or_default();
        day.findings.push(*found);
        day.refused_again += again.remove(&id(entry)).unwrap_or_default();
    }
    let mut text = String::new();
    for (age, agents) in days {
        let title = match age {
            0 => "Last 24 hours".to_owned(),
            age => format!("{} ago", counted(age, "day")),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{STRONG}{title}{STRONG:#}");
        for (agent, day) in agents {
            text += &row(&shortened(&plain(agent), NAME), &day.summary());
        }
    }
    text
}

/// The findings about one agent on one day.
#[derive(Default)]
struct Day<'j> {
    findings: Vec<Found<'j>>,
    /// The refusals that follow a stop and have no finding of their own.
    refused_again: u64,
}

impl Day<'_> {
    /// Returns the numbers of sessions and loops, and of each thing that was said.
    fn summary(&self) -> String {
        let findings = self.findings.iter();
        let sessions: BTreeSet<_> = findings.clone().map(|(entry, _)| id(entry)).collect();
        let loops: BTreeSet<_> =
            findings.map(|(entry, finding)| (id(entry), &entry.worker, finding.loop_id)).collect();
        let told = Some(self.said(false)).filter(|told| !told.is_empty());
        let observed = Some(self.said(true)).filter(|observed| !observed.is_empty());
        let observed = observed.map(|observed| format!("only observed: {observed}"));
        format!(
            "{}, {}: {}",
            counted(sessions.len(), "session"),
            counted(loops.len(), "loop"),
            told.into_iter().chain(observed).collect::<Vec<_>>().join("; ")
        )
    }

    /// Returns the number of each thing that was said, or would have been said to an agent that is only
    /// observed.
    fn said(&self, observed: bool) -> String {
        let number = |said: Said| {
            let such = self.findings.iter().map(|(_, finding)| finding);
            let such = such.filter(|one| one.said == said && one.observed == observed).count();
            let again = if said == Said::Refusal && !observed { self.refused_again } else { 0 };
            again.saturating_add(such as u64)
        };
        let numbers = Said::ALL.into_iter().map(|said| (number(said), said.name()));
        let numbers = numbers.filter(|(number, _)| *number > 0);
        numbers.map(|(number, name)| counted(number, name)).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the number of loops that each rule has found.
fn rules(records: &Records<'_>) -> String {
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for findings in records.loops().values() {
        let names: BTreeSet<_> = findings.iter().map(|(_, finding)| &finding.rule[..]).collect();
        for name in names {
            *rules.entry(name).or_default() += 1;
        }
    }
    let mut rules: Vec<_> = rules.into_iter().collect();
    rules.sort_by_key(|(name, loops)| (usize::MAX - loops, *name));
    let widest = rules.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("\n{STRONG}Rules{STRONG:#}\n");
    for (name, loops) in rules {
        let _ = writeln!(text, "  {:<widest$}  {}", plain(name), counted(loops, "loop"));
    }
    text
}

/// Returns the loops that came most often: in the most sessions, and then with the most findings.
fn frequent(records: &Records<'_>, now: u64) -> String {
    let mut loops: BTreeMap<LoopId, Vec<Found<'_>>> = BTreeMap::new();
    for found in &records.findings {
        loops.entry(found.1.loop_id).or_default().push(*found);
    }
    let sessions = |findings: &[Found<'_>]| {
        findings.iter().map(|(entry, _)| id(entry)).collect::<BTreeSet<_>>().len()
    };
    let mut loops: Vec<_> = loops.into_values().collect();
    loops.sort_by_cached_key(|found| {
        (usize::MAX - sessions(found), usize::MAX - found.len(), found[0].1.loop_id)
    });
    let mut text = format!("\n{STRONG}Most frequent loops{STRONG:#}\n");
    for findings in loops.iter().take(FREQUENT) {
        let Some((entry, last)) = findings.last() else { continue };
        // The longest form says the most.
        let longest = findings.iter().map(|(_, finding)| finding).max_by_key(|one| one.laps);
        let what = plain(&longest.unwrap_or(last).what);
        let found = counted(findings.len(), "finding");
        let sessions = counted(sessions(findings), "session");
        let (when, agent) = (ago(now, last.at), plain(&entry.agent));
        let about = format!("{what}; {found} in {sessions}, last {when} in {agent}");
        text += &loop_lines(last.loop_id, &about);
    }
    let more = loops.len().saturating_sub(FREQUENT);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more: --format jsonl");
    }
    text
}

/// Returns the sentence on loops that ended after the first note, if that is known of any.
fn ended_early(records: &Records<'_>) -> String {
    let loops = records.loops();
    let is_told = |findings: &[Found<'_>]| findings.iter().all(|(_, one)| !one.observed);
    let told = loops.values().filter(|findings| is_told(findings));
    let is_early = |findings: &&Vec<Found<'_>>| {
        let [(entry, only)] = findings[..] else { return false };
        let effect = records.workers.effect(entry, only);
        only.said <= Said::Warning && matches!(effect, Some(Effect::Left | Effect::Later))
    };
    let early = told.clone().filter(is_early).count();
    if early == 0 {
        return String::new();
    }
    let of = counted(told.count(), "loop");
    let text = format!(
        "{early} of {of} ended after the first note: the session went on for {FOLLOWED_BY} calls or \
         more, and it was not found again."
    );
    format!("\n{}", filled(&text, ""))
}

/// Returns a row with a name and text, which may take several lines.
fn row(name: &str, text: &str) -> String {
    let first = format!("  {name:<NAME$} ");
    let rest = " ".repeat(NAME + 3);
    let options = Options::new(COLUMNS).initial_indent(&first).subsequent_indent(&rest);
    textwrap::fill(text, options) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Agent;
    use crate::agents::state::Key;

    const NOW: u64 = 1_000 * DAY;

    fn session(agent: usize, name: &str, calls: u64) -> Session {
        let agent = Agent::ALL[agent];
        let mut session = Session::new(&Key { agent, session: name, worker: "main" }, NOW - DAY);
        session.calls = calls;
        session
    }

    fn found(session: &Session, said: Said, loop_id: u64, call: u64, age: u64) -> Entry {
        let finding = FindingRecord {
            rule: ["streak", "cycle"][usize::from(loop_id == 2)].to_owned(),
            said,
            observed: session.session == "watched",
            what: format!("`Ba\u{1b}[2Jsh` {call} times in a row, failing alike"),
            laps: call,
            loop_id: LoopId::from_bits(loop_id << 32),
            call,
            ..FindingRecord::example(NOW - age)
        };
        Entry::found(session, &finding)
    }

    fn shown(journal: &[Entry], live: &[Session], days: u32) -> String {
        let period = Period { days, now: NOW };
        let text = human(&Records::of(journal, live, period), period);
        let text = anstream::adapter::strip_str(&text).to_string();
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
        text
    }

    #[test]
    fn a_report_counts_days_agents_rules_and_loops() {
        let (mut one, two, other) =
            (session(0, "s", 9), session(0, "t", 30), session(1, "watched", 12));
        one.refused_again = 4;
        let journal = [
            found(&two, Said::Nudge, 1, 3, 3 * DAY),
            Entry::ended(&two, NOW - 3 * DAY),
            found(&one, Said::Nudge, 1, 3, 900_000),
            found(&one, Said::Warning, 1, 5, 800_000),
            found(&one, Said::Refusal, 1, 6, 700_000),
            found(&one, Said::Refusal, 1, 7, 600_000),
            found(&one, Said::Stop, 1, 8, 500_000),
            found(&other, Said::Nudge, 2, 4, 60_000),
            found(&other, Said::Refusal, 2, 12, 50_000),
            found(&other, Said::Refusal, 2, 12, 49_000),
        ];
        assert_eq!(shown(&journal, &[one, other], 7), include_str!("report.txt"));
    }

    #[test]
    fn a_period_leaves_out_what_is_older() {
        let one = session(0, "s", 9);
        let journal = [found(&one, Said::Nudge, 1, 3, DAY), Entry::ended(&one, NOW - 1)];
        assert_eq!(shown(&journal, &[], 1), "Nothing found in 24 hours, in 1 watched session.\n");
        assert!(shown(&journal, &[], 2).starts_with("Last 2 days: findings in 1 of 1 watched"));
        let none = shown(&journal[..1], &[], 1);
        assert!(none.starts_with("Nothing found in 24 hours. No session was watched"), "{none}");
    }

    #[test]
    fn a_loop_has_ended_early_only_if_many_calls_followed() {
        for (said, calls, is_early) in [
            (Said::Nudge, 8, true),
            (Said::Nudge, 7, false),
            (Said::Warning, 8, true),
            (Said::Refusal, 8, false),
        ] {
            let one = session(0, "s", calls);
            let journal = [found(&one, said, 1, 3, 1), Entry::ended(&one, NOW)];
            let text = shown(&journal, &[], 7);
            assert_eq!(text.contains("1 of 1 loop ended after the first note"), is_early, "{text}");
        }
        // Nobody was told.
        let one = session(0, "watched", 30);
        let journal = [found(&one, Said::Nudge, 1, 3, 1), Entry::ended(&one, NOW)];
        assert!(!shown(&journal, &[], 7).contains("ended after"));
    }
}
