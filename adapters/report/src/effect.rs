//! The effect of a note: what the agent did next.
//!
//! A note is a finding of which the agent was told: with a result, or by the refusal of a call. All numbers are those
//! of one worker's calls, counted from 1.
//!
//! - The **call of the note** is the number of calls that the worker had made when it was told. In a recorded run it is
//!   the call at which the loop was found.
//! - A call **goes on** with the loop if the guard finds the loop at this call again. It finds a loop at each call that
//!   continues it, so that the measure needs no words of the agent.
//! - The loop is **left** at its latest such call if [`FOLLOWED_BY`] calls or more come after it.
//!
//! | effect | meaning |
//! | --- | --- |
//! | [`Left`](Effect::Left) | The loop is left, and only the next [`SOON`] calls went on with it, or none. |
//! | [`Later`](Effect::Later) | The loop is left, after more calls than that. |
//! | [`Never`](Effect::Never) | Another finding about these calls followed, in this loop or in one that holds the call of the note. Or the run ended in the loop, after more than [`SOON`] calls that went on with it. |
//! | [`Ended`](Effect::Ended) | The run ended right after the note, or has not gone on yet: nobody can tell. |
//!
//! The two calls are a tolerance. Calls that were issued together with the call of the note are on their way before the
//! agent reads it. An agent that comes back later has never left, even if many calls lie between. So the share of loops
//! that are left is rather too small than too large. A finding of which the agent was not told, because the hook only
//! observes, has an effect in the same sense: it shows what agents do by themselves.

use std::collections::HashMap;

use serde::Serialize;
use unstuck_core::Action;
use unstuck_trace::Event;

use crate::replay::{Location, ReplayFinding};
use crate::report::Loop;

/// The number of calls that must follow the latest call of a loop before it counts as left. The next note on a loop
/// comes after fewer.
pub const FOLLOWED_BY: u64 = 5;

/// The largest number of calls after a note that may go on with a loop that the agent leaves at once.
pub const SOON: u64 = 2;

/// What an agent did after a note. The [module](self) has the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The agent left the loop within two calls.
    Left,
    /// The agent left the loop later.
    Later,
    /// The agent did not leave the loop for good.
    Never,
    /// The run ended right after the note.
    Ended,
}

impl Effect {
    /// All effects, the best first.
    pub const ALL: [Self; 4] = [Self::Left, Self::Later, Self::Never, Self::Ended];

    /// Returns what came of the note, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Left => "the loop was left within two calls",
            Self::Later => "the loop was left later",
            Self::Never => "the agent went on with the loop",
            Self::Ended => "the run ended",
        }
    }

    /// Returns the effect of a note at the call `note` that no other note followed. The call `last` was the latest that
    /// went on with the loop, or is `note`. The worker has made `calls` calls.
    ///
    /// ```
    /// use unstuck_report::effect::Effect;
    ///
    /// assert_eq!(Effect::of(10, 12, 17), Effect::Left);
    /// assert_eq!(Effect::of(10, 13, 18), Effect::Later);
    /// assert_eq!(Effect::of(10, 13, 17), Effect::Never);
    /// assert_eq!(Effect::of(10, 10, 14), Effect::Ended);
    /// ```
    pub const fn of(note: u64, last: u64, calls: u64) -> Self {
        let is_soon = last <= note.saturating_add(SOON);
        match (is_left(last, calls), is_soon) {
            (true, true) => Self::Left,
            (true, false) => Self::Later,
            (false, false) => Self::Never,
            (false, true) => Self::Ended,
        }
    }
}

/// Returns whether a loop is left that was last found at the call `last`, now that the worker has made `calls` calls.
pub const fn is_left(last: u64, calls: u64) -> bool {
    calls >= last.saturating_add(FOLLOWED_BY)
}

/// The number of notes with each effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of notes, also of those whose effect is unknown.
    pub notes: usize,
    /// The number of notes with each of [`Effect::ALL`].
    effects: [usize; 4],
}

impl Counts {
    /// Counts a note.
    pub fn add(&mut self, effect: Option<Effect>) {
        self.notes += 1;
        for (count, one) in self.effects.iter_mut().zip(Effect::ALL) {
            *count += usize::from(effect == Some(one));
        }
    }

    /// Returns the number of notes with each of [`Effect::ALL`].
    pub const fn effects(&self) -> [usize; 4] {
        self.effects
    }

