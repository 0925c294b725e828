//! Someone else looks at a loop before it is refused.

use proptest::collection::vec;
use proptest::prelude::*;
use unstuck::{Action, Builder, Decision, Guard};
use unstuck_text::PRESETS;

use super::{ARGS, fail};

fn escalating(times: u8) -> Guard {
    Guard::builder().escalate(times).build().expect("a guard")
}

/// Makes `calls` equal failing calls. Returns the decisions before and after them, in order.
fn decisions(guard: &mut Guard, args: &str, calls: usize) -> Vec<Decision> {
    let decided = (0..calls).map(|_| fail(guard, args));
    decided.flat_map(|(before, after)| [Some(before), after]).flatten().collect()
}

fn escalations(decisions: &[Decision]) -> Vec<&Decision> {
    decisions.iter().filter(|decision| decision.escalates()).collect()
}

#[test]
fn by_default_nobody_is_asked() {
    let decisions = decisions(&mut Guard::new(), ARGS, 9);
    assert!(escalations(&decisions).is_empty());
    assert!(decisions.iter().all(|decision| decision.question().is_none()));
}

#[test]
fn a_loop_escalates_once_where_it_is_blocked_first() {
    let decisions = decisions(&mut escalating(2), ARGS, 9);
    let [escalation] = escalations(&decisions)[..] else { panic!("one loop") };
    // The fifth call has run, and the sixth is refused.
    assert_eq!(decisions.iter().position(Decision::escalates), Some(9));
    assert_eq!(escalation.action(), Action::Block);
    assert_eq!(
        escalation.question().expect("a question"),
        "[unstuck] The model that works here is stuck, and you take its next turn. It was told: You have \
         made the same `bash` call 5 times in a row, and it fails in the same way each time. Write \
         down what you know and what you need, then take a smaller step or ask the user. The call \
         is blocked from here on: do not retry it. What would you do instead?"
    );
}

#[test]
fn a_guard_escalates_as_often_as_it_may() {
    for times in [0, 1, 2, 3] {
        let mut guard = escalating(times);
        let mut found = 0;
        for target in 0..5 {
            guard.clear();
            let args = format!(r#"{{"command":"make {target}"}}"#);
            found += escalations(&decisions(&mut guard, &args, 9)).len();
        }
        assert_eq!(found, usize::from(times));
    }
}

#[test]
fn a_host_without_outcomes_asks_at_the_first_refusal() {
    let builder = Guard::builder().named("nudge").expect("a preset").without_outcomes();
    let mut guard = builder.escalate(1).build().expect("a guard");
    let asked: Vec<_> = (0..20).map(|_| guard.before("bash", ARGS)).collect();
    let blocked = asked.iter().position(Decision::is_blocked);
    assert_eq!(asked.iter().position(Decision::escalates), blocked);
}

#[test]
fn a_guard_that_observes_asks_nobody() {
    let mut guard = Guard::builder().observe_only().escalate(2).build().expect("a guard");
    assert!(escalations(&decisions(&mut guard, ARGS, 9)).is_empty());
}

#[test]
fn somebody_may_say_that_the_loop_is_none_or_end_the_run() {
    let found = |guard: &mut Guard| {
        let decisions = decisions(guard, ARGS, 5);
        escalations(&decisions)[0].evidence().expect("a loop").clone()
    };
    let mut guard = escalating(2);
    let id = found(&mut guard).finding.loop_id;
    guard.silence(id);
    assert!(decisions(&mut guard, ARGS, 9).iter().all(|one| one.action() == Action::Proceed));

    let mut guard = escalating(2);
    let evidence = found(&mut guard);
    let stopped = guard.stop(&evidence);
    assert_eq!((stopped.action(), stopped.escalates()), (Action::Stop, false));
    assert!(stopped.message().expect("a reason").text().ends_with("The run ends here."));
    // As after any stop, the call stays refused.
    assert_eq!(guard.before("bash", ARGS).action(), Action::Stop);
}

#[test]
fn a_restored_guard_knows_how_often_it_escalated() {
    let mut guard = escalating(1);
    let _ = decisions(&mut guard, ARGS, 5);
    let saved = guard.save();
    let mut restored = Guard::builder().escalate(1).restore(&saved).expect("a checkpoint");
    assert_eq!(restored.save(), saved);
    restored.clear();
    assert!(escalations(&decisions(&mut restored, "{}", 9)).is_empty());
    // A guard that has asked nobody writes what it always wrote.
    let (mut asking, mut other) = (escalating(1), Guard::new());
    let _ = (decisions(&mut asking, ARGS, 4), decisions(&mut other, ARGS, 4));
    assert_eq!(asking.save(), other.save());
}

proptest! {
    #[test]
    fn no_action_and_no_message_changes(
        preset in 0..PRESETS.len(),
        calls in vec((0..3_u8, any::<bool>()), 0..60),
    ) {
        let build = |builder: Builder| builder.preset(&PRESETS[preset]).build().expect("a guard");
        let mut guards = [Guard::builder(), Guard::builder().escalate(2)].map(build);
        let mut escalations = 0;
        for (target, failed) in calls {
            let args = format!(r#"{{"command":"make {target}"}}"#);
            let decided = guards.each_mut().map(|guard| {
                let before = guard.before("bash", &args);
                let after = guard.after(before.ticket(), "no rule", failed);
                [before, after]
            });
            let [plain, asking] = decided.each_ref().map(|both| {
                both.each_ref().map(|one| (one.judged(), one.message().cloned()))
            });
            prop_assert_eq!(plain, asking);
            let asked = decided[1].iter().filter(|one| one.escalates());
            for decision in asked {
                escalations += 1;
                prop_assert_eq!(decision.action(), Action::Block);
            }
        }
        prop_assert!(escalations <= 2);
    }
}
