//! Scripts of events, in `scripts`, each with the verdict that the engine and the oracle must return.
//!
//! ```text
//! == the title of a case, which begins without a policy
//! rule same same streak 3, repetitions 3 nudge 5 warn, force proven
//! text prompt 2, repetitions 2 nudge
//! window 12                                     or `policy balanced`; both begin the history
//! 3x call 0 read = ok 0 => proceed*2 nudge!     three calls with their outcomes, and three verdicts
//! a: call 0 step 1 ; a: failed 0 near 1         a call by a name; `{n}` is the number of the round
//! ```
//!
//! A verdict on a call with its outcome is the stronger of both. It is in capitals if the call is blocked before it
//! runs, and has an exclamation mark if it is fresh. `try` is a call that does not run if it is blocked, and `near 2` shows
//! how much of the third rule's pattern is there. `let $name = …` abbreviates what follows, and a line in parentheses is a
//! comment.

use std::collections::HashMap;

use unstuck_core::{
    Action, Args, Basis, Ladder, Outcomes, Pattern, Phase, Policy, Progress, Results, Rule, Rung,
    Select, Tag, TextRule, Texts, Tool, ToolRule, presets,
};

use crate::model::{CallSpec, Event, OutcomeSpec, PlainVerdict};
use crate::pair::{Ids, Pair};

#[test]
fn events() {
    play(include_str!("scripts/events.txt"));
}

#[test]
fn control() {
    play(include_str!("scripts/control.txt"));
}

#[test]
fn proof() {
    play(include_str!("scripts/proof.txt"));
}

/// Policies on both sides of each limit, and the error of those that cannot work.
#[test]
fn policies() {
    let file = include_str!("scripts/policies.txt");
    for line in file.lines().filter(|line| !line.starts_with('(')) {
        let (policy, expected) = line.split_once(" => ").expect("an error, or `ok`");
        let (window, rest) = policy.split_once(" |").expect("patterns");
        let (patterns, ladder) = rest.split_once(" | ").unwrap_or((rest, "loop_findings 1 nudge"));
        let mut rules = Vec::new();
        for pattern in patterns.trim().split(", ").filter(|pattern| !pattern.is_empty()) {
            let (times, pattern) = pattern.split_once("x ").unwrap_or(("1", pattern));
            let rule = rule(&format!("same same {pattern}, {ladder}"));
            rules.extend(vec![rule; number(times)]);
        }
        let found = Policy::new("p", number(window), &rules);
        let found = found.map_or_else(|error| error.to_string(), |_| "ok".to_owned());
        assert_eq!(found, expected, "{policy}");
    }
}

/// Plays all cases with windows of two capacities, and lists every line that differs.
fn play(file: &'static str) {
    play_on::<24>(file, false);
    play_on::<64>(file, false);
    play_on::<24>(file, true);
}

