//! A false claim that the fuzzer must break within seconds: an oracle that overlooks the longest period of
//! a cycle rule is right. It uses the events and the comparison of the target `engine`. If the fuzzer does
//! not find this, a clean run of that target proves nothing.

use unstuck_core::{Action, Args, Ladder, Pattern, Policy, Results, Rule, Rung};

use crate::model::Model;
use crate::pair::Pair;
use crate::stream;

/// Makes a run from the bytes, as `engine` does.
///
/// # Panics
///
/// Panics if the oracle overlooks a period.
pub fn check(bytes: &[u8]) {
    let [right, wrong] = [[rule(PERIOD_MAX)], [rule(PERIOD_MAX - 1)]];
    let [right, wrong] = [&right, &wrong].map(|rules| Policy::new("canary", 12, rules));
    let (Ok(right), Ok(wrong)) = (right, wrong) else { return };
    let mut pair = Pair::<'_, 12>::new(&right).thorough();
    let mut planted = Model::new(&wrong, 12);
    let agreed = stream::replay(bytes, &mut pair, |event, said| {
        let (wrong, settled) = planted.take(event);
        let wrong = wrong.strongest(settled);
        if said == wrong { Ok(()) } else { Err(format!("{FOUND}: {said:?} is not {wrong:?}")) }
    });
    if let Err(difference) = agreed {
        panic!("{difference}");
    }
}

/// The start of the message if the planted bug is found. `cargo xtask fuzz` looks for it.
const FOUND: &str = "canary: found the planted bug";

/// Two laps are eight calls in the right order, with the same results.
const PERIOD_MAX: u8 = 4;

const fn rule(period_max: u8) -> Rule<'static> {
    const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Nudge)]);
    Rule::new("cycle", Args::Same, Results::Same, Pattern::cycle(2, period_max, 2), LADDER)
}
