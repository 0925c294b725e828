//! Workers that share a store: the calls that are reported, and the messages about them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use proptest::collection::vec;
use proptest::prelude::*;
use unstuck::Action::{Block, Nudge, Proceed, Stop, Warn};
use unstuck::{Action, Asked, Builder, Decision, Guard, Ruling, SwarmStore, Tool, ToolRule};
use unstuck_swarm::{
    Allowance, CallResult, Counts, Digest, Finding, Key, LoopId, Observation, Outcome, Rule,
    Verdict, Worker,
};

use super::ARGS;

/// A store that counts without a limit and remembers the observations.
pub(super) struct Counting {
    rule: Rule,
    reported: Mutex<Vec<Observation>>,
}

impl Counting {
    pub(super) fn new(rule: Rule) -> Arc<Self> {
        Arc::new(Self { rule, reported: Mutex::default() })
    }

    pub(super) fn reported(&self) -> Vec<Observation> {
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
pub(super) struct Looking(pub(super) Arc<Counting>);

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
pub(super) fn rule(calls: u32) -> Rule {
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
