//! Prints the deepest stack of each event of a host.

use core::hint::black_box;
use core::ptr;

use cortex_m::register::msp;
use cortex_m_semihosting::hprintln;
use unstuck_bare::ARGUMENTS;
use unstuck_core::{Call, CallId, Detector, Digest, Outcome, Tool, Verdict, presets};
use unstuck_text::{Recipe, SimilarCalls};

use crate::failed;

/// A word that events are very unlikely to write.
const PAINT: u32 = 0xC3A5_5A3C;

/// The number of calls that may be open at once.
const OPEN: u64 = 8;

/// The tool of every call.
const TOOL: &str = "read_sensor";

/// Unusual JSON: the deepest nesting that is allowed, long numbers, escaped strings.
const RARE: [&str; 3] = [
    concat!("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1"),
    "[123456789012345678901234567890.5e-17,-0,1e300,0.1e-7]",
    r#"{"\u0061\ud83d\ude00":"\"\\\/\b\f\n\r\t \u00e4 and more than eight bytes of it","ä":"ö"}"#,
];

/// The data that the events of a host use.
struct State {
    detector: Detector<'static, 20>,
    groups: SimilarCalls,
    /// The buffer for a saved detector, and the number of bytes in it.
    page: [u8; Detector::<20>::CHECKPOINT_MAX],
    saved: usize,
    /// The next call and its outcome.
    next: (Call, Outcome),
    /// The latest announced call, and the latest verdict with a finding.
    latest: CallId,
    said: Verdict,
    /// The next JSON document.
    arguments: &'static str,
}

/// An event, or the work for one. Its stack is measured with its own frame.
type Event = fn(&mut State);

const ANNOUNCE: Event = |host| {
    let announced = host.detector.announce(host.next.0);
    (host.latest, host.said) = (announced.id, announced.verdict);
};

const OUTCOME: Event = |host| {
    let verdict = host.detector.outcome(host.latest, host.next.1);
    host.said = if verdict.finding.is_some() { verdict } else { host.said };
};

/// The events that are not calls, one after another.
const CONTROL: Event = |host| {
    host.detector.progress();
    black_box(host.detector.retry(black_box(2)));
    if let Some(finding) = &host.said.finding {
        host.detector.silence(finding.loop_id);
        host.detector.false_positive(finding);
    }
};

/// Makes a call from JSON.
const RECIPE: Event = |host| {
    host.next.0 = Recipe::BALANCED.call_among(&mut host.groups, TOOL, host.arguments);
};

/// Prints the stack of each event.
pub(crate) fn print() {
    let Some(mut host) = host() else { failed("the default policy needs a longer window") };
    let host = &mut host;
    say("announce, outcome: a new call", calls(host, |n| n, 40));
    say("announce, outcome: the same call", calls(host, |_| 0, 12));
    say("announce: eight open calls settle", open_calls(host));
    let _ = calls(host, |_| 3, 4);
    let peek: Event = |host| {
        let _ = black_box(host.detector.peek(host.next.0));
    };
    say("peek", depth(host, peek));
    say("progress, retry, silence, false_positive", depth(host, CONTROL));
    let _ = calls(host, |n| 1000 + n, 30);
    let save: Event =
        |host| host.saved = host.detector.save(&mut host.page).map_or(0, |bytes| bytes.len());
    say("save", depth(host, save));
    let restore: Event = |host| {
        let bytes = host.page.get(..host.saved).unwrap_or_default();
        if let Ok(detector) = Detector::restore(&presets::BALANCED, bytes) {
            host.detector = detector;
        }
    };
    say("restore", depth(host, restore));
    let texts = RARE.into_iter().chain([ARGUMENTS[0]]);
    let call = |text| {
        host.arguments = text;
        depth(host, RECIPE)
    };
    say("call by the default recipe", texts.map(call).max().unwrap_or(0));
}

/// Returns a new host, or `None` if the default policy needs a longer window.
fn host() -> Option<State> {
    let digest = Digest::new(0);
    let mut detector = Detector::new(&presets::BALANCED).ok()?;
    let call = Call::new(Tool::named(TOOL), digest);
    Some(State {
        latest: detector.announce(call).id,
        detector,
        groups: SimilarCalls::new(),
        page: [0; Detector::<20>::CHECKPOINT_MAX],
        saved: 0,
        next: (call, Outcome::ok(digest)),
        said: Verdict::PROCEED,
        arguments: "",
    })
}

fn say(event: &str, bytes: u32) {
    hprintln!("{event}\t{bytes}");
}

/// Sets the number of the next call and of its outcome, and the step of the call, if any.
fn prepare(host: &mut State, number: u64, step: Option<u64>) {
    let call = Call::new(Tool::named(TOOL), Digest::of(&number.to_le_bytes()));
    let call = step.map_or(call, |step| call.step(step));
    host.next = (call, Outcome::ok(Digest::of(&number.to_be_bytes())));
}

/// Returns the deepest stack of `events`.
fn most(host: &mut State, events: &[Event]) -> u32 {
    events.iter().map(|event| depth(host, *event)).max().unwrap_or(0)
}

/// Returns the deepest stack of `times` calls and their outcomes, with the numbers that `number` gives.
fn calls(host: &mut State, number: fn(u64) -> u64, times: u64) -> u32 {
    let call = |n| {
        prepare(host, number(n), None);
        most(host, &[ANNOUNCE, OUTCOME])
    };
    (0..times).map(call).max().unwrap_or(0)
}

/// Returns the deepest stack of a step with the most open calls, and of a call that starts the next.
fn open_calls(host: &mut State) -> u32 {
    let announce = |n| {
        prepare(host, 100 + n % 2, Some(u64::from(n == OPEN)));
        depth(host, ANNOUNCE)
    };
    (0..=OPEN).map(announce).max().unwrap_or(0)
}

#[expect(unsafe_code, reason = "the linker says where the stack may end at the lowest")]
unsafe extern "C" {
    static _stack_end: u32;
}

/// Returns the bytes of stack that `event` takes, with its own frame and all calls below it: paints the
/// free part of the stack, and looks how far the paint is gone afterwards.
///
/// The compiler does not know the address of `event`, so it cannot inline it into this function, whose
/// frame lies above the paint.
#[inline(never)]
fn depth(host: &mut State, event: Event) -> u32 {
    let lowest = (&raw const _stack_end).addr();
    let here = usize::try_from(msp::read()).unwrap_or(lowest);
    paint(lowest, here);
    black_box(event)(host);
    let clean = (lowest..here).step_by(size_of::<u32>()).find(|&word| look(word) != PAINT);
    u32::try_from(here - clean.unwrap_or(here)).unwrap_or(u32::MAX)
}

/// Paints every word from `lowest` to `here`. It is always inlined, because the frame of a call would
/// lie below `here` and be painted over.
#[inline(always)]
#[expect(clippy::inline_always, reason = "its frame would lie where it paints")]
fn paint(lowest: usize, here: usize) {
    let mut word = lowest;
    while word < here {
        #[expect(
            unsafe_code,
            reason = "the memory between the end of the stack and here is unused"
        )]
        unsafe {
            ptr::write_volatile(ptr::with_exposed_provenance_mut(word), PAINT);
        }
        word += size_of::<u32>();
    }
}

/// Reads the word at the address `word`, which must lie inside the stack.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as for what paints")]
fn look(word: usize) -> u32 {
    #[expect(unsafe_code, reason = "it was painted before, and so is memory")]
    unsafe {
        ptr::read_volatile(ptr::with_exposed_provenance::<u32>(word))
    }
}
