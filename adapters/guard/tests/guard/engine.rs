//! The guard agrees with the engine: it adds names and words, and changes no verdict.

use proptest::collection::vec;
use proptest::prelude::*;
use unstuck::{Action, Asked, Guard};
use unstuck_core::{CallId, Detector};
use unstuck_text::{PRESETS, SimilarCalls};

/// An event: the tool, the arguments, whether it begins a step, and the result.
type Happening = (u8, u8, bool, u8);

const TOOLS: [&str; 3] = ["bash", "read_file", "check_status"];
const RESULTS: [&str; 4] = ["no", "ok", "", "3 failed, 2 passed"];

proptest! {
    #[test]
    fn a_guard_judges_as_the_engine_does(
        happenings in vec((0..3_u8, 0..3_u8, prop::bool::weighted(0.8), 0..6_u8), 0..60),
    ) {
        for preset in &PRESETS {
            // An observer blocks no call.
            let guard = Guard::builder().preset(preset).observe_only();
            let mut guard = guard.build().expect("a guard");
            let mut engine: Detector<'_, 64, 32> = Detector::new(preset.policy).expect("it fits");
            let (mut groups, mut step) = (SimilarCalls::new(), 0);
            for &(tool, args, alone, result) in &happenings as &[Happening] {
                step += u64::from(alone);
                let (tool, args) = (TOOLS[usize::from(tool)], format!("[{args}]"));
                let decision = guard.announce(&Asked::new(tool, &args).step(step));
                let call = preset.recipe.call_among(&mut groups, tool, &args).step(step);
                let announced = engine.announce(call);
                let expected = announced.verdict.or_stronger(announced.settled);
                prop_assert_eq!(decision.judged(), expected.action);
                forget(expected.action, &mut groups);
                let Some(result) = RESULTS.get(usize::from(result)) else { continue };
                let outcome = preset.recipe.outcome(tool, result, args.contains('1'));
                let verdict = engine.outcome(announced.id, outcome);
                let ticket = decision.ticket().expect("a call has a ticket");
                let after = guard.after(ticket, *result, args.contains('1'));
                prop_assert_eq!(after.judged(), verdict.action);
                prop_assert_eq!(after.evidence().map(|found| found.finding), verdict.finding);
                forget(verdict.action, &mut groups);
            }
            prop_assert_eq!(guard.statistics(), engine.statistics());
        }
    }
}

/// An event that clears the engine's history clears the groups of similar calls, too.
fn forget(action: Action, groups: &mut SimilarCalls) {
    if action >= Action::StartOver {
        groups.clear();
    }
}

/// Checks that a guard can move between threads.
const fn goes_anywhere<T: Send + Sync + Clone + 'static>() {}
const _: () = goes_anywhere::<Guard>();

#[test]
fn exempt_calls_are_not_recorded() {
    let mut guard = Guard::builder().named("start_over").expect("a preset").build().expect("one");
    for _ in 0..9 {
        let before = guard.before("think", "{}");
        let ticket = before.ticket().expect("each call has a ticket");
        assert_eq!(guard.after(ticket, "hm", false).action(), Action::Proceed);
    }
    let mut engine: Detector<'_, 20> = Detector::new(PRESETS[1].policy).expect("it fits");
    let id: CallId = engine.announce(PRESETS[1].recipe.call("think", "{}")).id;
    assert_eq!(id.seq(), None);
}
