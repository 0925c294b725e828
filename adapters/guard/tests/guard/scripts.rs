//! Scripts of hosts, in `scripts`: events of a guard, and beside each what the guard decides.
//!
//! ```text
//! == the title of a case, which begins with a guard of its own
//! guard observe escalate=2                       another guard, with these options (see [`with`])
//! bash {"command":"make"} -> done => proceed     a call that works
//! 3x bash make !> no rule => proceed*2 nudge     three calls that fail, and three decisions
//! ask a bash make ; answer a -> done             a call and its outcome; `{n}` is the number of the round
//! says You have made                             a part of the last message
//! swarm 2                                        a store that finds loops of so many calls, and its worker `a`
//! worker b                                       goes on as another worker of the swarm
//! ```
//!
//! A decision is the stronger one before and after a call. It is in capitals if the call is refused, in parentheses if
//! the guard observes, and with a question mark if the guard escalates. `let $name = …` abbreviates what follows, and a
//! line in parentheses is a comment.

use std::collections::HashMap;
use std::sync::Arc;

use unstuck::{
    Action, Asked, AtLimit, Budget, Builder, Decision, Evidence, Guard, Limits, Message, Ruling,
    Spent, Tag, Ticket, Tool, ToolDeclaration, ToolRule,
};

use super::swarm::{Counting, Looking, rule};

#[test]
fn ladder() {
    play(include_str!("scripts/ladder.txt"));
}

#[test]
fn calls() {
    play(include_str!("scripts/calls.txt"));
}

#[test]
fn ended() {
    play(include_str!("scripts/ended.txt"));
}

#[test]
fn swarm() {
    play(include_str!("scripts/swarm.txt"));
}

#[test]
fn budget() {
    play(include_str!("scripts/budget.txt"));
}

