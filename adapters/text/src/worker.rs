//! One watched worker: raw calls and results in, verdicts out.

use unstuck_core::{
    Action, Call, CallId, Detector, Digest, OPEN_MAX, Outcome, Policy, PolicyError, Tag, Turn,
    Verdict,
};

use crate::declaration::ToolDeclaration;
use crate::lines::{LINE_WORDS, Lines};
use crate::recipe::{Answer, ReadAnswer, ReadCall, Recipe};
use crate::similar_calls::SimilarCalls;

/// Makes the digests of one worker's calls and results, and remembers what later ones are compared with.
///
/// With `WORDS` of 0 it remembers no [`Lines`], and takes 4 KiB less.
///
/// ```
/// use unstuck_text::{Answer, Digester, Recipe};
///
/// let mut digester: Digester = Digester::new(Recipe::BALANCED);
/// let call = digester.call("grep", r#"{"pattern":"fn main","path":"src"}"#);
/// let same = digester.call("grep", r#"{"path":"src","pattern":"fn main"}"#);
/// assert_eq!(call, same, "the order of members does not matter");
///
/// let answer = Answer { kind: call.kind(), ..Answer::new("grep", "src/main.rs:1", false) };
/// assert!(!digester.outcome(&answer).has_failed());
/// ```
#[derive(Clone, Debug)]
pub struct Digester<const WORDS: usize = LINE_WORDS> {
    /// The rules by which digests are made.
    pub recipe: Recipe,
    /// The groups of similar calls.
    pub similar: SimilarCalls,
    /// The lines that were shown.
    pub lines: Lines<WORDS>,
}

impl<const WORDS: usize> Digester<WORDS> {
    /// Creates a digester that remembers nothing.
    pub const fn new(recipe: Recipe) -> Self {
        Self { recipe, similar: SimilarCalls::new(), lines: Lines::new() }
    }

    /// Makes a call of `tool` with `args`, a JSON text. O(length of `args`).
    pub fn call(&mut self, tool: &str, args: &str) -> Call {
        self.recipe.call_among(&mut self.similar, tool, args)
    }

    /// Like [`Digester::call`], for a tool that is declared at run time as `said`.
    pub fn call_as(&mut self, said: ToolDeclaration<'_>, tool: &str, args: &str) -> Call {
        self.recipe.call_among_as(&mut self.similar, said, tool, args)
    }

    /// Makes the outcome of `answer`. O(length of the answer).
    pub fn outcome(&mut self, answer: &Answer<'_>) -> Outcome {
        self.recipe.outcome_among(&mut self.lines, answer)
    }

    /// Makes the call of `read`, which [`Recipe::read_call`] made: a host that must not keep others waiting
    /// reads the text before it locks the memory. O(1).
    ///
    /// ```
    /// use unstuck_text::{Answer, Digester, Recipe};
    ///
    /// let (recipe, mut lines) = (Recipe::BALANCED, Vec::new());
    /// let call = recipe.read_call("read", r#"{"path":"a.rs"}"#);
    /// let answer = Answer { kind: call.alone().kind(), ..Answer::new("read", "fn main() {}", false) };
    /// let read = recipe.read_answer(&answer, |line| lines.push(line));
    ///
    /// let (mut late, mut at_once) = (<Digester>::new(recipe), <Digester>::new(recipe));
    /// assert_eq!(late.join(&call), at_once.call("read", r#"{"path":"a.rs"}"#));
    /// assert_eq!(late.compare(&read, lines), at_once.outcome(&answer));
    /// ```
    pub fn join(&mut self, read: &ReadCall) -> Call {
        read.among(&mut self.similar)
    }

    /// Makes the outcome of `read`, which [`Recipe::read_answer`] made and for which it passed on `lines`.
    /// O(`lines`).
    pub fn compare(&mut self, read: &ReadAnswer, lines: impl IntoIterator<Item = u64>) -> Outcome {
        let is_stale = WORDS != 0 && self.lines.show_all(|each| lines.into_iter().for_each(each));
        if is_stale { read.stale } else { read.fresh }
    }

    /// Makes a text-only turn. O(length of `text`).
    pub fn turn(&self, text: &str) -> Turn {
        self.recipe.turn(text)
    }

