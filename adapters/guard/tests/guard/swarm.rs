//! Workers that share a store: the calls that are reported, and the messages about them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use proptest::collection::vec;
use proptest::prelude::*;
use unstuck::Action::{Block, Nudge, Proceed, Stop, Warn};
use unstuck::{
    Action, Asked, BLOCKS_MAX, Builder, Decision, Guard, Ruling, SwarmStore, Tool, ToolRule,
};
use unstuck_swarm::{
    Allowance, CallResult, Counts, Digest, Finding, Key, LoopId, Observation, Outcome, Rule,
    Verdict, Worker,
};

use super::ARGS;

/// A store that counts without a limit and remembers the observations.
struct Counting {
    rule: Rule,
    reported: Mutex<Vec<Observation>>,
}

impl Counting {
    fn new(rule: Rule) -> Arc<Self> {
        Arc::new(Self { rule, reported: Mutex::default() })
    }

    fn reported(&self) -> Vec<Observation> {
        self.reported.lock().expect("nobody panicked").clone()
    }

    fn judge(&self, key: Key) -> Verdict {
        let reported = self.reported();
        let equal: Vec<_> = reported.iter().filter(|one| one.key() == key).collect();
        let workers: BTreeSet<Worker> = equal.iter().map(|one| one.worker).collect();
        let (Some(last), calls, workers) =
            (equal.last(), number(equal.len()), number(workers.len()))
        else {
            return Verdict::PROCEED;
        };
        let (rung, action) = self.rule.rung(calls, workers);
        if rung == 0 || self.rule.allowance(last) == Allowance::Any {
            return Verdict::PROCEED;
        }
        let outcome = match last.result {
            None => Outcome::Unknown,
            Some(CallResult { failed: false, .. }) => Outcome::Worked,
            Some(CallResult { failed: true, .. }) => Outcome::Failed,
        };
        let counts = Counts { calls, workers, missed: 0, beyond: calls - self.rule.calls };
        let id = LoopId::from_bits(key.digest().bits());
        Verdict { action, rung, finding: Some(Finding::new(id, last.tool, outcome, counts)) }
    }
}

impl SwarmStore for Counting {
    fn record(&self, observation: &Observation) -> Verdict {
        self.reported.lock().expect("nobody panicked").push(*observation);
        self.judge(observation.key())
    }
}

/// The same store, which also answers before a call runs.
struct Looking(Arc<Counting>);

impl SwarmStore for Looking {
    fn record(&self, observation: &Observation) -> Verdict {
        self.0.record(observation)
    }

    fn look(&self, call: Digest) -> Verdict {
        let keys: BTreeSet<Key> =
            self.0.reported().iter().filter(|one| one.call == call).map(Observation::key).collect();
        let verdicts = keys.into_iter().map(|key| self.0.judge(key));
        verdicts.max_by_key(|verdict| verdict.rung).unwrap_or(Verdict::PROCEED)
    }
}

/// A store that always panics.
struct Broken;

impl SwarmStore for Broken {
    fn record(&self, _: &Observation) -> Verdict {
        panic!("a bug of the store");
    }

    fn look(&self, _: Digest) -> Verdict {
        panic!("a bug of the store");
    }
}

fn number(many: usize) -> u32 {
    u32::try_from(many).expect("a few")
}

/// Returns the rule that finds this many calls of two workers.
fn rule(calls: u32) -> Rule {
    Rule::default().calls(calls).check().expect("a rule")
}

/// Creates a guard of the worker `name` with that store. Between the calls under test it makes others,
/// so that its own rules find no loop.
fn worker(name: &str, store: &Arc<Counting>) -> Guard {
    on(store.clone()).worker(name).build().expect("a guard")
}

fn on(store: Arc<dyn SwarmStore>) -> Builder {
    Guard::builder().swarm(store)
}

/// Makes the call of `tool` with `args`, if it may run, with that result. Returns the decisions before
/// and after it.
fn make(guard: &mut Guard, tool: &str, args: &str, result: (&str, bool)) -> [Decision; 2] {
    let before = guard.before(tool, args);
    let after = if before.is_blocked() {
        before.clone()
    } else {
        guard.after(before.ticket(), result.0, result.1)
    };
    [before, after]
}

