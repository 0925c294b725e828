//! Claim: a host may call the guard in any order, and pass any bytes as a checkpoint.
//!
//! A guard that is restored at any moment goes on like the original. Every block has a reason, without any
//! part of the arguments and results. An observer never blocks.

use unstuck::{Action, Asked, BuildError, CHECKPOINT_VERSION, Decision, Guard, Ticket};
use unstuck_core::Digest;
use unstuck_text::PRESETS;

/// The maximum number of events from an input: enough for the last rung of most ladders.
const EVENTS_MAX: usize = 64;

/// A text in all arguments and results, which no message may contain.
const SECRET: &str = "hunter2";

/// An event of a host.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Announces a call, with an id or a step if they are given.
    Announce {
        call: u8,
        id: Option<u8>,
        step: Option<u8>,
    },
    /// Reports a call that has run.
    Finished {
        call: u8,
        id: Option<u8>,
        result: u8,
    },
    /// Ends one of the announced calls.
    Ended {
        which: u8,
        how: How,
    },
    Text(u8),
    User(u8),
    EndStep,
    Clear,
    /// Saves the guard, restores it and goes on.
    Reread,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Result(u8),
    Refused,
    Cancelled,
}

impl Event {
    /// Reads the next event: two bytes, and a third if there is an id or a step.
    fn read(bytes: &mut impl Iterator<Item = u8>) -> Option<Self> {
        let (what, which) = (bytes.next()?, bytes.next()?);
        let mut maybe = |bit: u8| if which & bit == 0 { None } else { bytes.next() };
        Some(match what % 16 {
            0..=4 => Self::Announce { call: which, id: maybe(0x80), step: maybe(0x40) },
            5 => Self::Finished { call: which, id: maybe(0x80), result: what / 16 },
            6..=9 => Self::Ended { which, how: How::Result(what / 16) },
            10 => Self::Ended { which, how: How::Refused },
            11 => Self::Ended { which, how: How::Cancelled },
            12 => Self::Text(which),
            13 => Self::User(which),
            14 if which % 8 == 0 => Self::Clear,
            14 => Self::EndStep,
            _ => Self::Reread,
        })
    }
}

/// Reads the bytes as a checkpoint, and as the events of a host.
///
/// # Panics
///
/// Panics if a guard breaks a claim.
pub fn check(bytes: &[u8]) {
    restore(bytes);
    let mut input = bytes.iter().copied();
    let preset = usize::from(input.next().unwrap_or(0)) % PRESETS.len();
    let build = || Guard::builder().preset(&PRESETS[preset]);
    let mut guard = build().build().expect("a preset");
    let mut reread = guard.clone();
    let mut observer = build().observe_only().build().expect("a preset");
    let mut tickets = Vec::new();
    for _ in 0..EVENTS_MAX {
        let Some(event) = Event::read(&mut input) else { break };
        if matches!(event, Event::Reread) {
            reread = build().restore(&reread.save()).expect("what was just written");
        }
        let decision = told(&mut guard, event, &mut tickets);
        let again = told(&mut reread, event, &mut tickets.clone());
        assert_eq!(words(decision.as_ref()), words(again.as_ref()), "{event:?}");
        if let Some(decision) = decision {
            keeps_its_word(&decision);
            tickets.extend(decision.ticket());
        }
        if let Some(observed) = told(&mut observer, event, &mut tickets) {
            assert_eq!((observed.action(), observed.message()), (Action::Proceed, None));
        }
    }
    assert_eq!(guard.save(), reread.save());
}

/// Asserts that any bytes are refused, or restore a guard that works.
fn restore(bytes: &[u8]) {
    let refused = |result| matches!(result, Ok(_) | Err(BuildError::Restore(_)));
    assert!(refused(Guard::builder().restore(bytes)));
    let mut summed = [&[CHECKPOINT_VERSION], bytes].concat();
    summed.extend(Digest::of(&summed).bits().to_le_bytes());
    let Ok(mut guard) = Guard::builder().restore(&summed) else { return };
    for _ in 0..8 {
        keeps_its_word(&guard.finished(&Asked::new("t", "{}"), "no", true));
    }
    let saved = guard.save();
    assert_eq!(Guard::builder().restore(&saved).expect("what was just written").save(), saved);
}

/// Returns the decision of the guard on an event.
fn told(guard: &mut Guard, event: Event, tickets: &mut [Ticket]) -> Option<Decision> {
    let call = |n: u8| (["bash", "read_file", "wait"][usize::from(n % 3)], args(n / 3 % 4));
    match event {
        Event::Announce { call: n, id, step } => {
            let ((tool, args), id) = (call(n), id.map(|id| (id % 9).to_string()));
            let mut asked = Asked::new(tool, args);
            if let Some(id) = &id {
                asked = asked.id(id);
            }
            if let Some(step) = step {
                asked = asked.step(step.into());
            }
            Some(guard.announce(&asked))
        }
        Event::Finished { call: n, id, result } => {
            let ((tool, args), id) = (call(n), id.map(|id| (id % 9).to_string()));
            let asked = Asked::new(tool, args);
            let asked = if let Some(id) = &id { asked.id(id) } else { asked };
            Some(guard.finished(&asked, self::result(result), result % 2 == 0))
        }
        Event::Ended { which, how } => {
            let ticket = *tickets.get(usize::from(which) % tickets.len().max(1))?;
            Some(match how {
                How::Result(n) => guard.after(ticket, result(n), n % 2 == 0),
                How::Refused => guard.refused(ticket),
                How::Cancelled => guard.cancelled(ticket),
            })
        }
        Event::Text(n) => Some(guard.text_turn(&result(n))),
        Event::User(n) => Some(guard.user_message(&result(n))),
        Event::EndStep => {
            guard.end_step();
            None
        }
        Event::Clear => {
            guard.clear();
            None
        }
        Event::Reread => None,
    }
}

fn args(n: u8) -> String {
    format!(r#"{{"command":"{SECRET} {n}"}}"#)
}

fn result(n: u8) -> String {
    if n == 0 { String::new() } else { format!("{SECRET}: {} failed", n % 4) }
}

/// Returns the comparable part of a decision.
fn words(decision: Option<&Decision>) -> Option<(Action, Option<Ticket>, Option<String>)> {
    let decision = decision?;
    let message = decision.message().map(ToString::to_string);
    Some((decision.judged(), decision.ticket(), message))
}

fn keeps_its_word(decision: &Decision) {
    let message = decision.message().map(ToString::to_string);
    assert!(!decision.is_blocked() || message.is_some(), "{decision:?}");
    let Some(message) = message else { return };
    assert!(!message.is_empty() && !message.contains(SECRET), "{message}");
}