/// Plays all cases of a file, and lists every line that differs.
fn play(file: &'static str) {
    let (mut host, mut abbreviations, mut wrong) = (Host::new(""), HashMap::new(), Vec::new());
    for (number, line) in (1..).zip(file.lines()) {
        if line.is_empty() || line.starts_with('(') {
            continue;
        }
        if line.starts_with("== ") {
            host = Host::new("");
            continue;
        }
        if let Some((name, events)) = line.strip_prefix("let ").and_then(|it| it.split_once(" = "))
        {
            abbreviations.insert(name, written(events, &abbreviations));
            continue;
        }
        let (events, expected) = line.split_once(" => ").unwrap_or((line, ""));
        let decided = host.rounds(&written(events, &abbreviations));
        let is_expected = expected.is_empty() || decided == unfolded(expected);
        if let (true, Some(found)) = (is_expected, host.missing.take()) {
            wrong.push(format!("{number}: {line}\n    {found}"));
        } else if !is_expected {
            wrong.push(format!("{number}: {line}\n    {}", decided.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Returns the words of `expected`, of which `word*3` stands for three.
fn unfolded(expected: &str) -> Vec<String> {
    let words = expected.split_whitespace().map(|word| word.split_once('*').unwrap_or((word, "1")));
    words
        .flat_map(|(word, times)| vec![word.to_owned(); times.parse().expect("a number")])
        .collect()
}

/// Returns the builder with the options of a script.
fn with(options: &str) -> Builder {
    let (mut builder, mut budget) = (Guard::builder(), None);
    for option in options.split_whitespace() {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        builder = match name {
            "observe" => builder.observe_only(),
            "without-outcomes" => builder.without_outcomes(),
            "escalate" => builder.escalate(value.parse().expect("a number")),
            "preset" => builder.named(value).expect("a preset"),
            // The host answers every finding in this way, or only a stop.
            "always" => builder.on_finding(instead(Action::Proceed, value)),
            "for-stop" => builder.on_finding(instead(Action::Stop, value)),
            "exempt" => builder.tool(ToolRule::new(Tool::named(value)).exempt()),
            "patient" => builder.tool(ToolRule::new(Tool::named(value)).patience(2)),
            "plain" => builder.tool(ToolRule::new(Tool::named(value))),
            "poll" => builder.kind(ToolDeclaration::new(Tool::named(value)).tag(Tag::Poll)),
            _ => {
                set(budget.get_or_insert_default(), name, value);
                builder
            }
        };
    }
    match budget {
        Some(budget) => builder.budget(budget),
        None => builder,
    }
}

/// Rules for `instead` if the engine's action is at least `least`.
fn instead(least: Action, instead: &str) -> impl Fn(&Evidence) -> Ruling + Send + Sync + 'static {
    let named = Action::ALL.into_iter().find(|action| action.name() == instead);
    let instead = named.expect("an action");
    move |found| if found.action >= least { Ruling::Instead(instead) } else { Ruling::Agree }
}

/// Sets a limit of a budget, for example `session.calls`.
fn set(budget: &mut Budget, name: &str, value: &str) {
    let number = || Some(value.parse().expect("a number"));
    match name.split_once('.') {
        Some((span, unit)) => {
            let limits: &mut Limits = match span {
                "turn" => &mut budget.turn,
                "session" => &mut budget.session,
                "day" => &mut budget.day,
                _ => panic!("no option `{name}`"),
            };
            match unit {
                "calls" => limits.calls = number(),
                "tokens" => limits.tokens = number(),
                "minutes" => limits.minutes = number(),
                "dollars" => limits.dollars = Some(value.parse().expect("a number")),
                _ => panic!("no option `{name}`"),
            }
        }
        None if name == "at" => {
            let all = [AtLimit::Note, AtLimit::Ask, AtLimit::Refuse];
            budget.at_limit = all.into_iter().find(|at| at.name() == value).expect("a word");
        }
        None => panic!("no option `{name}`"),
    }
}

/// A host with its guard.
struct Host {
    options: String,
    guard: Guard,
    /// The store of the swarm, its name for this guard, and the other workers.
    store: Option<(Arc<Counting>, bool)>,
    worker: String,
    workers: HashMap<String, Guard>,
    /// The number of events, which is `{new}` in a script.
    events: usize,
    tickets: HashMap<String, Option<Ticket>>,
    /// The latest decision, and the latest with evidence.
    last: Option<Decision>,
    found: Option<Evidence>,
    /// The differing fact of the last line, if it stated one.
    missing: Option<String>,
}

impl Host {
    fn new(options: &str) -> Self {
        let guard = with(options).build().expect("a guard");
        let (options, tickets) = (options.to_owned(), HashMap::new());
        let (store, worker, workers) = (None, "a".to_owned(), HashMap::new());
        let (last, found, missing) = (None, None, None);
        Self { options, guard, store, worker, workers, events: 0, tickets, last, found, missing }
    }

    /// Returns the builder of a guard like this one.
    fn builder(&self) -> Builder {
        let builder = with(&self.options).worker(&self.worker);
        match self.store.clone() {
            None => builder,
            Some((store, true)) => builder.swarm(Arc::new(Looking(store))),
            Some((store, false)) => builder.swarm(store),
        }
    }

    /// Plays the events of a line, and returns the decisions.
    fn rounds(&mut self, line: &str) -> Vec<String> {
        let times =
            line.split_once("x ").and_then(|(times, rest)| Some((times.parse().ok()?, rest)));
        let (times, events): (u32, _) = times.unwrap_or((1, line));
        let mut decided = Vec::new();
        for n in 1..=times {
            let events = events.replace("{n}", &n.to_string());
            decided.extend(events.split(" ; ").filter_map(|event| self.take(event)));
        }
        decided
    }

    /// Plays an event. Returns the decision, if there is one.
    fn take(&mut self, event: &str) -> Option<String> {
        self.events += 1;
        let event = event.replace("{new}", &self.events.to_string());
        let event = event.replace("{worker}", &self.worker);
        let (word, rest) = event.split_once(' ').unwrap_or((&event, ""));
        if self.changed(word, rest) {
            return None;
        }
        let text = rest.trim_matches('"');
        let mut refused = false;
        let decision = match word {
            "user" => self.guard.user_message(text),
            "text" => self.guard.text_turn(text),
            "finish" => self.guard.finish(),
            "stop" => self.guard.stop(&self.found.clone().expect("a loop")),
            "refuse" => self.guard.refused(self.tickets[rest]),
            "cancel" => self.guard.cancelled(self.tickets[rest]),
            "answer" => {
                let (name, result, failed) = result(rest).expect("a result");
                self.guard.after(self.tickets[name], result, failed)
            }
            "ask" => {
                let (name, call) = rest.split_once(' ').expect("a call");
                let decision = self.ask(name, call);
                refused = decision.is_blocked();
                decision
            }
            "try" => {
                let decision = announce(&mut self.guard.clone(), "-", rest);
                refused = decision.is_blocked();
                decision
            }
            _ => {
                let (call, result, failed) = result(&event).expect("a known event, or a result");
                let before = self.ask("-", call);
                refused = before.is_blocked();
                if refused {
                    before
                } else {
                    let after = self.guard.after(before.ticket(), result, failed);
                    if before.judged() > after.judged() { before } else { after }
                }
            }
        };
        let name = decision.action().name();
        let mut shown = if refused { name.to_uppercase() } else { name.to_owned() };
        assert_eq!(decision.ends_the_run(), decision.action() == Action::Stop, "{event}");
        if decision.judged() > decision.action() {
            assert_eq!(decision.message(), None, "{event}");
            shown = format!("({})", decision.judged());
        }
        if decision.escalates() {
            shown.push('?');
        }
        self.found = decision.evidence().cloned().or(self.found.take());
        self.last = Some(decision);
        Some(shown)
    }

    /// Plays an event on which nothing is decided, or states a fact. Returns whether `word` is one.
    fn changed(&mut self, word: &str, rest: &str) -> bool {
        match word {
            "guard" => *self = Self::new(rest),
            "restart" => {
                self.guard = self.builder().restore(&self.guard.save()).expect("its own");
            }
            "swarm" => self.found_swarm(rest),
            "worker" => {
                let before = std::mem::replace(&mut self.worker, rest.to_owned());
                let guard = self.workers.remove(rest);
                let guard = guard.unwrap_or_else(|| self.builder().build().expect("a guard"));
                self.workers.insert(before, std::mem::replace(&mut self.guard, guard));
            }
            "leave" => self.store = None,
            "clear" => self.guard.clear(),
            "compacted" => self.guard.compacted(),
            "progress" => self.guard.progress(),
            "end-step" => self.guard.end_step(),
            "silence" => {
                self.guard.silence(self.found.as_ref().expect("a loop").finding.loop_id);
            }
            "false-positive" => self.guard.false_positive(self.found.as_ref().expect("a loop")),
            "spend" => {
                let (unit, amount) = rest.split_once('=').expect("an amount");
                let mut spent = Spent::default();
                match unit {
                    "tokens" => spent.tokens = amount.parse().expect("a number"),
                    _ => spent.dollars = amount.parse().expect("a number"),
                }
                self.guard.spend(&spent);
            }
            "says" | "begins" | "ends" | "asks" | "silent" | "counts" | "found" | "reported" => {
                self.missing = self.missing.take().or_else(|| self.differs(word, rest));
            }
            _ => return false,
        }
        true
    }

    /// Begins a swarm whose store finds loops of so many calls, with options.
    fn found_swarm(&mut self, words: &str) {
        let (calls, options) = words.split_once(' ').unwrap_or((words, ""));
        let has = |option: &str| options.split(' ').any(|word| word == option);
        let rule = rule(calls.parse().expect("a number"));
        let rule = if has("stops") { rule.strongest(Action::Stop) } else { rule };
        self.store = Some((Counting::new(rule), has("looks")));
        self.options.clear();
        self.options.push_str(if has("without-outcomes") { "without-outcomes" } else { "" });
        self.guard = self.builder().build().expect("a guard");
    }

    /// Announces a call by a name, behind which `@` may give its step.
    fn ask(&mut self, name: &str, call: &str) -> Decision {
        let decision = announce(&mut self.guard, name, call);
        let name = name.split('@').next().unwrap_or(name);
        self.tickets.insert(name.to_owned(), decision.ticket());
        decision
    }

    /// Returns what is so instead, if a fact of the script does not hold.
    fn differs(&self, word: &str, expected: &str) -> Option<String> {
        let message = self.last.as_ref().and_then(Decision::message);
        let text = message.map_or("", Message::text).to_owned();
        let (holds, found) = match word {
            "silent" => (message.is_none(), text),
            "begins" => (text.starts_with(expected), text),
            "ends" => (text.ends_with(expected), text),
            "says" => (text.contains(expected), text),
            "asks" => {
                let question = self.last.as_ref().and_then(Decision::question).unwrap_or_default();
                (question == expected, question)
            }
            "found" => {
                let found = self.last.as_ref().and_then(Decision::evidence);
                let found = found.map(|found| format!("{} of {}", found.rule, found.workers));
                (found.as_deref() == Some(expected), found.unwrap_or_default())
            }
            "reported" => {
                let reported =
                    self.store.as_ref().map_or(Vec::new(), |(store, _)| store.reported());
                let calls = reported.iter().filter(|one| one.tool == Tool::named("bash"));
                let results = calls.clone().filter(|one| one.result.is_some()).count();
                let found = format!("{} calls, {results} with results", calls.count());
                (found == expected, found)
            }
            _ => {
                let (guard, statistics) = (&self.guard, self.guard.statistics());
                let found = format!(
                    "{} loop{}, {} refused, {} checked, {} wrong",
                    guard.loops(),
                    if guard.loops() == 1 { "" } else { "s" },
                    guard.blocked_calls(),
                    statistics.checks(),
                    statistics.false_positives()
                );
                (found == expected, found)
            }
        };
        (!holds).then_some(found)
    }
}

/// Returns the line with all abbreviations written out.
fn written(line: &str, abbreviations: &HashMap<&str, String>) -> String {
    let words = line.split(' ');
    let words = words.map(|word| abbreviations.get(word).map_or(word, String::as_str));
    words.collect::<Vec<_>>().join(" ")
}

fn announce(guard: &mut Guard, name: &str, call: &str) -> Decision {
    let step = name.split_once('@').map_or("", |(_, step)| step);
    let (tool, args) = call.split_once(' ').unwrap_or((call, ""));
    let mut asked = Asked::new(tool, args);
    if !step.is_empty() {
        asked = asked.step(step.parse().expect("a number"));
    }
    guard.announce(&asked)
}

/// Splits a call or a name from its result, and tells whether it failed.
fn result(event: &str) -> Option<(&str, &str, bool)> {
    let works = event.split_once(" ->").map(|(call, result)| (call, result.trim_start(), false));
    works.or_else(|| event.split_once(" !> ").map(|(call, result)| (call, result, true)))
}
