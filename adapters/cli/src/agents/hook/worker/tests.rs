//! Tests of a worker, as an agent sees it: events and the texts that answer them.

use unstuck::{Budget, Builder, Limits, Preset};
use unstuck_report::cost::Prices;

use super::*;
use crate::agents::Agent;
use crate::agents::event::{Call, Ending, Listed, Raw};
use crate::agents::hook::read::{End, ReadCall};
use crate::agents::state::Folder;

impl Worker {
    /// Reads an event of this kind and takes it in.
    fn take(&mut self, kind: EventKind<'static>, now: u64) -> String {
        self.now = now;
        let name = if matches!(kind, EventKind::After(..)) { "PostToolUse" } else { "PreToolUse" };
        let (session, subagent, turn) = ("s".into(), None, None);
        let (name, cwd, model, transcript) = (name.into(), None, None, None);
        let event = Event { name, session, subagent, cwd, model, transcript, turn, kind };
        self.answer(&ReadEvent::of(Agent::ALL[0], &event, b"", &Preset::BALANCED.recipe))
    }
}

fn key() -> Key<'static> {
    Key { agent: Agent::ALL[0], session: "s", worker: "main" }
}

/// A worker of an agent that does not tell which calls were issued together.
fn worker() -> Worker {
    let worker = Worker::from(None, Guard::builder, &key(), 0).expect("a guard");
    Worker { steps: Steps::Guessed, ..worker }
}

fn call(id: &'static str, args: &'static str) -> Call<'static> {
    Call { id: Some(id.into()), tool: "read".into(), args: args.into() }
}