    /// Returns the digest of a user message, and forgets the lines that were shown: the user may want to
    /// see them again. O(length of `text`).
    pub fn message(&mut self, text: &str) -> Digest {
        self.lines.clear();
        self.recipe.message(text)
    }

    /// Forgets everything, because a new run begins.
    pub fn clear(&mut self) {
        self.similar.clear();
        self.lines.clear();
    }
}

/// The name of an announced call, for its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ticket {
    /// The engine's name of the call.
    pub id: CallId,
    /// The kind of the call, which decides how its result is read.
    pub kind: Tag,
}

/// The answer to an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the verdict says whether to run the call"]
pub struct Announcement {
    /// The name of the call, for its outcome.
    pub ticket: Ticket,
    /// The verdict on this call, before it runs.
    pub verdict: Verdict,
    /// The strongest verdict on earlier calls that this announcement settled. It says nothing about this
    /// call.
    pub settled: Verdict,
}

impl Announcement {
    /// Returns whether the call must not run.
    pub fn is_blocked(&self) -> bool {
        self.verdict.action >= Action::Block
    }
}

/// Watches the calls of one worker: a [`Detector`] and the [`Digester`] that feeds it.
///
/// It takes a tool's name, its arguments as JSON, and its result as text, and returns verdicts. It needs no
/// heap; `size_of` is all its memory. `W` and `OPEN` are parameters of the detector. `WORDS` is the parameter
/// of [`Lines`]: 0, the default here, for a microcontroller, and [`LINE_WORDS`] for a host with memory
/// to spare.
///
/// ```
/// use unstuck_core::Action;
/// use unstuck_text::{Preset, Worker};
///
/// let preset = Preset::BALANCED;
/// let mut worker: Worker<'_, 20> = Worker::new(preset.policy, preset.recipe)?;
/// for round in 1..=3 {
///     let asked = worker.announce("read_sensor", r#"{"joint":3}"#);
///     assert!(!asked.is_blocked());
///     let verdict = worker.outcome(asked.ticket, "read_sensor", "no signal", true);
///     assert_eq!(verdict.action, if round < 3 { Action::Proceed } else { Action::Nudge });
/// }
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
///
/// Everything that needs no text is a method of the public field `detector`: statistics, feedback, retries,
/// checkpoints.
#[derive(Clone, Debug)]
pub struct Worker<'p, const W: usize, const OPEN: usize = OPEN_MAX, const WORDS: usize = 0> {
    /// The engine.
    pub detector: Detector<'p, W, OPEN>,
    /// The digests, and what they are compared with.
    pub digester: Digester<WORDS>,
}

impl<'p, const W: usize, const OPEN: usize, const WORDS: usize> Worker<'p, W, OPEN, WORDS> {
    /// Creates a worker that has done nothing.
    ///
    /// # Errors
    ///
    /// The error of [`Detector::new`] if the policy's window is longer than `W`.
    pub fn new(policy: &'p Policy<'p>, recipe: Recipe) -> Result<Self, PolicyError> {
        Ok(Self { detector: Detector::new(policy)?, digester: Digester::new(recipe) })
    }

    /// Announces a call of `tool` with `args`, a JSON text, before it runs. The call is a step of its own.
    /// O(length of `args` + W).
    pub fn announce(&mut self, tool: &str, args: &str) -> Announcement {
        let call = self.digester.call(tool, args);
        self.announce_call(call)
    }

    /// Like [`Worker::announce`]. Calls that the agent issued together share a `step`.
    pub fn announce_in(&mut self, step: u64, tool: &str, args: &str) -> Announcement {
        let call = self.digester.call(tool, args);
        self.announce_call(call.step(step))
    }

    fn announce_call(&mut self, call: Call) -> Announcement {
        let mut settled = Verdict::PROCEED;
        let (ticket, verdict) = self.announce_each(call, |one| settled = settled.or_stronger(one));
        Announcement { ticket, verdict, settled }
    }