/// Makes the call that fails for all workers. Returns the stronger action.
fn fail(guard: &mut Guard) -> Action {
    let error = "make: *** No rule to make target 'all'.";
    let decided = make(guard, "bash", ARGS, (error, true));
    decided.iter().map(Decision::action).max().unwrap_or_default()
}

/// Makes calls that no other worker makes, so that no rule of its own joins the calls around them.
fn stroll(guard: &mut Guard, from: u32) {
    for n in from..from + 6 {
        let args = format!("[\"{}\",{n}]", guard.worker());
        let decided = make(guard, "note", &args, (&format!("noted {n}"), false));
        assert_eq!(decided.map(|decision| decision.judged()), [Proceed; 2]);
    }
}

#[test]
fn workers_that_are_stuck_together_hear_of_each_rung_once() {
    let store = Counting::new(rule(2));
    let mut workers = ["a", "b", "c"].map(|name| worker(name, &store));
    let mut said = Vec::new();
    for n in 0..3 {
        for (guard, name) in workers.iter_mut().zip("abc".chars()) {
            said.push((name, fail(guard)));
            stroll(guard, 100 * n);
        }
    }
    let first = [('a', Proceed), ('b', Nudge), ('c', Nudge)];
    let second = [('a', Warn), ('b', Warn), ('c', Block)];
    let third = [('a', Block), ('b', Block), ('c', Block)];
    assert_eq!(said, [first, second, third].concat());
    assert_eq!(store.reported().iter().filter(|one| one.tool == Tool::named("bash")).count(), 8);
    // Another call is in no loop.
    assert_eq!(workers[2].before("bash", r#"{"command":"ls"}"#).judged(), Proceed);
}

#[test]
fn a_rung_has_one_message_and_one_that_was_drowned_out_comes_later() {
    let store = Counting::new(rule(3));
    let (mut one, mut other) = (worker("a", &store), worker("b", &store));
    assert_eq!([fail(&mut one), fail(&mut one)], [Proceed; 2]);
    let [_, after] =
        make(&mut other, "bash", ARGS, ("make: *** No rule to make target 'all'.", true));
    assert_eq!(after.evidence().map(|found| (found.rule, found.workers)), Some(("swarm", 2)));
    // Now the message is about its own third call in a row.
    let [_, after] =
        make(&mut one, "bash", ARGS, ("make: *** No rule to make target 'all'.", true));
    assert_eq!(after.evidence().map(|found| (found.rule, found.workers)), Some(("same-effect", 1)));
    // Its own failures are then too far back for a rule of its own.
    stroll(&mut one, 0);
    stroll(&mut one, 6);
    let heard = |guard: &mut Guard| {
        let error = "make: *** No rule to make target 'all'.";
        let [_, after] = make(guard, "bash", ARGS, (error, true));
        after.message().map(ToString::to_string).unwrap_or_default()
    };
    let said = heard(&mut one);
    assert!(said.starts_with("2 workers have made the same `bash` call 5 times"), "{said}");
    assert!(heard(&mut other).contains("6 times"), "the second rung");
    stroll(&mut other, 0);
    assert_eq!(heard(&mut other), "", "it knows");
}

#[test]
fn every_message_of_a_swarm_reads_well() {
    let store = Counting::new(rule(2).strongest(Stop));
    let mut workers = ["a", "b"].map(|name| worker(name, &store));
    let mut said = Vec::new();
    for n in 0..5 {
        for guard in &mut workers {
            let decided = make(guard, "read_file", r#"{"path":"TODO"}"#, ("nothing", false));
            let found = decided[1].evidence().map(ToString::to_string);
            said.extend(found.into_iter().zip(decided[1].message().map(unstuck::Message::note)));
            stroll(guard, 100 * n);
        }
    }
    let said: Vec<_> = said.into_iter().map(|(found, note)| format!("{found}\n{note}")).collect();
    insta::assert_snapshot!(said.join("\n\n"));
}

#[test]
fn an_agent_that_insists_is_stopped() {
    let store = Counting::new(rule(2));
    let mut workers = ["a", "b", "c", "d", "e", "f"].map(|name| worker(name, &store));
    let first: Vec<_> = workers.iter_mut().map(fail).collect();
    assert_eq!(first, [Proceed, Nudge, Nudge, Warn, Warn, Block]);
    let [.., last] = &mut workers;
    let mut refused = Vec::new();
    for n in 0..BLOCKS_MAX {
        stroll(last, 100 * u32::from(n));
        refused.push(fail(last));
    }
    assert_eq!(refused, [Block, Block, Block, Block, Stop]);
    assert_eq!(fail(last), Stop, "it stays refused");
}

#[test]
fn a_look_up_blocks_the_first_call_of_a_worker() {
    let store = Counting::new(rule(2).strongest(Stop));
    let looking = || on(Arc::new(Looking(Arc::clone(&store))));
    let mut others =
        [1, 2, 3, 4].map(|n: u8| looking().worker(&n.to_string()).build().expect("one"));
    for n in 0..2 {
        for guard in &mut others {
            let _ = fail(guard);
            stroll(guard, 100 * n);
        }
    }
    let mut late = looking().worker("late").build().expect("a guard");
    let before = late.before("bash", ARGS);
    assert_eq!(before.action(), Block, "who has not made the call is not stopped");
    assert!(before.refusal().contains("4 workers have made the same `bash` call"), "{before:?}");
    // The written file may be the missing one, so that it may try.
    let makefile = r#"{"path":"Makefile","content":"all:"}"#;
    let [_, wrote] = make(&mut late, "write_file", makefile, ("written", false));
    assert_eq!((wrote.judged(), late.before("bash", ARGS).action()), (Proceed, Proceed));
}

#[test]
fn a_user_message_lifts_a_block_until_the_store_answers() {
    let store = Counting::new(rule(2));
    let looking = || on(Arc::new(Looking(Arc::clone(&store))));
    let mut workers = ["a", "b"].map(|name| looking().worker(name).build().expect("a guard"));
    for n in 0..3 {
        for guard in &mut workers {
            let _ = fail(guard);
            stroll(guard, 100 * n);
        }
    }
    let [_, blocked] = &mut workers;
    assert_eq!(blocked.before("bash", ARGS).action(), Block);
    let _ = blocked.user_message("There is a Makefile now.");
    stroll(blocked, 300);
    let [before, after] = make(blocked, "bash", ARGS, ("Nothing to be done for 'all'.", false));
    assert_eq!([before.action(), after.action()], [Proceed; 2]);
    let [before, after] =
        make(blocked, "bash", ARGS, ("make: *** No rule to make target 'all'.", true));
    assert_eq!([before.action(), after.action()], [Proceed, Block], "they are stuck all the same");
    assert_eq!(blocked.before("bash", ARGS).action(), Block);
}

#[test]
fn what_was_said_is_part_of_a_checkpoint() {
    let store = Counting::new(rule(2));
    let (mut one, mut other) = (worker("a", &store), worker("b", &store));
    let mut said = Vec::new();
    for n in 0..3 {
        for guard in [&mut one, &mut other] {
            let before = guard.before("bash", ARGS);
            // A process for each event, as hooks are.
            let builder = on(Arc::clone(&store) as Arc<dyn SwarmStore>).worker(guard.worker());
            *guard = builder.restore(&guard.save()).expect("what was just written");
            let error = "make: *** No rule to make target 'all'.";
            let after = guard.after(before.ticket(), error, true);
            said.push((before.action(), after.action()));
            stroll(guard, 100 * n);
        }
    }
    let last = [(Proceed, Warn), (Proceed, Warn), (Proceed, Block)];
    assert_eq!(
        said,
        [&[(Proceed, Proceed), (Proceed, Nudge), (Proceed, Nudge)], &last[..]].concat()
    );
    let builder = || Guard::builder().worker("b");
    let bytes = other.save();
    let mut with = builder().swarm(store).restore(&bytes).expect("a checkpoint");
    let mut without = builder().restore(&bytes).expect("a checkpoint");
    assert_eq!(with.before("bash", ARGS).action(), Block);
    assert_eq!(without.before("bash", ARGS).action(), Proceed, "who left the swarm is free");
}

#[test]
fn the_host_is_asked_and_may_overrule() {
    for (ruling, expected) in [
        (Ruling::Agree, [Nudge, Warn, Block, Block]),
        (Ruling::Instead(Proceed), [Proceed; 4]),
        (Ruling::Instead(Warn), [Warn; 4]),
        (Ruling::FalsePositive, [Proceed; 4]),
    ] {
        let store = Counting::new(rule(2));
        let asked = Arc::new(Mutex::new(0));
        let count = Arc::clone(&asked);
        let judge = move |found: &unstuck::Evidence| {
            assert!(found.is_of_swarm(), "{found}");
            *count.lock().expect("nobody panicked") += 1;
            ruling
        };
        let mut guard = on(store.clone()).on_finding(judge).build().expect("a guard");
        let mut other = worker("other", &store);
        let mut said = Vec::new();
        for n in 0..4 {
            let _ = fail(&mut other);
            stroll(&mut other, 100 * n);
            said.push(fail(&mut guard));
            stroll(&mut guard, 100 * n);
        }
        assert_eq!(said, expected, "{ruling:?}");
        let times = if ruling == Ruling::FalsePositive { 1 } else { said.len() };
        assert!((times..=times + 1).contains(&*asked.lock().expect("nobody panicked")));
    }
}

#[test]
fn who_only_observes_is_counted_and_who_is_off_is_not() {
    let store = Counting::new(rule(2));
    let observer = || on(store.clone()).observe_only();
    let mut observers = ["a", "b"].map(|name| observer().worker(name).build().expect("one"));
    let mut judged = Vec::new();
    for n in 0..3 {
        for guard in &mut observers {
            let [before, after] = make(guard, "bash", ARGS, ("no", true));
            assert_eq!(
                (before.action(), after.action(), after.message()),
                (Proceed, Proceed, None)
            );
            judged.push(before.judged().max(after.judged()));
            stroll(guard, 100 * n);
        }
    }
    assert_eq!(judged, [Proceed, Nudge, Nudge, Warn, Warn, Block]);
    let mut unheard = observer().without_outcomes().worker("c").build().expect("a guard");
    for n in 0..9 {
        let before = store.reported().len();
        assert_eq!(unheard.before("bash", ARGS).action(), Proceed);
        assert_eq!(store.reported().len(), before + 1, "call {n} is made, whatever is found");
    }
    let reported = store.reported().len();
    let mut off = on(store.clone()).off().build().expect("a guard");
    assert_eq!((fail(&mut off), store.reported().len()), (Proceed, reported));
}

#[test]
fn only_calls_that_ended_and_may_be_a_loop_are_reported() {
    let store = Counting::new(rule(100));
    let exempt = ToolRule::new(Tool::named("screenshot")).exempt();
    let poll = ToolRule::new(Tool::named("job")).poll();
    let guard = on(store.clone()).tool(exempt).tool(poll);
    let mut guard = guard.session("s").worker("w").build().expect("a guard");
    for tool in ["think", "screenshot", "job", "job_status", "finish", "bash"] {
        let _ = make(&mut guard, tool, "{}", ("as ever", false));
    }
    let [cancelled, refused, lost] = [1, 2, 3].map(|n| guard.before("bash", format!("[{n}]")));
    let _ = (guard.cancelled(cancelled.ticket()), guard.refused(refused.ticket()));
    let twice = guard.before("bash", "[4]").ticket();
    let _ = (guard.after(twice, "once", false), guard.after(twice, "once", false), lost);
    let seen_late = Asked::new("bash", "[5]").id("late");
    let _ = (guard.finished(&seen_late, "5", true), guard.finished(&seen_late, "5", true));
    let reported = store.reported();
    assert!(
        reported
            .iter()
            .all(|one| one.tool == Tool::named("bash") && one.worker == reported[0].worker)
    );
    let failed: Vec<_> =
        reported.iter().map(|one| one.result.map(|result| result.failed)).collect();
    assert_eq!(failed, [Some(false), Some(false), Some(true)]);
    let calls: BTreeSet<_> = reported.iter().map(|one| one.call).collect();
    assert_eq!(calls.len(), 3);
    for (session, worker) in [("s", "v"), ("t", "w"), ("w", "s")] {
        let _ = make(&mut guard.begin(session, worker), "bash", "{}", ("as ever", false));
    }
    let workers: BTreeMap<_, _> =
        store.reported().iter().map(|one| (one.worker, one.call)).collect();
    assert_eq!(workers.len(), 4);
}

#[test]
fn who_looks_again_after_a_change_is_not_stuck() {
    let store = Counting::new(rule(100));
    let mut guard = worker("a", &store);
    let runs = |store: &Counting| {
        store.reported().iter().filter(|one| one.tool == Tool::named("bash")).count()
    };
    let mut reported = Vec::new();
    for (edit, result) in [
        (None, ("ok", false)),
        (Some("1"), ("ok", false)),
        (Some("2"), ("ok", false)),
        // The same edit once more is no novel write.
        (Some("2"), ("ok", false)),
        (Some("3"), ("error: it fails", true)),
        (None, ("ok", false)),
    ] {
        if let Some(edit) = edit {
            let _ = make(&mut guard, "write_file", edit, ("written", false));
        }
        let before = runs(&store);
        let _ = make(&mut guard, "bash", r#"{"command":"make"}"#, result);
        reported.push(runs(&store) > before);
    }
    assert_eq!(reported, [true, false, false, true, true, true]);
}

#[test]
fn without_outcomes_calls_are_reported_before_they_run() {
    let store = Counting::new(rule(2));
    let guard = |name| on(store.clone()).without_outcomes().worker(name).build().expect("a guard");
    let (mut one, mut other) = (guard("a"), guard("b"));
    let mut said = Vec::new();
    for n in 0..4 {
        for guard in [&mut one, &mut other] {
            said.push(guard.before("bash", ARGS).action());
            for call in 0..6 {
                let _ = guard.before("note", format!("[{n},{call}]"));
            }
        }
    }
    assert_eq!(said, [Proceed, Nudge, Nudge, Warn, Warn, Block, Block, Block]);
    let reported = store.reported();
    assert!(reported.iter().all(|one| one.result.is_none()));
    assert_eq!(reported.iter().filter(|one| one.tool == Tool::named("bash")).count(), 7);
}

#[test]
fn a_store_that_panics_takes_no_worker_down() {
    let mut guard = on(Arc::new(Broken)).build().expect("a guard");
    let alone = super::actions(&mut Guard::new(), 8);
    assert_eq!(super::actions(&mut guard, 8), alone);
}

/// An event: the call, its ending, and whether the guard is restored before that.
type Happening = (u8, u8, bool);

fn go_on(guard: &mut Guard, (call, end, _): Happening) -> (Action, Action, String) {
    let tool = ["bash", "write_file", "read_file", "think"][usize::from(call % 4)];
    let before = guard.before(tool, format!("[{}]", call / 4));
    let after = match end {
        0..=4 => guard.after(before.ticket(), ["no", "ok"][usize::from(end % 2)], end % 3 == 0),
        5 => guard.refused(before.ticket()),
        6 => guard.cancelled(before.ticket()),
        _ => before.clone(),
    };
    let message = after.message().or(before.message()).map(ToString::to_string);
    (before.judged(), after.judged(), message.unwrap_or_default())
}

proptest! {
    #[test]
    fn a_store_without_findings_changes_no_decision(
        happenings in vec((0..8_u8, 0..8_u8, any::<bool>()), 0..40),
    ) {
        let store = Counting::new(rule(1000));
        let builder = || on(store.clone() as Arc<dyn SwarmStore>);
        let (mut alone, mut among) = (Guard::new(), builder().build().expect("a guard"));
        for happening in happenings {
            if happening.2 {
                among = builder().restore(&among.save()).expect("what was just written");
            }
            prop_assert_eq!(go_on(&mut alone, happening), go_on(&mut among, happening));
        }
        prop_assert_eq!(alone.statistics(), among.statistics());
    }
}