fn play_on<const W: usize>(file: &'static str, thorough: bool) {
    let (mut abbreviations, mut wrong) = (HashMap::new(), Vec::new());
    let (mut rules, mut host) = (Rules::default(), None);
    for (number, line) in (1..).zip(file.lines()) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "" => {}
            _ if line.starts_with('(') => {}
            "==" => (rules, host) = (Rules::default(), None),
            "let" => {
                let (name, events) = rest.split_once(" = ").expect("a meaning");
                abbreviations.insert(name, written(events, &abbreviations));
            }
            "rule" => rules.calls.push(rule(rest)),
            "text" if host.is_none() => rules.texts.push(text_rule(rest)),
            "tool" => rules.tools.push(tool_rule(rest)),
            "phases" => rules.phases = Some(rest),
            "window" | "policy" => host = Some(Host::<W>::new(rules.policy(word, rest), thorough)),
            _ => {
                let (events, expected) = line.split_once(" => ").unwrap_or((line, ""));
                let host = host.as_mut().expect("a policy");
                let said = host.rounds(&written(events, &abbreviations));
                if !expected.is_empty() && said != unfolded(expected) {
                    wrong.push(format!("{number}: {line}\n    {}", said.join(" ")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Returns the line with all abbreviations written out.
pub(crate) fn written(line: &str, abbreviations: &HashMap<&str, String>) -> String {
    let words = line.split(' ');
    let words = words.map(|word| abbreviations.get(word).map_or(word, String::as_str));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the words of `expected`, of which `word*3` stands for three.
fn unfolded(expected: &str) -> Vec<String> {
    let words = expected.split_whitespace().map(|word| word.split_once('*').unwrap_or((word, "1")));
    words.flat_map(|(word, times)| vec![word.to_owned(); number(times)]).collect()
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse().unwrap_or_else(|_| panic!("`{word}` is no such number"))
}

/// Returns the value whose name is `word`.
fn named<T: Copy>(all: impl IntoIterator<Item = T>, name: fn(T) -> &'static str, word: &str) -> T {
    all.into_iter().find(|one| name(*one) == word).unwrap_or_else(|| panic!("no such `{word}`"))
}

/// The rules of a case.
#[derive(Default)]
struct Rules {
    calls: Vec<Rule<'static>>,
    texts: Vec<TextRule<'static>>,
    tools: Vec<ToolRule>,
    phases: Option<&'static str>,
}

impl Rules {
    /// Returns a preset, or a policy with the rules and a window.
    fn policy(&self, word: &str, rest: &str) -> &'static Policy<'static> {
        let mut policy = match word {
            "policy" => *named(presets::ALL, |preset| preset.name(), rest),
            _ => Policy::new("p", number(rest), self.calls.clone().leak()).unwrap(),
        };
        if !self.texts.is_empty() {
            policy = policy.with_texts(self.texts.clone().leak()).unwrap();
        }
        if let Some(phases) = self.phases {
            let words: Vec<&str> = phases.split(' ').collect();
            let phase = |at: usize| Phase::new(number(words[at]), number(words[at + 1]));
            policy = policy.with_phases(phase(0), phase(2)).unwrap();
        }
        Box::leak(Box::new(policy.with_tools(self.tools.clone().leak()).unwrap()))
    }
}

/// Parses a rule: what it compares, its pattern, its ladder, and options, with a comma between them.
fn rule(line: &str) -> Rule<'static> {
    let mut parts = line.split(", ");
    let words: Vec<&str> = parts.next().unwrap_or_default().split(' ').collect();
    let args = named(Args::ALL, Args::name, words[0]);
    let results = named(Results::ALL, Results::name, words[1]);
    let pattern = match words[2..] {
        ["streak", times] => Pattern::Streak { times: number(times) },
        ["recurrence", times, within] => Pattern::recurrence(number(times), number(within)),
        ["cycle", min, max, laps] => Pattern::cycle(number(min), number(max), number(laps)),
        _ => panic!("no pattern: {line}"),
    };
    let ladder = ladder(parts.next().expect("a ladder"));
    let rule = Rule::new("r", args, results, pattern, ladder);
    parts.fold(rule, |mut rule, option| match option.split_once(' ') {
        Some(("select", tag)) => rule.select(Select::Tag(named(Tag::ALL, Tag::name, tag))),
        Some(("progress", what)) => {
            rule.progress = named(Progress::ALL, Progress::name, what);
            rule
        }
        Some(("outcomes", which)) => {
            rule.outcomes = named(Outcomes::ALL, Outcomes::name, which);
            rule
        }
        Some(("force", "proven")) => rule.forced_on_proof(),
        _ => panic!("no option: {option}"),
    })
}

fn text_rule(line: &str) -> TextRule<'static> {
    let (texts, rungs) = line.split_once(", ").expect("a ladder");
    let (texts, times) = texts.split_once(' ').expect("a number");
    TextRule::new("t", named(Texts::ALL, Texts::name, texts), number(times), ladder(rungs))
}

fn ladder(line: &str) -> Ladder<'static> {
    let words: Vec<&str> = line.split(' ').collect();
    let rung =
        |pair: &[&str]| Rung::new(number(pair[0]), named(Action::ALL, Action::name, pair[1]));
    let rungs = words[1..].chunks(2).map(rung).collect::<Vec<_>>().leak();
    Ladder { basis: named(Basis::ALL, Basis::name, words[0]), rungs }
}

fn tool_rule(line: &str) -> ToolRule {
    let words: Vec<&str> = line.split(' ').collect();
    let rule = ToolRule::new(Tool::new(number(words[0])));
    match words[1..] {
        ["poll"] => rule.poll(),
        ["patience", more] => rule.patience(number(more)),
        _ => panic!("no option: {line}"),
    }
}

/// The engine and the oracle, and the names of calls.
struct Host<const W: usize> {
    pair: Pair<'static, W>,
    ids: Ids,
    calls: HashMap<String, usize>,
}

impl<const W: usize> Host<W> {
    fn new(policy: &'static Policy<'static>, thorough: bool) -> Self {
        let pair = Pair::new(policy);
        let pair = if thorough { pair.thorough() } else { pair };
        Self { pair, ids: Ids::default(), calls: HashMap::new() }
    }

    /// Plays the events of a line, and returns the verdicts.
    fn rounds(&mut self, line: &str) -> Vec<String> {
        let times =
            line.split_once("x ").and_then(|(times, rest)| Some((times.parse().ok()?, rest)));
        let (times, events): (u32, _) = times.unwrap_or((1, line));
        let mut said = Vec::new();
        for n in 1..=times {
            let events = events.replace("{n}", &n.to_string());
            said.extend(events.split(" ; ").filter_map(|event| self.shown(event)));
        }
        said
    }

    /// Plays an event. Returns the verdict, unless the event can have none.
    fn shown(&mut self, event: &str) -> Option<String> {
        let (name, rest) = event.split_once(": ").unwrap_or(("it", event));
        let (asked, outcome) = rest.split_once(" = ").unwrap_or((rest, ""));
        let (word, words) = asked.split_once(' ').unwrap_or((asked, ""));
        if word == "near" {
            let near = self.pair.engine.nearness().nth(number(words));
            let near = near.map(|near| (near.held, near.needed));
            return Some(
                near.map_or("none".to_owned(), |(held, needed)| format!("{held}/{needed}")),
            );
        }
        if !["call", "try"].contains(&word) {
            let said = self.take(self.event(name, word, words));
            let is_silent = ["clear", "compacted", "progress", "retry", "false-positive"];
            return (!is_silent.contains(&word)).then(|| shown(&said, false));
        }
        self.calls.insert(name.to_owned(), self.pair.calls());
        let before = self.take(Event::Announce(call(words)));
        let is_blocked = before.action >= Action::Block;
        let (word, words) = match outcome.split_once(' ') {
            None => return Some(shown(&before, is_blocked)),
            Some(_) if word == "try" && is_blocked => ("veto", ""),
            Some(outcome) => outcome,
        };
        let after = self.take(self.event(name, word, words));
        Some(shown(if before.action > after.action { &before } else { &after }, is_blocked))
    }

    fn take(&mut self, event: Event) -> PlainVerdict {
        match self.pair.take(event, &mut self.ids) {
            Ok(said) => said,
            Err(difference) => panic!("at {event:?}:\n{difference}"),
        }
    }

    /// Parses every event but a call.
    fn event(&self, name: &str, word: &str, words: &str) -> Event {
        let call = || self.calls[name];
        match word {
            "ok" | "failed" => Event::Outcome(call(), outcome(word == "failed", words)),
            "veto" => Event::Veto(call()),
            "cancel" => Event::Cancel(call()),
            _ => event(word, words),
        }
    }
}

/// Parses an event that is about no call.
pub(crate) fn event(word: &str, words: &str) -> Event {
    match word {
        "retry" => Event::Retry(number(words)),
        "user" => Event::UserMessage(number(words)),
        "text" => {
            let (text, laps) = words.split_once(' ').unwrap_or((words, "0"));
            Event::Text(number(text), number(laps))
        }
        "finish" => Event::Finish,
        "clear" => Event::Clear,
        "compacted" => Event::Compacted,
        "progress" => Event::Progress,
        "false-positive" => Event::FalsePositive,
        _ => panic!("no event `{word}`"),
    }
}

fn shown(said: &PlainVerdict, refused: bool) -> String {
    let name = said.action.name();
    let name = if refused { name.to_uppercase() } else { name.to_owned() };
    if said.fresh { name + "!" } else { name }
}

/// Parses the number of a call's arguments, and what it is else.
pub(crate) fn call(words: &str) -> CallSpec {
    let mut words = words.split(' ');
    let args = number(words.next().unwrap_or_default());
    let mut call = CallSpec { tool: 1, args, similar: args, ..CallSpec::PLAIN };
    while let Some(word) = words.next() {
        let mut value = || words.next().expect("a value");
        match word {
            "read" => call.idempotent = true,
            "tag" => call.tag = named(Tag::ALL, Tag::name, value()),
            "tool" => call.tool = number(value()),
            "like" => call.similar = number(value()),
            "step" => call.step = Some(number(value())),
            _ => panic!("no part of a call: `{word}`"),
        }
    }
    call
}

/// Parses the number of a result, which is also that of its bytes, and what it is else.
pub(crate) fn outcome(failed: bool, words: &str) -> OutcomeSpec {
    let mut words = words.split(' ');
    let result = number(words.next().unwrap_or_default());
    let plain = OutcomeSpec { near: None, telling: false, ..OutcomeSpec::PLAIN };
    let mut outcome = OutcomeSpec { result, raw: result, failed, ..plain };
    while let Some(word) = words.next() {
        let mut value = || number(words.next().expect("a value"));
        match word {
            "near" => outcome.near = Some(value()),
            "raw" => outcome.raw = value(),
            "score" => outcome.score = Some(value()),
            "silent" => outcome.silent = true,
            "telling" => outcome.telling = true,
            "pending" => outcome.pending = true,
            "late" => outcome.late = true,
            "weak" => outcome.weak = true,
            _ => panic!("no part of an outcome: `{word}`"),
        }
    }
    outcome
}
