//! The benchmark `engine`: the engine beside other detectors.

use std::fmt;
use std::io;

use clap::ValueEnum;
use serde::Serialize;
use unstuck_core::Detector;

use crate::contender::{Contender, Input};
use crate::endurance::Endurance;
use crate::instructions::{NOT_COUNTED, can_be_counted, per_turn, word};
use crate::report::{Measurement, Report, rounded};
use crate::rounds::{Case, Timing, take_turns};
use crate::stream::{ARGS_LENGTH, RESULT_LENGTH, Stream};

/// The number of rounds.
const ROUNDS: usize = 51;

/// One contender on one stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The stream.
    pub stream: Stream,
    /// The contender.
    pub contender: Contender,
    /// The share of the calls that the contender flags, in percent.
    pub flagged_percent: f64,
    /// The median time of a call with its result, in nanoseconds.
    pub ns_per_call: f64,
    /// Half of that time, because a call with its result is two events.
    pub ns_per_event: f64,
    /// The median ratio to the plain detector on the same stream. Below 1 is faster.
    pub ratio: f64,
    /// Half the instructions of a call with its result, if they were counted.
    pub instructions_per_event: Option<f64>,
}

impl Measurement for Comparison {
    const HEADINGS: &'static [&'static str] =
        &["stream", "judged by", "flagged", "ns/call", "ns/event", "x plain", "instructions/event"];
    const WORDS: usize = 2;

    fn cells(&self) -> Vec<String> {
        vec![
            self.stream.name().to_owned(),
            self.contender.name().to_owned(),
            format!("{:.1} %", self.flagged_percent),
            format!("{:.0}", self.ns_per_call),
            format!("{:.1}", self.ns_per_event),
            format!("{:.3}", self.ratio),
            rounded(self.instructions_per_event, 0),
        ]
    }
}

/// The memory of a detector, which allocates nothing beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// The number of records in its window.
    pub window: u8,
    /// The size of the value, in bytes.
    pub bytes: usize,
}

impl Size {
    /// Returns the sizes of the measured detectors.
    pub fn all() -> [Self; 3] {
        [
            Self { window: 8, bytes: size_of::<Detector<'_, 8>>() },
            Self { window: 20, bytes: size_of::<Detector<'_, 20>>() },
            Self { window: 64, bytes: size_of::<Detector<'_, 64>>() },
        ]
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Detector<{}>: {} bytes", self.window, self.bytes)
    }
}

/// Measures everything.
///
/// # Errors
///
/// If valgrind fails.
pub fn measure() -> io::Result<Report> {
    let mut left_out = Vec::new();
    let streams = Stream::value_variants().iter();
    let mut comparisons: Vec<_> = streams.flat_map(|&stream| compare(stream)).collect();
    if can_be_counted() {
        for row in &mut comparisons {
            let words = [word(&row.contender), word(&row.stream)];
            let counted = per_turn("engine", &words, row.contender.calls() / 2)?;
            row.instructions_per_event = Some(counted / 2.0);
        }
    } else {
        left_out.push(NOT_COUNTED);
    }
    let endurance = Endurance::measure();
    let mut report = report(&comparisons, Size::all(), endurance)?;
    for reason in left_out {
        report.leave_out(reason);
    }
    Ok(report)
}

/// Runs `contender` over `stream` once, for valgrind to count. Returns the number of flagged calls.
pub fn count(contender: Contender, stream: Stream, calls: u16) -> u32 {
    contender.flagged(&Input::of(stream), calls)
}

fn report(
    comparisons: &[Comparison],
    sizes: [Size; 3],
    endurance: Endurance,
) -> io::Result<Report> {
    let mut report = Report::default();
    report.table("rows", comparisons)?;
    report.remark(&format!(
        "A call with its result is two events. `engine` takes digests; all others take {ARGS_LENGTH} \
         bytes of arguments and\n{RESULT_LENGTH} of a result, which only `loop-guardrail` and \
         `unstuck` read. `x plain` is the time divided by that of\nthe plain detector.\n"
    ));
    report.lines("sizes", &sizes)?;
    report.lines("endurance", &[endurance])?;
    Ok(report)
}

/// Times all contenders on `stream` in turns.
fn compare(stream: Stream) -> Vec<Comparison> {
    let input = Input::of(stream);
    let contenders = Contender::value_variants().iter().filter(|one| one.runs_on(stream));
    let contenders: Vec<Contender> = contenders.copied().collect();
    let case = |contender: &Contender| {
        let (contender, input) = (*contender, &input);
        let calls = contender.calls();
        Case { calls, run: Box::new(move || contender.flagged(input, calls)) }
    };
    let cases: Vec<Case<'_>> = contenders.iter().map(case).collect();
    let comparison = |(contender, timing): (Contender, Timing)| {
        let Timing { ns_per_call, ratio, answer } = timing;
        assert_eq!(answer == 0, stream == Stream::AllNew, "{contender:?} on {stream:?}");
        Comparison {
            stream,
            contender,
            flagged_percent: f64::from(answer) * 100.0 / f64::from(contender.calls()),
            ns_per_call,
            ns_per_event: ns_per_call / 2.0,
            ratio,
            instructions_per_event: None,
        }
    };
    let timings = take_turns(&cases, ROUNDS);
    contenders.iter().copied().zip(timings).map(comparison).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_one_table_and_a_line_for_all_else() {
        let comparison = |stream, contender, ns_per_call, instructions_per_event| Comparison {
            stream,
            contender,
            flagged_percent: 2.5,
            ns_per_call,
            ns_per_event: ns_per_call / 2.0,
            ratio: ns_per_call / 800.0,
            instructions_per_event,
        };
        let comparisons = [
            comparison(Stream::AllNew, Contender::Plain, 800.0, Some(8000.0)),
            comparison(Stream::AllNew, Contender::Window20, 80.3, None),
            comparison(Stream::Cycle, Contender::Plain, 800.0, Some(8000.5)),
        ];
        let sizes = [8, 20, 64].map(|window| Size { window, bytes: 1000 });
        let endurance =
            Endurance { millions: 10, first_ns_per_event: 41.04, last_ns_per_event: 41.06 };
        let mut report = report(&comparisons, sizes, endurance).unwrap();
        report.leave_out(NOT_COUNTED);
        insta::assert_snapshot!(report);
    }
}