fn failed(text: &'static str) -> Ending<'static> {
    Ending::Answered { text: text.into(), failed: true }
}

/// Announces these calls at these times. Returns their steps.
fn steps(calls: &[(&'static str, u64)]) -> Vec<u64> {
    let mut worker = worker();
    let step = |&(id, at): &(&'static str, u64)| {
        worker.take(EventKind::Before(call(id, "{}")), at);
        worker.position.step
    };
    calls.iter().map(step).collect()
}

#[test]
fn pitfall_08_calls_that_come_at_once_share_a_step() {
    assert_eq!(steps(&[("a", 5000), ("b", 5001), ("c", 5500)]), [1, 1, 1]);
    // Nothing came back of the first, and a model has thought since.
    assert_eq!(steps(&[("a", 5000), ("b", 5000 + calls::TOGETHER), ("c", 9000)]), [1, 2, 3]);
    // Nor do they share one after the clock was set back.
    assert_eq!(steps(&[("a", 9000), ("b", 5000), ("c", 6000), ("d", 6001)]), [1, 2, 3, 3]);
}

#[test]
fn pitfall_08_calls_that_run_one_after_the_other_may_share_a_step() {
    let numbers = |steps: Steps, transcript: &str| {
        let mut worker = Worker { steps, ..worker() };
        worker.now = 1;
        worker.step_ended(&[]);
        let mut one = |id| {
            let asked = || call(id, r#"{"path":"a"}"#);
            worker.before(&ReadCall::of(&asked()), Some(Path::new(transcript)), true);
            worker.after(&ReadCall::of(&asked()), &End::of(&failed("no such file")));
            worker.position.step
        };
        ["a", "b", "c"].map(&mut one)
    };
    let shown = Steps::Transcribed(|path, _| Some(path == Path::new("open")));
    assert_eq!(numbers(Steps::Guessed, "open"), [1, 2, 3]);
    assert_eq!(numbers(Steps::Reported(|_, _| None), "closed"), [1, 1, 1]);
    assert_eq!(numbers(shown, "closed"), [1, 2, 3]);
    assert_eq!(numbers(shown, "open"), [1, 1, 1]);
}

#[test]
fn a_batch_tells_of_calls_without_an_event_of_their_own() {
    fn no_match(_: Raw<'_>) -> Ending<'_> {
        failed("no match")
    }
    fn answered(_: Raw<'_>) -> Ending<'_> {
        Ending::Answered { text: "not today".into(), failed: false }
    }
    fn unread(_: Raw<'_>) -> Ending<'_> {
        unreachable!("the call had an event of its own")
    }
    let mut worker = worker();
    let list = |call, read| Listed { call, result: None, read };
    let mut said = Vec::new();
    for [reported, rejected, refused] in [["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]] {
        let [one, other] = [r#"{"path":"a"}"#, r#"{"path":"b"}"#];
        worker.take(EventKind::Before(call(reported, one)), 1);
        said.push(worker.take(EventKind::After(call(reported, one), failed("no match")), 1));
        worker.take(EventKind::Before(call(refused, "{}")), 1);
        let calls = vec![
            list(call(reported, one), unread as fn(Raw<'_>) -> Ending<'_>),
            list(call(rejected, other), no_match),
            list(call(refused, "{}"), answered),
        ];
        said.push(worker.take(EventKind::StepEnded(calls), 1));
    }
    assert_eq!(worker.session.calls, 9, "no call counts twice");
    assert_eq!(worker.guard.open_calls().count(), 0);
    assert!(said[..3].iter().all(String::is_empty), "{said:?}");
    assert!(said[3].contains("in circles"), "{said:?}");
}

#[test]
fn a_state_is_restored_only_for_its_own_worker() {
    let mut worker = worker();
    worker.take(EventKind::Before(call("a", "{}")), 7);
    let kept = worker.save();
    let bytes = postcard::to_stdvec(&kept).expect("a state");
    let kept = || postcard::from_bytes::<SavedWorker>(&bytes).ok();
    let same = Worker::from(kept(), Guard::builder, &key(), 8).expect("a guard");
    assert_eq!((same.session.events, same.position.replies.len()), (1, 1));
    assert!(same.guard.ticket("a").is_some());
    let other = Key { worker: "a1", ..key() };
    let other = Worker::from(kept(), Guard::builder, &other, 8).expect("a guard");
    assert_eq!((other.session.events, other.session.worker.as_str()), (0, "a1"));
}

#[test]
fn a_call_without_an_id_is_found_by_its_tool_and_arguments() {
    let mut worker = worker();
    let nameless = |args| Call { id: None, ..call("", args) };
    let mut answer = |what| worker.take(what, 1);
    let mut last = String::new();
    for _ in 0..3 {
        answer(EventKind::Before(nameless(r#"{"path":"a"}"#)));
        last = answer(EventKind::After(nameless(r#"{"path":"a"}"#), failed("no such file")));
    }
    assert!(last.contains("3 times"), "{last}");
    assert_eq!((worker.session.calls, worker.position.replies.len()), (3, 0));
}

/// Sends calls with these arguments and results to a hook whose agent ends the run after four equal calls.
/// Returns which of them it refuses.
fn refused(builder: fn() -> Builder, calls: &[(&'static str, &'static str)]) -> Vec<bool> {
    let mut worker = Worker::from(None, builder, &key(), 0).expect("a guard");
    (worker.steps, worker.equal_calls_max) = (Steps::Guessed, Some(4));
    let mut at = 0;
    let mut one = |&(args, result): &(&'static str, &'static str)| {
        at += 2000;
        let asked = || Call { id: None, tool: "run".into(), args: args.into() };
        let before = worker.take(EventKind::Before(asked()), at);
        let ending = Ending::Answered { text: result.into(), failed: result == "no" };
        if !before.contains("deny") {
            worker.take(EventKind::After(asked(), ending), at + 1);
        }
        before.contains("deny")
    };
    calls.iter().map(&mut one).collect()
}

#[test]
fn the_last_call_that_an_agent_lets_pass_is_refused_in_a_loop_only() {
    let (test, edit) = (r#"{"command":"make test"}"#, r#"{"command":"sed -i s/a/b/ a"}"#);
    let read = r#"{"command":"cat a.rs"}"#;
    for (calls, expected) in [
        (&[("{}", "no"); 6][..], &[false, false, false, true, true, true][..]),
        (&[(read, "fn a() {}"); 5], &[false, false, false, true, true]),
        // A call that works may have changed something.
        (&[("{}", "yes"); 5], &[false; 5]),
        // The result changes, or another call is between.
        (&[("{}", "1"), ("{}", "2"), ("{}", "3"), ("{}", "4"), ("{}", "5")], &[false; 5]),
        (&[("{}", "no"), ("{}", "no"), ("{}", "no"), (edit, "done"), ("{}", "no")], &[false; 5]),
        (&[(test, "ok"), (edit, "done"), (test, "ok"), (edit, "done"), (test, "ok")], &[false; 5]),
        (&[("{}", "no"), ("{}", "no"), ("{}", "yes"), ("{}", "no")], &[false; 4]),
        // A wait.
        (&[(r#"{"command":"sleep 5 && cat state"}"#, "running"); 5], &[false; 5]),
    ] {
        assert_eq!(refused(Guard::builder, calls), expected, "{calls:?}");
    }
    // A hook that only observes and a policy that only notes refuse nothing.
    assert_eq!(refused(|| Guard::builder().observe_only(), &[("{}", "no"); 5]), [false; 5]);
    let nudge = || Guard::builder().named("nudge").expect("a preset");
    assert_eq!(refused(nudge, &[("{}", "no"); 5]), [false; 5]);
}

#[test]
fn only_so_many_replies_are_stored() {
    let mut worker = worker();
    for n in 0..calls::REPLIES_MAX + 3 {
        let mut asked = call("", "{}");
        asked.id = Some(n.to_string().into());
        worker.take(EventKind::Before(asked), 0);
    }
    assert_eq!(worker.position.replies.len(), calls::REPLIES_MAX);
    assert_eq!(worker.position.replies[0].id, "3");
}

#[test]
fn the_minutes_of_a_budget_are_those_of_the_agent() {
    let (_around, folder) = Folder::temporary();
    let turn = Limits { minutes: Some(10), ..Limits::default() };
    let session = Limits { minutes: Some(20), ..Limits::default() };
    let budget = Budget { turn, session, ..Budget::default() };
    // Each event is a process of its own.
    let tell = |kind, minute: u64| {
        let now = minute * 60_000;
        let spending = Spending::open(&folder, &key(), budget, &Prices::default(), now, |_| ())
            .expect("a file");
        let mut worker = Worker { spending: Some(spending), ..worker() };
        let text = worker.take(kind, now);
        worker.keep_spending().expect("a file");
        let note = text.split_once("[unstuck] ").map(|(_, note)| note.split(" are").next());
        note.flatten().map(str::to_owned)
    };
    let answered = |id: &'static str, minute| {
        let ending = Ending::Answered { text: id.into(), failed: false };
        tell(EventKind::After(call(id, "{}"), ending), minute)
    };
    assert_eq!(tell(EventKind::Prompt("go".into()), 100), None);
    assert_eq!(answered("a", 107), None);
    assert_eq!(answered("b", 108).as_deref(), Some("8 of 10 minutes of this turn"));
    // The user thinks for two hours.
    assert_eq!(tell(EventKind::Prompt("go on".into()), 228), None);
    assert_eq!(answered("c", 235), None);
    assert_eq!(answered("d", 236).as_deref(), Some("8 of 10 minutes of this turn"));
}
