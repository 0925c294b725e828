//! Prints the deepest stack of each event of a host.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::hprintln;
use unstuck_emulated::{State, depth, done, failed};
use unstuck_events::{ARGUMENTS, RESULTS};

/// The number of calls that may be open at once.
const OPEN: u64 = 8;

/// Unusual JSON: the deepest nesting that is allowed, long numbers, escaped strings.
const RARE: [&str; 3] = [
    concat!("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1"),
    "[123456789012345678901234567890.5e-17,-0,1e300,0.1e-7]",
    r#"{"\u0061\ud83d\ude00":"\"\\\/\b\f\n\r\t \u00e4 and more than eight bytes of it","ä":"ö"}"#,
];

/// A result that consists mostly of volatile text.
const VOLATILE: &str = "2026-05-28T14:38:00Z sshd[4711]: \x1b[31m/tmp/tmpab12cd_x/out.txt took \
    1m 30s at 0x7ffd5e8a, commit 3f2a1bc, 123e4567-e89b-12d3-a456-426614174000 on localhost:54321\n\
    test result: FAILED. 3 passed; 2 failed\n";

#[entry]
fn main() -> ! {
    let Some(mut state) = State::new() else { failed("the default policy needs a longer window") };
    say("announce, outcome: a new call", calls(&mut state, |n| n, 40));
    say("announce, outcome: the same call", calls(&mut state, |_| 0, 12));
    say("announce, outcome: two in turns", calls(&mut state, |n| n % 2, 24));
    say("announce: eight open calls settle", open_calls(&mut state));
    say("text_turn", repeated(&mut state, State::text_turn));
    say("vetoed, cancel, finish", endings(&mut state));
    let _ = calls(&mut state, |_| 3, 4);
    say("nudge text", depth(&mut state, State::nudge));
    say("peek, nearest", most(&mut state, &[State::peek, State::nearest]));
    say("progress, retry, silence, false_positive", depth(&mut state, State::control));
    let _ = calls(&mut state, |n| 1000 + n, 30);
    say("save", depth(&mut state, State::save));
    say("restore", depth(&mut state, State::restore));
    say("user_message", depth(&mut state, State::user_message));
    say("fingerprint of JSON", texts(&mut state, State::fingerprint));
    say("digest of a masked result", texts(&mut state, State::mask));
    say("call by the default recipe", texts(&mut state, State::recipe_call));
    say("outcome by the default recipe", texts(&mut state, State::recipe_outcome));
    done()
}

fn say(event: &str, bytes: u32) {
    hprintln!("{event}\t{bytes}");
}

/// Returns the deepest stack of `events`.
fn most(state: &mut State, events: &[fn(&mut State)]) -> u32 {
    events.iter().map(|event| depth(state, *event)).max().unwrap_or(0)
}

/// Returns the deepest stack of `event`, which is repeated a few times.
fn repeated(state: &mut State, event: fn(&mut State)) -> u32 {
    (0..5).map(|_| depth(state, event)).max().unwrap_or(0)
}

/// Returns the deepest stack of `times` calls and their outcomes, with the numbers that `number` gives.
fn calls(state: &mut State, number: fn(u64) -> u64, times: u64) -> u32 {
    let call = |n| {
        state.prepare(number(n), None);
        most(state, &[State::announce, State::outcome])
    };
    (0..times).map(call).max().unwrap_or(0)
}

/// Returns the deepest stack of a step with the most open calls, and of a call that starts the next.
fn open_calls(state: &mut State) -> u32 {
    let announce = |n| {
        state.prepare(100 + n % 2, Some(u64::from(n == OPEN)));
        depth(state, State::announce)
    };
    (0..=OPEN).map(announce).max().unwrap_or(0)
}

/// Returns the deepest stack of the ways in which a call does not run.
fn endings(state: &mut State) -> u32 {
    let ways = [State::vetoed, State::cancel, State::finish];
    let end = |way| {
        state.prepare(200, None);
        state.announce();
        depth(state, way)
    };
    ways.into_iter().map(end).max().unwrap_or(0)
}

/// Returns the deepest stack of `event` for a few texts.
fn texts(state: &mut State, event: fn(&mut State)) -> u32 {
    let [plain, ..] = ARGUMENTS;
    let [code, ..] = RESULTS;
    let mut deepest = 0;
    for (arguments, result) in RARE.into_iter().chain([plain]).zip([code, VOLATILE, "", "ok"]) {
        state.texts(arguments, result);
        deepest = deepest.max(depth(state, event));
    }
    deepest
}
