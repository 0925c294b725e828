//! From bytes to the events of a run: two bytes an event, so that what a mutation copies, moves
//! or cuts out is mostly a number of whole events.

use unstuck_core::Tag;

use crate::model::{CallSpec, Event, OutcomeSpec, PlainVerdict};
use crate::pair::{Ids, Pair};

/// The most pairs of bytes taken from an input. The oracle takes cubic time, and a hundred calls fill
/// the longest window.
const EVENTS_MAX: usize = 200;

/// What a pair of bytes stands for: one event, or the two of a call that is answered at once.
///
/// ```text
/// first byte     bits 0–2  what happens (as matched below)
///                bits 3–7  an answer
/// second byte              a call; or which call, counted back from the latest; or a word
/// ```
fn events_of([what, which]: [u8; 2], calls: usize) -> [Option<Event>; 2] {
    let back = |limit: u8| calls.checked_sub(1 + usize::from(which % limit));
    let answer = answer(what >> 3);
    match what & 0b111 {
        // Twice as often as anything else: patterns are made of this.
        0..=2 => [Some(Event::Announce(asked(which))), Some(Event::Outcome(calls, answer))],
        3 => [Some(Event::Announce(asked(which))), None],
        4 => [back(12).map(|call| Event::Outcome(call, answer)), None],
        5 => [back(3).map(Event::Veto), None],
        6 => [Some(Event::Text(which % 3, u16::from(which >> 4))), None],
        _ => [control(which, calls), None],
    }
}

/// The call in a byte: of four that differ in tool, arguments and likeness, with one of five tags,
/// in a step of its own or in one of three, idempotent or not.
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

/// The answer in five bits; two results are near each other. A quarter are the first result with
/// other bytes, pending, too late, or near to equal ones alone.
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
        1 => Event::Clear,
        2 => Event::Retry(usize::from(number)),
        3 => Event::Cancel(calls.checked_sub(1 + usize::from(number % 12))?),
        4 => Event::Progress,
        5 => Event::FalsePositive,
        // More messages than are remembered.
        _ => Event::UserMessage(number),
    })
}

/// Gives both detectors of `pair` the events in `bytes`, and `judge` each event with what both
/// said to it.
///
/// # Errors
///
/// The first thing that the two disagree on, or that `judge` disagrees with, and the events up to
/// there: what a person needs to see the case.
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
