//! The benchmark `text`: from raw bytes to a verdict, beside `loop-guardrail` and one regular expression.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io;
use std::rc::Rc;
use std::sync::LazyLock;

use fastrand::Rng;
use loop_guardrail::{ToolCallGuardrailConfig, ToolCallGuardrailController};
use rapidhash::v3::rapidhash_v3;
use regex::bytes::Regex;
use serde_json::Value;
use unstuck::Guard;
use unstuck_core::{Action, Detector};
use unstuck_text::{Answer, Lines, Masks, PRESETS, Preset, Recipe, SimilarCalls};

use crate::calls::{RECORDED, RawCall, recorded};
use crate::harness::{self, Contest, Function};
use crate::json::PROSE;

/// The number of bytes in a round of made texts, if that makes 8 to 256 of them.
const ROUND: usize = 64 * 1024;

/// The least number of made texts in a round, so that a new guard costs each of them little.
const CALLS_MIN: usize = 8;

/// The length of the made results that are masked, in bytes.
const MASKED_LENGTH: usize = 8000;

/// The length of a long result, in bytes.
const LONG_LENGTH: usize = 50_000;

/// The function that appends a line to a text.
type Line = fn(&mut String, &mut Rng);

/// The results that are masked: a name, and their function.
const RESULTS: [(&str, Line); 4] = [
    ("8 KB, log lines", log_line),
    ("8 KB, package manager", package),
    ("8 KB, compiler output", warning),
    ("8 KB, prose", |text, random| *text += PROSE[random.usize(..4)]),
];

/// Measures all work on made and on recorded calls.
pub(crate) fn measure() -> io::Result<()> {
    harness::measure("text", contest)?;
    println!(
        "A time is for one call, by the recipe of `balanced`, with all masks. A verdict includes a call and its \
         outcome,\nfrom raw arguments and a raw result.",
    );
    Ok(())
}

/// Returns the work on one kind of calls.
pub(crate) fn contest(number: usize) -> Option<Contest> {
    const REAL: usize = RECORDED.len();
    const LONG: usize = REAL + 1;
    let (input, runs, works): (_, _, &[Work]) = match number {
        0..REAL => {
            let works =
                &[GUARD, LOOP_GUARDRAIL, HASHING_ALL, CALL_AMONG, OUTCOME_AMONG, MASKED, REGEX];
            (["real calls", "real sessions"][number].to_owned(), recorded(RECORDED[number]), works)
        }
        REAL => {
            let input = "200 B of arguments, 500 B of a result".to_owned();
            let call = |number| RawCall::made(number, 500);
            (input, made(700, call), &[VERDICT, LOOP_GUARDRAIL])
        }
        LONG => {
            let call = |number| RawCall::made(number, LONG_LENGTH);
            ("a new result of 50 KB".to_owned(), made(LONG_LENGTH, call), &[GUARD, LOOP_GUARDRAIL])
        }
        _ => {
            let (name, line) = RESULTS.get(number - LONG - 1)?;
            let result = |number| RawCall::new("{}".to_owned(), lines(number, *line));
            ((*name).to_owned(), made(MASKED_LENGTH, result), &[MASKED, REGEX])
        }
    };
    let is_real = number < REAL;
    let bytes =
        if number > REAL { runs.iter().flatten().map(|call| call.result.len()).sum() } else { 0 };
    let (items, runs) = (runs.iter().map(Vec::len).sum(), Rc::new(runs));
    let peer = |&(name, work): &Work| {
        let runs = Rc::clone(&runs);
        Function::new(name, move || all(&runs, work))
    };
    let peers = works.iter().map(peer).collect();
    // A round of real calls reads megabytes. Else the heap takes a few rounds to settle.
    let (rounds, counted) = if is_real { (11, 1) } else { (51, 4) };
    Some(Contest { input, items, bytes, rounds, counted, peers })
}

