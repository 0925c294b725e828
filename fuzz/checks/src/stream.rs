//! Makes the events of a run from bytes. An event takes two bytes, so that a mutation usually copies, moves
//! or removes whole events.

use unstuck_core::Tag;

use crate::model::{CallSpec, Event, OutcomeSpec, PlainVerdict};
use crate::pair::{Ids, Pair};

/// The maximum number of pairs of bytes from an input. The oracle takes cubic time, and a hundred calls fill
/// the longest window.
const EVENTS_MAX: usize = 200;

/// The meaning of a pair of bytes: one event, or the two events of a call with an immediate result.
///
/// ```text
/// first byte     bits 0–2  the kind of event (as matched below)
///                bits 3–7  a result
/// second byte              a call; or its index, counted back from the latest; or a word
/// ```
fn events_of([what, which]: [u8; 2], calls: usize) -> [Option<Event>; 2] {
    let back = |limit: u8| calls.checked_sub(1 + usize::from(which % limit));
    let answer = answer(what >> 3);
    match what & 0b111 {
        // Twice as often as any other event, because patterns need it.
        0..=2 => [Some(Event::Announce(asked(which))), Some(Event::Outcome(calls, answer))],
        3 => [Some(Event::Announce(asked(which))), None],
        4 => [back(12).map(|call| Event::Outcome(call, answer)), None],
        5 => [back(3).map(Event::Veto), None],
        6 => [Some(Event::Text(which % 3, u16::from(which >> 4))), None],
        _ => [control(which, calls), None],
    }
}

/// Returns the call in a byte: one of four that differ in tool, arguments and likeness, with one of five
/// tags, in its own step or in one of three, idempotent or not.
fn asked(byte: u8) -> CallSpec {
    const TAGS: [[Tag; 4]; 2] = [
        [Tag::Test, Tag::Shell, Tag::Other, Tag::Think],
        [Tag::Test, Tag::Write, Tag::Act, Tag::Think],
    ];
    let args = byte & 0b11;
    let [similar, tag, step] = [byte >> 2 & 1, byte >> 3 & 0b11, byte >> 5 & 0b11];
    CallSpec {
        tool: args / 2,
        args,
        similar,
        tag: TAGS[usize::from(similar)][usize::from(tag)],
        idempotent: byte >> 7 == 1,
        step: step.checked_sub(1),
    }
}

/// Returns the result in five bits. Two results are similar. A quarter are the first result with other
/// bytes, pending, too late, or similar only to equal ones.
fn answer(bits: u8) -> OutcomeSpec {
    let number = bits & 0b11;
    let failed = bits >> 2 & 1 == 1;
    let plain =
        OutcomeSpec { result: number, near: Some(number / 2), failed, ..OutcomeSpec::PLAIN };
    match (bits >> 3 & 0b11, number) {
        (0, _) => plain,
        (1, 0) => OutcomeSpec { raw: 1, failed, ..OutcomeSpec::PLAIN },
        (1, 1) => OutcomeSpec { pending: true, failed, ..OutcomeSpec::PLAIN },
        (1, 2) => OutcomeSpec { late: true, failed, ..OutcomeSpec::PLAIN },
        (1, _) => OutcomeSpec { near: None, failed, ..OutcomeSpec::PLAIN },
        (2, _) => OutcomeSpec { score: Some(number), ..plain },
        _ => OutcomeSpec { silent: true, ..plain },
    }
}

fn control(byte: u8, calls: usize) -> Option<Event> {
    let number = byte >> 3;
    Some(match byte & 0b111 {
        0 => Event::Finish,
        1 if number == 0 => Event::Compacted,
        1 => Event::Clear,
        2 => Event::Retry(usize::from(number)),
        3 => Event::Cancel(calls.checked_sub(1 + usize::from(number % 12))?),
        4 => Event::Progress,
        5 => Event::FalsePositive,
        // More messages than the detector keeps.
        _ => Event::UserMessage(number),
    })
}

/// Passes the events in `bytes` to both detectors of `pair`, and each event with both verdicts to `judge`.
///
/// # Errors
///
/// Returns the first disagreement of the two, or of `judge`, with the events up to there.
pub(crate) fn replay<const W: usize>(
    bytes: &[u8],
    pair: &mut Pair<'_, W>,
    mut judge: impl FnMut(Event, PlainVerdict) -> Result<(), String>,
) -> Result<(), String> {
    let mut ids = Ids::default();
    let mut events = Vec::new();
    let (pairs, _) = bytes.as_chunks();
    for bytes in pairs.iter().take(EVENTS_MAX) {
        for event in events_of(*bytes, pair.calls()).into_iter().flatten() {
            events.push(event);
            let judged = pair.take(event, &mut ids).and_then(|said| judge(event, said));
            judged.map_err(|difference| told(&difference, &events))?;
        }
    }
    Ok(())
}

fn told(difference: &str, events: &[Event]) -> String {
    let lines = events.iter().map(|event| format!("\n    {event:?}"));
    format!("{difference}\nat the last of{}", lines.collect::<String>())
}