    /// Announces a call that the digester made. Gives `each` every verdict on an earlier call that settles
    /// with it. Returns the call's ticket and the verdict on it.
    pub fn announce_each(&mut self, call: Call, each: impl FnMut(Verdict)) -> (Ticket, Verdict) {
        let (id, verdict) = self.detector.announce_each(call, each);
        (Ticket { id, kind: call.kind() }, verdict)
    }

    /// Reports the result of a call of `tool`. `failed` says whether the host knows that it failed.
    /// Returns the strongest verdict. O(length of `result` + W) for each call that settles.
    pub fn outcome(&mut self, ticket: Ticket, tool: &str, result: &str, failed: bool) -> Verdict {
        let mut strongest = Verdict::PROCEED;
        let each = |one| strongest = strongest.or_stronger(one);
        self.outcome_each(ticket, Answer::new(tool, result, failed), each);
        strongest
    }

    /// Like [`Worker::outcome`], but gives `each` every verdict that has a finding. The kind of the answer
    /// is that of the ticket. Returns the outcome.
    pub fn outcome_each(
        &mut self,
        ticket: Ticket,
        answer: Answer<'_>,
        each: impl FnMut(Verdict),
    ) -> Outcome {
        let outcome = self.digester.outcome(&Answer { kind: ticket.kind, ..answer });
        self.detector.outcome_each(ticket.id, outcome, each);
        outcome
    }

    /// Reports that a call was not run, because the host or this engine blocked it. It counts as an
    /// attempt. Returns the strongest verdict.
    pub fn vetoed(&mut self, ticket: Ticket) -> Verdict {
        self.detector.vetoed(ticket.id)
    }

    /// Reports a turn without a call. O(length of `text`).
    pub fn text_turn(&mut self, text: &str) -> Verdict {
        self.detector.text_turn(self.digester.turn(text))
    }

    /// Reports a message of the user. A new instruction starts everything afresh; see
    /// [`Detector::user_message`]. O(length of `text`).
    pub fn user_message(&mut self, text: &str) -> Verdict {
        let message = self.digester.message(text);
        self.detector.user_message(message)
    }