    /// Returns the number of notes after which the agent left the loop within two calls, and of all whose run went on.
    fn left(&self) -> (usize, usize) {
        let [left, later, never, _] = self.effects;
        (left, left + later + never)
    }

    /// Returns the share of the notes after which the agent left the loop within two calls, among those whose run went
    /// on.
    pub fn share(&self) -> Option<f64> {
        let (left, known) = self.left();
        ratio(left, known)
    }

    /// Returns the 95 % interval of the share.
    pub fn interval(&self) -> Option<Interval> {
        let (left, known) = self.left();
        wilson(left, known)
    }
}

/// What the agent did after the place of a note.
#[derive(Clone, Debug, Serialize)]
pub struct NoteEffect {
    /// The name of the rule.
    pub rule: &'static str,
    /// The action that the policy asks for: a nudge, a warning or a refusal.
    pub action: &'static str,
    /// The id of the loop.
    pub r#loop: String,
    /// The call at which it was found, counted from 0 in the file.
    pub at_call: usize,
    /// Whether the agent was told: the file has a message of this project at this call or the next one.
    pub told: bool,
    /// What the agent did then.
    pub effect: Effect,
}

impl NoteEffect {
    /// Returns the noun for what the agent was told, or would have been told.
    pub fn rung(&self) -> &'static str {
        match self.action {
            "warn" => "warning",
            "block" => "refusal",
            other => other,
        }
    }
}

/// The calls of a run, by worker.
#[derive(Default)]
pub(crate) struct Course {
    /// The indexes of the calls of each worker, with those of all its runs in the file.
    calls: HashMap<String, Vec<usize>>,
    /// The number of calls before each further run in the file.
    begins: Vec<usize>,
    count: usize,
}

impl Course {
    /// Takes in an event.
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Call(call) => {
                self.count = call.index + 1;
                if let Some(calls) = self.calls.get_mut(call.worker) {
                    calls.push(call.index);
                } else {
                    self.calls.insert(call.worker.to_owned(), vec![call.index]);
                }
            }
            Event::Begin(_) => self.begins.push(self.count),
            _ => {}
        }
    }

    /// Returns the effects of the findings about calls, in the order of the loops. `told` are the calls at which the file
    /// has a message of this project. O(findings²).
    pub(crate) fn effects(&self, loops: &[Loop], told: &[usize]) -> Vec<NoteEffect> {
        let found = loops.iter().flat_map(|one| one.rungs.iter().map(move |rung| (one, rung)));
        // After a stop, the agent could do nothing.
        let notes = found.filter(|(_, rung)| rung.action < Action::StartOver);
        let effect = |(one, rung): (&Loop, &ReplayFinding)| {
            let Location::Calls { at, .. } = rung.location else { return None };
            let calls = self.calls_of(&rung.worker, at);
            let has = |call: usize| calls.binary_search(&call).is_ok();
            let others = loops.iter().flat_map(|one| &one.rungs);
            let is_found_again = others.filter_map(|next| again(next, rung)).any(has);
            let count = |call: usize| calls.partition_point(|index| *index <= call);
            let (note, last) = (count(at), count(one.end.unwrap_or(at)));
            let next_call = calls.get(note).copied().unwrap_or(at);
            let is_over = || Effect::of(note as u64, last as u64, calls.len() as u64);
            Some(NoteEffect {
                rule: rung.rule,
                action: rung.action.name(),
                r#loop: rung.finding.loop_id.to_string(),
                at_call: at,
                told: told.iter().any(|call| (at..=next_call).contains(call) && has(*call)),
                effect: if is_found_again { Effect::Never } else { is_over() },
            })
        };
        notes.filter_map(effect).collect()
    }

    /// Returns the calls of this worker in the run that has the call `at`.
    fn calls_of(&self, worker: &str, at: usize) -> &[usize] {
        let all = self.calls.get(worker).map(Vec::as_slice).unwrap_or_default();
        let run = self.begins.partition_point(|begin| *begin <= at);
        let begin = run.checked_sub(1).and_then(|before| self.begins.get(before));
        let place = |call: Option<&usize>| call.map(|call| all.partition_point(|one| one < call));
        let end = place(self.begins.get(run)).unwrap_or(all.len());
        all.get(place(begin).unwrap_or(0)..end).unwrap_or_default()
    }
}

