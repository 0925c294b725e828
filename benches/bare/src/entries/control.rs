//! Events that a host reports beside calls.

use core::hint::black_box;

use unstuck_core::{Detector, Finding, LoopId};

use super::events::call;
use super::input::Input;
use super::replies::{another, show_verdict};
use super::words::show;

/// Sends `detector` the events of a host, for example about `finding`.
pub(crate) fn control<const W: usize, const OPEN: usize>(
    detector: &mut Detector<'_, W, OPEN>,
    finding: Option<Finding>,
    input: &mut Input,
) {
    match input.below::<8>() {
        0 => {
            black_box(detector.retry(usize::from(input.byte())));
        }
        1 => detector.progress(),
        2 => detector.silence(loop_id(input)),
        3 => show_verdict(detector.peek(call(input)), detector.policy(), input),
        4 => {
            black_box(detector.tool_of(input.byte().into()));
        }
        _ => {}
    }
    if let Some(finding) = finding {
        let finding = if input.flag() { finding } else { another(finding, input) };
        detector.false_positive(&finding);
    }
}

/// Returns an arbitrary loop id, or one that was parsed from text.
pub(crate) fn loop_id(input: &mut Input) -> LoopId {
    let printed = "9f0c5e8b2a7d4411 +0é";
    let (start, end) = (usize::from(input.below::<4>()), usize::from(input.below::<32>()));
    let any = LoopId::from_bits(u64::from(input.byte()));
    printed.get(start..end).unwrap_or(printed).parse().unwrap_or_else(|error| {
        show(format_args!("{error}"));
        any
    })
}
