//! The benchmark `text`: digests, calls, outcomes, similarity and verdicts from raw text.

use std::hint::black_box;
use std::io;

use clap::ValueEnum;
use serde::Serialize;
use unstuck::Guard;
use unstuck_text::{Masks, Recipe, SimilarCalls, similarity};

use crate::contender::{guardrail, unstuck};
use crate::documents::bytes;
use crate::instructions::{NOT_COUNTED, can_be_counted, per_turn, word};
use crate::real_calls::ABSENT;
use crate::real_text::{self, RealTime};
use crate::regex_masks;
use crate::report::{Measurement, Report, rounded};
use crate::rounds::{Case, Timing, take_turns};
use crate::stream::{ARGS_LENGTH, TOOL};
use crate::texts::Kind;

/// The number of rounds.
const ROUNDS: usize = 51;

/// The number of turns in which instructions are counted. The heap takes a few to settle.
const TURNS: u16 = 4;

/// The work that is done on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// The digest of a text without masks, which is a hash of its bytes.
    Plain,
    /// Both digests of a text with all masks.
    Masked,
    /// A digest without what one regular expression matches.
    Regex,
    /// `Recipe::outcome` by `BALANCED`.
    Outcome,
    /// `Recipe::call` by `BALANCED`.
    Call,
    /// `Recipe::call_among` by `BALANCED`.
    CallAmong,
    /// `similarity` of a text and the next.
    Similarity,
    /// A call and its outcome by `BALANCED`, through the detector.
    Verdict,
    /// The same through a guard, which most hosts use.
    Guard,
    /// The same through the crate `loop-guardrail`.
    LoopGuardrail,
}

impl Work {
    /// Returns the name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "digest, nothing masked",
            Self::Masked => "digest, masked",
            Self::Regex => "digest, masked by `regex`",
            Self::Outcome => "outcome",
            Self::Call => "call",
            Self::CallAmong => "call among others",
            Self::Similarity => "similarity of two",
            Self::Verdict => "verdict",
            Self::Guard => "verdict, by a guard",
            Self::LoopGuardrail => "verdict, by `loop-guardrail`",
        }
    }

    /// Returns the kinds of work that are measured on texts of this kind.
    pub const fn on(kind: Kind) -> &'static [Self] {
        match kind {
            Kind::Log | Kind::Packages | Kind::Compiler | Kind::Prose => {
                &[Self::Plain, Self::Masked, Self::Regex, Self::Outcome]
            }
            Kind::Args => &[Self::Call, Self::CallAmong, Self::Similarity],
            Kind::Call => &[Self::Verdict, Self::Guard, Self::LoopGuardrail],
        }
    }

    /// Does the work on each of `texts`. Returns how often the answer differs from the one before, or
    /// the number of flagged calls. The result is the same every time.
    pub fn run(self, texts: &[String]) -> u32 {
        const BALANCED: Recipe = Recipe::BALANCED;
        let mut groups = SimilarCalls::new();
        match self {
            Self::Plain => changes(texts, |text| Masks::NONE.digest(text.as_bytes())),
            Self::Masked => changes(texts, |text| Masks::ALL.digest(text.as_bytes())),
            Self::Regex => changes(texts, regex_masks::digest),
            Self::Outcome => changes(texts, |text| BALANCED.outcome(TOOL, text, false)),
            Self::Call => changes(texts, |text| BALANCED.call(TOOL, text)),
            Self::CallAmong => changes(texts, |text| BALANCED.call_among(&mut groups, TOOL, text)),
            Self::Similarity => {
                let mut others = texts.iter().cycle();
                others.next();
                changes(texts, |text| others.next().map(|other| similarity(text, other)))
            }
            Self::Verdict => {
                unstuck(texts.iter().map(|text| black_box(text).split_at(ARGS_LENGTH)))
            }
            Self::Guard => guarded(texts),
            Self::LoopGuardrail => {
                let calls = texts.iter().map(|text| black_box(text).split_at(ARGS_LENGTH));
                guardrail(calls.map(|(args, result)| (TOOL, args, result)))
            }
        }
    }
}

/// Returns the number of calls that a guard flags.
fn guarded(texts: &[String]) -> u32 {
    let mut guard = Guard::new();
    let flags = |text: &String| {
        let (args, result) = black_box(text).split_at(ARGS_LENGTH);
        let before = guard.before(TOOL, args);
        let after = before.ticket().map(|ticket| guard.after(ticket, result, false));
        u32::from(after.is_none_or(|after| after.evidence().is_some()))
    };
    texts.iter().map(flags).sum()
}

/// Returns how often the answer differs from the one before.
fn changes<T: PartialEq>(texts: &[String], mut answer: impl FnMut(&str) -> T) -> u32 {
    let mut before = None;
    let changed = |text: &String| {
        let answer = Some(answer(black_box(text)));
        let changed = answer != before;
        before = answer;
        u32::from(changed)
    };
    texts.iter().map(changed).sum()
}