/// A name, and the work that is done on the calls of a run. It returns the number of flagged calls, or the sum of
/// the answers.
type Work = (&'static str, fn(&[RawCall]) -> u32);

const GUARD: Work = ("verdict, by a guard", guard);
const VERDICT: Work = ("verdict", verdicts);
const LOOP_GUARDRAIL: Work = ("verdict, by `loop-guardrail`", |run| loop_guardrail(run, false));
const HASHING_ALL: Work =
    ("verdict, by `loop-guardrail` with all tools", |run| loop_guardrail(run, true));
const CALL_AMONG: Work = ("call among others", |run| {
    let mut groups = SimilarCalls::new();
    each(run, |call| {
        low(Recipe::BALANCED.call_among(&mut groups, &call.tool, &call.args).digest().bits())
    })
});
const OUTCOME_AMONG: Work = ("outcome among others", |run| {
    let mut known = <Lines>::new();
    each(run, |call| {
        let answer = Answer::new(&call.tool, &call.result, call.failed);
        low(Recipe::BALANCED.outcome_among(&mut known, &answer).digest().bits())
    })
});
const MASKED: Work = ("digest, masked", |run| {
    each(run, |call| low(Masks::ALL.digest(call.result.as_bytes()).result.bits()))
});
const REGEX: Work =
    ("digest, masked by `regex`", |run| each(run, |call| low(regex_digest(&call.result))));

/// Does the work on the calls of each run.
fn all(runs: &[Vec<RawCall>], work: fn(&[RawCall]) -> u32) -> u32 {
    runs.iter().map(|run| work(black_box(run))).fold(0, u32::wrapping_add)
}

fn each<'r>(run: &'r [RawCall], answer: impl FnMut(&'r RawCall) -> u32) -> u32 {
    run.iter().map(answer).fold(0, u32::wrapping_add)
}

/// Returns the lower half.
const fn low(digest: u64) -> u32 {
    (digest & 0xFFFF_FFFF) as u32
}

/// Returns the number of calls that a guard flags.
fn guard(run: &[RawCall]) -> u32 {
    let mut guard = Guard::new();
    each(run, |call| {
        let before = guard.before(&call.tool, call.args.as_str());
        let after = before.ticket().map(|ticket| guard.after(ticket, &call.result, call.failed));
        u32::from(after.is_none_or(|after| after.evidence().is_some()))
    })
}

/// Returns the number of calls that `balanced` flags with its recipe.
fn verdicts(run: &[RawCall]) -> u32 {
    let Preset { policy, recipe } = &PRESETS[0];
    let mut detector: Detector<'_, 20> = match Detector::new(policy) {
        Ok(detector) => detector,
        Err(error) => panic!("{error}"),
    };
    let mut groups = SimilarCalls::new();
    each(run, |call| {
        let before = detector.announce(recipe.call_among(&mut groups, &call.tool, &call.args));
        let outcome = recipe.outcome(&call.tool, &call.result, call.failed);
        let after = detector.outcome(before.id, outcome);
        u32::from(before.verdict.action > Action::Proceed || after.action > Action::Proceed)
    })
}

/// Returns the number of calls that `loop-guardrail` flags, used as in the example of its README. It flags the
/// third equal call, as `balanced` does. By default, it hashes the results of a few tools that it knows, which few of the
/// calls use; it may hash those of `all` tools.
fn loop_guardrail(run: &[RawCall], all: bool) -> u32 {
    let mut settings = ToolCallGuardrailConfig {
        hard_stop_enabled: true,
        no_progress_warn_after: 3,
        ..ToolCallGuardrailConfig::default()
    };
    if all {
        settings.idempotent_tools = run.iter().map(|call| call.tool.clone()).collect();
        settings.mutating_tools.clear();
    }
    let mut controller = ToolCallGuardrailController::new(Some(settings));
    each(run, |call| {
        let args: Value = serde_json::from_str(&call.args).unwrap_or_default();
        let before = controller.before_call(&call.tool, Some(&args));
        let after = controller.after_call(&call.tool, Some(&args), Some(&call.result), Some(false));
        u32::from(before.action != "allow" || after.action != "allow")
    })
}

/// Returns a hash of `text` without its volatile parts, in the way that most programs remove them.
fn regex_digest(text: &str) -> u64 {
    let (mut hash, mut from) = (0_u64, 0);
    for found in VOLATILE.find_iter(text.as_bytes()) {
        hash = hash.rotate_left(5) ^ rapidhash_v3(&text.as_bytes()[from..found.start()]);
        from = found.end();
    }
    hash.rotate_left(5) ^ rapidhash_v3(&text.as_bytes()[from..])
}

/// The kinds of volatile text that a few lines of regular expressions can describe: fewer than `Masks::ALL`, and
/// without labels.
static VOLATILE: LazyLock<Regex> = LazyLock::new(|| {
    let kinds = [
        r"\x1B\[[0-9;?]*[A-Za-z]",
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        r"\d{4}-\d\d-\d\d",
        r"\d{1,2}:\d\d(:\d\d([.,]\d+)?)?Z?",
        r"0x[0-9a-fA-F]{6,}",
        r"\d+(\.\d+)?\s?(ms|us|ns|s|seconds|minutes)\b",
        r"\b[0-9a-f]{7,64}\b",
        r"(?i:pid)[ :=]*\d+",
        r"/tmp/[A-Za-z0-9_.-]+",
        r"(localhost|127\.0\.0\.1):\d+",
        r"\s{2,}",
    ];
    match Regex::new(&format!("(?-u){}", kinds.join("|"))) {
        Ok(volatile) => volatile,
        Err(error) => panic!("{error}"),
    }
});