    /// Forgets all calls and turns, because a new run begins. Statistics stay.
    pub fn clear(&mut self) {
        self.detector.clear();
        self.digester.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::collection::vec as list;
    use proptest::prelude::*;
    use unstuck_core::{Action, Detector, Verdict};

    use super::{Digester, Worker};
    use crate::lines::{LINE_WORDS, Lines};
    use crate::recipe::{Answer, PRESETS, Preset};
    use crate::similar_calls::SimilarCalls;
    use crate::tables::lines;

    /// An event: its kind, and how it varies.
    type Event = (u8, usize);

    /// Calls, each a tool and its arguments.
    static CALLS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
        let calls = lines("calls of a worker").into_iter();
        let calls = calls.map(|call| call.split_once(' ').map(|(a, b)| (a.into(), b.into())));
        calls.map(|call| call.expect("a tool")).collect()
    });

    static RESULTS: LazyLock<Vec<String>> = LazyLock::new(|| lines("results of a worker"));

    /// Answers that share lines, of each kind that is read differently.
    static PAGES: LazyLock<Vec<String>> = LazyLock::new(|| lines("pages of a worker"));

    const TEXTS: [&str; 3] = ["Go on.", "Fix the test.", ""];

    /// The verdicts of a worker.
    fn watched(preset: &Preset, events: &[Event]) -> Vec<Verdict> {
        let worker: Result<Worker<'_, 64, 8, LINE_WORDS>, _> =
            Worker::new(preset.policy, preset.recipe);
        let mut worker = worker.expect("a window of at most 64");
        let mut open = Vec::new();
        let verdicts = events.iter().map(|&(kind, how)| match kind {
            0..=2 => {
                let (tool, args) = &CALLS[how % CALLS.len()];
                let asked = worker.announce(tool, args);
                open.push((asked.ticket, tool));
                assert_eq!(asked.is_blocked(), asked.verdict.action >= Action::Block);
                asked.verdict.or_stronger(asked.settled)
            }
            3..=6 => match open.pop() {
                Some((ticket, _)) if how == 0 => worker.vetoed(ticket),
                Some((ticket, tool)) => {
                    worker.outcome(ticket, tool, &RESULTS[how % RESULTS.len()], how % 2 == 0)
                }
                None => Verdict::PROCEED,
            },
            7 => worker.text_turn(TEXTS[how % TEXTS.len()]),
            8 => worker.user_message(TEXTS[how % TEXTS.len()]),
            _ => {
                worker.clear();
                Verdict::PROCEED
            }
        });
        verdicts.collect()
    }

    /// The verdicts of the same parts, put together by hand.
    fn by_hand(preset: &Preset, events: &[Event]) -> Vec<Verdict> {
        let recipe = preset.recipe;
        let mut detector: Detector<'_, 64> =
            Detector::new(preset.policy).expect("a window of at most 64");
        let (mut similar, mut lines) = (SimilarCalls::new(), <Lines>::new());
        let mut open = Vec::new();
        let verdicts = events.iter().map(|&(kind, how)| match kind {
            0..=2 => {
                let (tool, args) = &CALLS[how % CALLS.len()];
                let call = recipe.call_among(&mut similar, tool, args);
                let asked = detector.announce(call);
                open.push((asked.id, call.kind(), tool));
                asked.verdict.or_stronger(asked.settled)
            }
            3..=6 => match open.pop() {
                Some((id, ..)) if how == 0 => detector.vetoed(id),
                Some((id, kind, tool)) => {
                    let answer = Answer::new(tool, &RESULTS[how % RESULTS.len()], how % 2 == 0);
                    let answer = Answer { kind, ..answer };
                    detector.outcome(id, recipe.outcome_among(&mut lines, &answer))
                }
                None => Verdict::PROCEED,
            },
            7 => detector.text_turn(recipe.turn(TEXTS[how % TEXTS.len()])),
            8 => {
                lines.clear();
                detector.user_message(recipe.message(TEXTS[how % TEXTS.len()]))
            }
            _ => {
                (similar, lines) = (SimilarCalls::new(), Lines::new());
                detector.clear();
                Verdict::PROCEED
            }
        });
        verdicts.collect()
    }

    proptest! {
        #[test]
        fn a_text_that_was_read_before_has_the_same_digests(
            events in list((0..CALLS.len(), 0..CALLS.len(), 0..PAGES.len(), 0..8_u8), 0..60)
        ) {
            for preset in &PRESETS {
                let recipe = preset.recipe;
                let (mut late, mut at_once) = (Digester::<LINE_WORDS>::new(recipe), Digester::new(recipe));
                let mut without: Digester<0> = Digester::new(recipe);
                for &(call, other, page, how) in &events {
                    let (tool, args) = &CALLS[call];
                    let read = recipe.read_call(tool, args);
                    prop_assert_eq!(read.alone(), recipe.call(tool, args));
                    prop_assert_eq!(late.join(&read), at_once.call(tool, args));

                    let kind = recipe.call(&CALLS[other].0, &CALLS[other].1).kind();
                    let answer = Answer { kind, ..Answer::new(tool, &PAGES[page], how == 0) };
                    let mut lines = Vec::new();
                    let read = recipe.read_answer(&answer, |line| lines.push(line));
                    prop_assert_eq!(without.compare(&read, lines.clone()), recipe.outcome_of(&answer));
                    prop_assert_eq!(late.compare(&read, lines), at_once.outcome(&answer));
                    prop_assert_eq!(&late.lines, &at_once.lines);
                    if how == 1 {
                        late.clear();
                        at_once.clear();
                    }
                }
            }
        }

        #[test]
        fn a_worker_judges_as_its_parts_do(events in list((0..10_u8, 0..20_usize), 0..80)) {
            for preset in &PRESETS {
                let name = preset.policy.name();
                prop_assert_eq!(watched(preset, &events), by_hand(preset, &events), "{}", name);
            }
        }
    }

    #[test]
    fn a_worker_without_lines_knows_none() {
        let preset = Preset::BALANCED;
        let mut worker: Worker<'_, 20> =
            Worker::new(preset.policy, preset.recipe).expect("a window of 20");
        assert!(!worker.digester.lines.show("a line that is long enough"));
        assert!(!worker.digester.lines.show("a line that is long enough"));
        assert!(size_of_val(&worker) < 4096, "{}", size_of_val(&worker));
    }
}
