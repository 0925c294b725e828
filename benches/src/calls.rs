//! The calls that peers get: made ones, and those of recorded runs.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use unstuck_core::{Call, Digest, Outcome, Tool};
use unstuck_trace::Event;

/// The tool of every made call. It is one of the tools whose results `loop-guardrail` reads.
pub(crate) const TOOL: &str = "read_file";

/// The folders of recorded runs, which stand beside the project in `shared`: labelled runs of many benchmarks
/// and models, and sessions of coding agents, whose results are longer.
pub(crate) const RECORDED: [&str; 2] = ["traces", "traces-modern"];

/// A call with its result, as a host passes them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawCall {
    /// The name of the tool.
    pub(crate) tool: String,
    /// The arguments, as JSON.
    pub(crate) args: String,
    /// The result, which is empty if the run ended before.
    pub(crate) result: String,
    /// Whether the run contains a result.
    pub(crate) is_answered: bool,
    /// Whether the result is flagged as failed.
    pub(crate) failed: bool,
    /// What tells a result apart whose text was cut off.
    pub(crate) cut: Option<String>,
}

impl RawCall {
    /// Returns a call that succeeded.
    pub(crate) fn new(args: String, result: String) -> Self {
        Self { tool: TOOL.to_owned(), args, result, is_answered: true, ..Self::default() }
    }

    /// Returns the made call number `number`, with 200 bytes of arguments and a result of `length` bytes.
    pub(crate) fn made(number: u64, length: usize) -> Self {
        let opening = format!("//! Unit {number}.\n\nuse crate::part::{{Part, Weight}};\n\n");
        // No two files share a line, so every result is new.
        let name = name(number);
        let line = format!("    let {name} = parts.iter().map(Part::weight).sum::<u64>();\n");
        Self::new(search(number, 200), filled(opening, &line, length))
    }
}

/// Returns the arguments of a search, of `length` bytes.
pub(crate) fn search(number: u64, length: usize) -> String {
    let opening = format!(
        r#"{{"pattern":"fn \\w+\\(\"","path":"src/part_{:02}/unit_{number:07}.rs","context":3,"all":false,"reason":""#,
        number % 40
    );
    filled(opening, "to see who else calls this before it is changed ", length - 2) + r#""}"#
}

/// Returns `opening`, extended with `filling` to `length` bytes of ASCII.
pub(crate) fn filled(mut opening: String, filling: &str, length: usize) -> String {
    while opening.len() < length {
        opening.push_str(filling);
    }
    opening.truncate(length);
    opening
}

/// Returns a unique name for `number`. It consists of syllables, because digits would be masked.
fn name(mut number: u64) -> String {
    const SYLLABLES: [&str; 8] = ["ko", "lu", "mi", "no", "pa", "ri", "so", "tu"];
    let mut name = String::from("total_");
    while number > 0 {
        name += SYLLABLES[(number % 8) as usize];
        number /= 8;
    }
    name
}

/// A stream of made calls. Equal calls have equal results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// All calls differ.
    AllNew,
    /// One call in twenty repeats one of the ten before it.
    Repeats,
    /// Three calls in turns.
    Cycle,
    /// All calls are the same.
    AllEqual,
}

impl Stream {
    pub(crate) const ALL: [Self; 4] = [Self::AllNew, Self::Repeats, Self::Cycle, Self::AllEqual];

    /// Returns the first `calls` calls as numbers. Equal numbers are equal calls. The stream is the same every
    /// time.
    pub(crate) fn numbers(self, calls: usize) -> Vec<u64> {
        let mut numbers: Vec<u64> = Vec::with_capacity(calls);
        let mut random = Rng::with_seed(1);
        for new in (0..).take(calls) {
            let (repeats, back) = (random.u8(..20) == 0, random.usize(1..=10));
            let earlier = numbers.len().checked_sub(back).filter(|_| repeats);
            numbers.push(match self {
                Self::AllNew => new,
                Self::Repeats => earlier.map_or(new, |position| numbers[position]),
                Self::Cycle => new % 3,
                Self::AllEqual => 0,
            });
        }
        numbers
    }

    /// Returns the first `calls` calls as digests, which the engine takes.
    pub(crate) fn digests(self, calls: usize) -> Vec<(Call, Outcome)> {
        let digest = |number: u64| Digest::of(&number.to_le_bytes());
        let call = |number| Call::new(Tool::named(TOOL), digest(number));
        let numbers = self.numbers(calls).into_iter();
        numbers.map(|number| (call(number), Outcome::ok(digest(!number)))).collect()
    }
}

/// Returns the calls with a result of every recorded run that has one, run by run, in the order of the file
/// names. `folder` is one of [`RECORDED`]; if it is absent, there are no runs.
pub(crate) fn recorded(folder: &str) -> Vec<Vec<RawCall>> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let mut files: Vec<_> =
        within(&shared.join(folder)).flat_map(|source| within(&source)).collect();
    files.sort();
    let runs = files.iter().filter_map(|file| fs::read(file).ok()).map(|bytes| {
        let calls = read(&bytes).into_iter();
        calls.filter(|call| call.is_answered).collect::<Vec<_>>()
    });
    runs.filter(|calls| !calls.is_empty()).collect()
}

/// Returns the paths in `folder`, or none if it is no folder.
fn within(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

/// Returns the calls of a run, in any format. Unreadable lines are left out.
pub(crate) fn read(run: &[u8]) -> Vec<RawCall> {
    let (mut calls, mut positions) = (Vec::new(), HashMap::new());
    let _ = unstuck_trace::read(run, None, &mut |event| match event {
        Event::Call(call) => {
            positions.insert(call.index, calls.len());
            let (tool, args) = (call.tool.to_owned(), call.compared_args().into_owned());
            calls.push(RawCall { tool, args, ..RawCall::default() });
        }
        Event::Outcome(outcome) => {
            let call = positions.get(&outcome.call).and_then(|&position| calls.get_mut(position));
            if let Some(call) = call {
                outcome.text.clone_into(&mut call.result);
                (call.is_answered, call.failed) = (true, outcome.failed);
                call.cut = outcome.cut.map(str::to_owned);
            }
        }
        Event::Message(_) | Event::Begin(_) | Event::Usage(_) | Event::Time(_) => {}
    });
    calls
}
