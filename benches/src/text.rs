//! What is made of texts: digests, calls, outcomes, likeness, verdicts.

use std::hint::black_box;

use clap::ValueEnum;
use serde::Serialize;
use unstuck::Guard;
use unstuck_text::{Masks, Recipe, SimilarCalls, similarity};

use crate::contender::unstuck;
use crate::stream::{ARGS_LENGTH, TOOL};
use crate::texts::Kind;

/// What is made of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// The digest of a text in which nothing is masked: a hash of its bytes.
    Plain,
    /// Both digests of a text without all that is volatile.
    Masked,
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
    /// The same through a guard, as a host has it.
    Guard,
}

impl Work {
    /// What the tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "digest, nothing masked",
            Self::Masked => "digest, masked",
            Self::Outcome => "outcome",
            Self::Call => "call",
            Self::CallAmong => "call among others",
            Self::Similarity => "similarity of two",
            Self::Verdict => "verdict",
            Self::Guard => "verdict, by a guard",
        }
    }

    /// What is made of texts of this kind.
    pub const fn on(kind: Kind) -> &'static [Self] {
        match kind {
            Kind::Log | Kind::Compiler | Kind::Prose => &[Self::Plain, Self::Masked, Self::Outcome],
            Kind::Args => &[Self::Call, Self::CallAmong, Self::Similarity],
            Kind::Call => &[Self::Verdict, Self::Guard],
        }
    }

    /// Does it to each of `texts`. How often the answer is another than the one before, or, of
    /// verdicts, how many find fault: the same every time.
    pub fn run(self, texts: &[String]) -> u32 {
        const BALANCED: Recipe = Recipe::BALANCED;
        let mut groups = SimilarCalls::new();
        match self {
            Self::Plain => changes(texts, |text| Masks::NONE.digest(text.as_bytes())),
            Self::Masked => changes(texts, |text| Masks::ALL.digest(text.as_bytes())),
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
        }
    }
}

/// With how many calls a guard finds fault.
fn guarded(texts: &[String]) -> u32 {
    let mut guard = Guard::new();
    let finds_fault = |text: &String| {
        let (args, result) = black_box(text).split_at(ARGS_LENGTH);
        let before = guard.before(TOOL, args);
        let after = before.ticket().map(|ticket| guard.after(ticket, result, false));
        u32::from(after.is_none_or(|after| after.evidence().is_some()))
    };
    texts.iter().map(finds_fault).sum()
}

/// How often the answer to a text is another than that to the text before.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_answers_of_their_own_and_no_new_call_is_found_fault_with() {
        for &kind in Kind::value_variants() {
            for &length in kind.lengths() {
                let texts = kind.texts(length);
                for work in Work::on(kind) {
                    let (answer, all) = (work.run(&texts), u32::try_from(texts.len()).unwrap());
                    match work {
                        Work::Verdict | Work::Guard => assert_eq!(answer, 0),
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