/// One kind of work on texts of one kind and length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WorkTime {
    /// The kind of the texts.
    pub kind: Kind,
    /// The length of the texts, without their last line.
    pub length: usize,
    /// The work.
    pub work: Work,
    /// The median time for a text, in nanoseconds.
    pub ns: f64,
    /// The speed in billions of bytes a second.
    pub gigabytes_per_second: f64,
    /// The instructions for a text, if they were counted.
    pub instructions: Option<f64>,
    /// The instructions for a byte, if they were counted.
    pub instructions_per_byte: Option<f64>,
}

impl Measurement for WorkTime {
    const HEADINGS: &'static [&'static str] =
        &["text", "made of it", "ns", "GB/s", "instructions", "instructions/byte"];
    const WORDS: usize = 2;

    fn cells(&self) -> Vec<String> {
        vec![
            format!("{} B, {}", self.length, self.kind.name()),
            self.work.name().to_owned(),
            format!("{:.0}", self.ns),
            format!("{:.2}", self.gigabytes_per_second),
            rounded(self.instructions, 0),
            rounded(self.instructions_per_byte, 1),
        ]
    }
}

/// Measures all work on texts of every kind and length.
///
/// # Errors
///
/// If valgrind fails.
pub fn measure() -> io::Result<Report> {
    let kinds = Kind::value_variants().iter();
    let cases = kinds.flat_map(|&kind| kind.lengths().iter().map(move |&length| (kind, length)));
    let mut work_times: Vec<_> =
        cases.flat_map(|(kind, length)| work_times(kind, length)).collect();
    let can_be_counted = can_be_counted();
    for row in work_times.iter_mut().filter(|_| can_be_counted) {
        let words = [word(&row.work), word(&row.kind), row.length.to_string()];
        let texts = row.kind.texts(row.length);
        let counted = per_turn("text", &words, TURNS)?;
        row.instructions = Some(counted / f64::from(number(&texts)));
        row.instructions_per_byte = Some(counted / bytes(&texts));
    }
    report(&work_times, &real_text::measure(can_be_counted)?, can_be_counted)
}

/// Does the work on the texts of a round `times` times, for valgrind to count. Returns the sum of the
/// results.
pub fn count(work: Work, kind: Kind, length: usize, times: u16) -> u32 {
    let texts = kind.texts(length);
    (0..times).map(|_| work.run(&texts)).fold(0, u32::wrapping_add)
}

fn report(
    work_times: &[WorkTime],
    real_times: &[RealTime],
    is_counted: bool,
) -> io::Result<Report> {
    let mut report = Report::default();
    report.table("rows", work_times)?;
    report.table("real", real_times)?;
    report.remark(
        "By the recipe of `balanced`, with all masks. A similarity compares two texts of the length. A \
         verdict includes\na call and its outcome, from raw arguments and a raw result.",
    );
    if real_times.is_empty() {
        report.leave_out(ABSENT);
    }
    if !is_counted {
        report.leave_out(NOT_COUNTED);
    }
    Ok(report)
}

/// Times all work on texts of one kind and length in turns.
fn work_times(kind: Kind, length: usize) -> Vec<WorkTime> {
    let texts = &kind.texts(length);
    let works = Work::on(kind).iter();
    let case = |&work: &Work| Case { calls: number(texts), run: Box::new(move || work.run(texts)) };
    let timings = take_turns(&works.clone().map(case).collect::<Vec<_>>(), ROUNDS);
    let bytes_per_text = bytes(texts) / f64::from(number(texts));
    let work_time = |(&work, Timing { ns_per_call, .. })| WorkTime {
        kind,
        length,
        work,
        ns: ns_per_call,
        gigabytes_per_second: bytes_per_text / ns_per_call,
        instructions: None,
        instructions_per_byte: None,
    };
    works.zip(timings).map(work_time).collect()
}

/// Returns the number of texts.
fn number(texts: &[String]) -> u16 {
    u16::try_from(texts.len()).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_one_table_and_a_line_for_all_else() {
        let work_time = |kind, length, work, instructions: Option<f64>| WorkTime {
            kind,
            length,
            work,
            ns: 1000.4,
            gigabytes_per_second: 0.456,
            instructions,
            instructions_per_byte: instructions.map(|count| count / 200.0),
        };
        let work_times = [
            work_time(Kind::Log, 200, Work::Masked, Some(1234.5)),
            work_time(Kind::Log, 200, Work::Outcome, Some(2345.6)),
            work_time(Kind::Log, 100_000, Work::Outcome, None),
        ];
        insta::assert_snapshot!(report(&work_times, &[], false).unwrap());
    }

    #[test]
    fn each_text_has_its_own_answer_and_new_calls_are_not_flagged() {
        for &kind in Kind::value_variants() {
            for &length in kind.lengths() {
                let texts = kind.texts(length);
                for work in Work::on(kind) {
                    let (answer, all) = (work.run(&texts), u32::try_from(texts.len()).unwrap());
                    match work {
                        Work::Verdict | Work::Guard | Work::LoopGuardrail => assert_eq!(answer, 0),
                        // The first to the second, and the second to the first.
                        Work::Similarity if all == 2 => assert_eq!(answer, 1),
                        Work::Similarity => {}
                        _ => assert_eq!(answer, all, "{work:?}, {kind:?}, {length}"),
                    }
                }
            }
        }
    }
}
