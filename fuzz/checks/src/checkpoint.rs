//! Claim: any bytes are refused as a checkpoint, or restore a detector that works.

use arbitrary::Unstructured;
use unstuck_core::{Call, Detector, Digest, Outcome, Policy, Tool};

use crate::rules;

/// Makes a policy from the first bytes, and a checkpoint from the others.
///
/// # Panics
///
/// Panics if a restored detector does not work, or cannot be saved and restored again.
pub fn check(bytes: &[u8]) {
    let mut bytes = Unstructured::new(bytes);
    let Ok(draft) = rules::Draft::new(&mut bytes) else { return };
    let rest = bytes.take_rest();
    draft.with_policy(|policy| {
        let Ok(policy) = policy else { return };
        if Detector::<20>::new(&policy).is_ok() {
            restore(&policy, rest);
        }
    });
}

/// A tool that no policy mentions.
const UNNAMED: Tool = Tool::new(9);

/// The highest number of calls of a detector that can be restored. Only a forged checkpoint has more.
const SEQ_MAX: u64 = (u64::MAX >> 1) - 1;

/// Uses the bytes as the part of a checkpoint after its rules.
fn restore(policy: &Policy<'_>, bytes: &[u8]) {
    let fresh: Detector<'_, 20> = Detector::new(policy).expect("it was made before");
    let mut buffer = [0; Detector::<20>::CHECKPOINT_MAX];
    let start = &fresh.save(&mut buffer).expect("the room is enough")[..17];
    let mut bytes = [start, bytes].concat();
    let sum = Digest::of(&bytes).bits();
    bytes.extend(&(sum ^ sum >> 32).to_le_bytes()[..4]);
    let Ok(mut detector) = Detector::<20>::restore(policy, &bytes) else { return };
    for n in 0..40_u8 {
        let call = Call::new(Tool::new(u32::from(n % 3)), Digest::of(&[n % 4]));
        let announced = detector.announce(call.step(u64::from(n / 3)));
        assert!(detector.nearness().all(|near| near.held <= near.needed));
        match n % 7 {
            0 => drop(detector.retry(usize::from(n % 4))),
            1 => drop(detector.cancel(announced.id)),
            _ => drop(detector.outcome(announced.id, Outcome::failed(Digest::of(&[n % 2])))),
        }
    }
    let mut buffer = [0; Detector::<20>::CHECKPOINT_MAX];
    let last = detector.announce(Call::new(UNNAMED, Digest::of(b"last"))).id;
    let written = detector.save(&mut buffer).expect("the room is enough");
    let read = Detector::<20>::restore(policy, written).is_ok();
    assert_eq!(read, last.seq() < Some(SEQ_MAX), "what is written can be read");
}
