//! Tries to break: a policy that cannot work is an error, and on any other the engine says of
//! every event what the oracle says, whatever the capacity of its window, and whether or not it is
//! saved and restored before every event.

#![no_main]

#[path = "../../core/tests/oracle/model.rs"]
mod model;
#[path = "../../core/tests/oracle/pair.rs"]
mod pair;
mod rules;
mod stream;

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use unstuck_core::{Detector, Policy};

use pair::Pair;

fuzz_target!(|bytes: &[u8]| {
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
});

/// Gives both detectors the events; a policy whose window is longer than `W` must be refused.
fn compare<const W: usize>(policy: &Policy<'_>, events: &[u8]) {
    let fits = usize::from(policy.window()) <= W;
    assert_eq!(Detector::<W>::new(policy).is_ok(), fits, "{policy:?}");
    if !fits {
        return;
    }
    let pair: Pair<'_, W> = Pair::new(policy);
    for mut pair in [pair.clone(), pair.restored()] {
        if let Err(difference) = stream::replay(events, &mut pair, |_, _| Ok(())) {
            panic!("{difference}\nby {policy:#?}\nwith a capacity of {W}");
        }
    }
}
