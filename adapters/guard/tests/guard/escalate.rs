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