/// Returns the call of the later finding `next` if it is about the calls of `note`: about the same loop, or one that holds
/// the call of the note.
fn again(next: &ReplayFinding, note: &ReplayFinding) -> Option<usize> {
    let (Location::Calls { at, .. }, Location::Calls { first, at: later, .. }) =
        (note.location, next.location)
    else {
        return None;
    };
    let is_same = next.finding.loop_id == note.finding.loop_id;
    (next.worker == note.worker && later > at && (is_same || first <= at)).then_some(later)
}

/// The ends of an interval that holds the true value with a probability of 95 %.
pub type Interval = [f64; 2];

/// Returns the share that `part` is of `whole`, or `None` if there are none.
#[expect(clippy::cast_precision_loss, reason = "counts of runs and notes, far below 2^52")]
pub fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The half-width of a 95 % interval in standard deviations of the normal distribution.
const DEVIATIONS: f64 = 1.959_963_984_540_054;

/// Returns the 95 % confidence interval for the share from which `part` of `whole` came
/// (Wilson, *Probable Inference, the Law of Succession, and Statistical Inference*, 1927), or
/// `None` if there are none.
#[expect(clippy::cast_precision_loss, reason = "counts of runs and notes, far below 2^52")]
pub fn wilson(part: usize, whole: usize) -> Option<Interval> {
    let (n, share) = (whole as f64, ratio(part, whole)?);
    let square = DEVIATIONS * DEVIATIONS;
    let middle = share + square / (2.0 * n);
    let reach = DEVIATIONS * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    let end = |end: f64| (end / (1.0 + square / n)).clamp(0.0, 1.0);
    Some([end(middle - reach), end(middle + reach)])
}

#[cfg(test)]
mod tests {
    use unstuck_text::PRESETS;

    use super::*;
    use crate::cases::check;
    use crate::parts::{FullReport, Needs};
    use crate::report::Settings;

    #[test]
    fn each_effect_begins_and_ends_where_the_definition_says() {
        check("effect: the note, the latest call of the loop, and all calls", |calls| {
            let mut calls = calls.split(' ').map(|call| call.parse().expect("a call"));
            let [note, last, all] = [(); 3].map(|()| calls.next().expect("a call"));
            format!("{:?}", Effect::of(note, last, all))
        });
    }

    /// Returns the effects of calls that are a letter each: `f` fails alike each time, at `n` the model also reads a note, `r`
    /// is refused, `F` is the failing call of another worker, `|` begins another run, and `.` is anything else.
    fn effects(calls: &str) -> Vec<String> {
        let line = |(number, call): (usize, char)| {
            let worker = if call == 'F' { "other" } else { "main" };
            let (command, result) = match call {
                '|' => return format!(r#"{{"session":"{number}"}}"#),
                '.' => (format!("ls {number}"), format!("file {number}")),
                'n' => ("make".to_owned(), r"no rule\n\n[unstuck] Again.".to_owned()),
                'r' => ("make".to_owned(), "[unstuck] This call was not run. Again.".to_owned()),
                _ => ("make".to_owned(), "no rule".to_owned()),
            };
            let failed = call != '.';
            format!(
                r#"{{"type":"call","worker":"{worker}","tool":"bash","args":{{"command":"{command}"}},"result":"{result}","is_error":{failed}}}"#
            )
        };
        let lines: Vec<_> = calls.chars().enumerate().map(line).collect();
        let needs = Needs { effects: true, ..Needs::loops(10) };
        let settings = Settings::new(&PRESETS[0], needs);
        let text = format!("{{\"session\":\"s\"}}\n{}", lines.join("\n"));
        let report = FullReport::read("run.jsonl".to_owned(), text.as_bytes(), &settings);
        let effects = &report.expect("a trace").effects;
        let shown = |one: &NoteEffect| {
            let told = if one.told { "told" } else { "silent" };
            format!("{} {} {told} {:?}", one.rung(), one.at_call, one.effect)
        };
        effects.iter().map(shown).collect()
    }

    #[test]
    fn the_effects_of_a_run_follow_the_definition() {
        check("effect: the calls of a run, and each note with its effect", |calls| {
            let effects = effects(calls);
            if effects.is_empty() { "none".to_owned() } else { effects.join(", ") }
        });
    }

    #[test]
    fn the_interval_of_a_share_matches_published_tables() {
        check("effect: the interval of a share", |share| {
            let (part, whole) = share.split_once(' ').expect("a share");
            let count = |text: &str| text.parse().expect("a count");
            let [low, high] = wilson(count(part), count(whole)).expect("an interval");
            format!("{low:.4} {high:.4}")
        });
        assert_eq!(wilson(0, 0), None);
    }
}
