//! Claim: an invalid policy is an error. For any other policy the engine and the oracle agree on every
//! event, for any capacity of the window, also if the engine is saved and restored before every event.

use arbitrary::Unstructured;
use unstuck_core::{Detector, Policy};

use crate::pair::Pair;
use crate::{rules, stream};

/// Makes a policy from the first bytes, and a run from the others.
///
/// # Panics
///
/// Panics if the two differ, or an invalid policy is accepted.
pub fn check(bytes: &[u8]) {
    let mut bytes = Unstructured::new(bytes);
    let Ok(draft) = rules::Draft::new(&mut bytes) else { return };
    let events = bytes.take_rest();
    draft.with_policy(|policy| match policy {
        Err(error) => assert!(error.to_string().starts_with("policy `fuzzed`"), "{error}"),
        Ok(policy) => {
            compare::<12>(&policy, events);
            compare::<64>(&policy, events);
        }
    });
}

/// Passes the events to both detectors. A policy whose window is longer than `W` must be refused.
fn compare<const W: usize>(policy: &Policy<'_>, events: &[u8]) {
    let fits = usize::from(policy.window()) <= W;
    assert_eq!(Detector::<W>::new(policy).is_ok(), fits, "{policy:?}");
    if !fits {
        return;
    }
    let pair: Pair<'_, W> = Pair::new(policy);
    for mut pair in [pair.clone(), pair.thorough()] {
        if let Err(difference) = stream::replay(events, &mut pair, |_, _| Ok(())) {
            panic!("{difference}\nby {policy:#?}\nwith a capacity of {W}");
        }
    }
}