/// Returns one run of made calls of `length` bytes, which all differ. It is the same every time.
fn made(length: usize, call: impl Fn(u64) -> RawCall) -> Vec<Vec<RawCall>> {
    let count = (ROUND / length).clamp(CALLS_MIN, 256);
    vec![(0..).take(count).map(call).collect()]
}

/// Returns a text of [`MASKED_LENGTH`] that begins with its number. `line` appends one line.
fn lines(number: u64, line: Line) -> String {
    let mut text = format!("Part {number}\n");
    let mut random = Rng::with_seed(number);
    while text.len() < MASKED_LENGTH {
        line(&mut text, &mut random);
    }
    text.truncate(MASKED_LENGTH);
    text
}

fn log_line(text: &mut String, random: &mut Rng) {
    let (minute, second, thousandth) = (random.u8(..60), random.u8(..60), random.u32(..1000));
    let (order, status) = (random.u32(..5000), [200, 201, 404, 500][random.usize(..4)]);
    let (duration, id) = (random.u32(..900), random.u32(..));
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "2026-05-28T14:{minute:02}:{second:02}.{thousandth:03}Z INFO [4711] http: GET /orders/{order} \
         {status} in {duration} ms, request {id:08x}"
    );
}

fn package(text: &mut String, random: &mut Rng) {
    let name = ["serde", "tokio", "requests", "lodash", "numpy", "react"][random.usize(..6)];
    let (major, minor, patch) = (random.u8(..9), random.u8(..40), random.u8(..20));
    let (size, rate, hash) = (random.u32(..9000), random.u32(..90), random.u64(..1 << 48));
    let (percent, python) = (random.u32(..100), random.u8(8..14));
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "Collecting {name}=={major}.{minor}.{patch}\n  Downloading {name}-{major}.{minor}.{patch}-cp3{python}-cp3{python}-\
         manylinux_2_17_x86_64.whl.metadata ({size} kB)\n     {percent:>3}% |{:#<20}| {size} kB {rate}.{minor} MB/s eta \
         0:00:{patch:02}\n  Stored in directory: /root/.cache/pip/wheels/{hash:012x}\n\
         Requirement already satisfied: {name}>={major}.{minor} in ./lib/python3.{python} (from app) ({major}.{minor}.{patch})",
        ""
    );
}

fn warning(text: &mut String, random: &mut Rng) {
    let name = ["total", "weight", "parts", "price", "items", "count"][random.usize(..6)];
    let (part, line, column) = (random.u32(..40), random.u32(..900), random.u32(..80));
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "warning: unused variable: `{name}`\n   --> src/part_{part:02}/unit.rs:{line}:{column}\n    |\n\
         {line:<3} |     let {name} = items.iter().map(Item::{name}).sum::<u64>();\n    |         \
         ^^^^^ help: if this is intentional, prefix it with an underscore: `_{name}`\n    |"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_work_is_done_on_each_call_but_volatile_text_does_not_count() {
        let call = |result: &str| RawCall {
            failed: true,
            ..RawCall::new(r#"{"command":"make"}"#.to_owned(), result.to_owned())
        };
        let stuck = [(); 5].map(|()| call("no rule"));
        assert_eq!(guard(&stuck), 3);
        assert!(verdicts(&stuck) > 0);
        let (one, other) = ([call("one")], [call("other")]);
        for (name, work) in [OUTCOME_AMONG, MASKED, REGEX] {
            assert_ne!(work(&one), work(&other), "{name}");
        }
        assert_eq!(CALL_AMONG.1(&one), CALL_AMONG.1(&other));
        assert_eq!(loop_guardrail(&one, false), 0);
        let equal = [(); 4].map(|()| RawCall { tool: "bash".to_owned(), ..call("done") });
        assert_eq!(loop_guardrail(&equal, false), 0);
        assert_eq!(loop_guardrail(&equal, true), 2);
        let one = regex_digest("at 12:03:59, pid 4711");
        assert_eq!(one, regex_digest("at 13:04:00, pid 12"));
        assert_ne!(one, regex_digest("at 12:03:59, 3 failed"));
    }
}
