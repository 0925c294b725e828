//! The effects of the findings of one recorded run.

use std::collections::HashMap;

use serde::Serialize;
use unstuck_core::Action;
use unstuck_trace::Event;

use super::Effect;
use crate::loops::Loop;
use crate::replay::{Location, ReplayFinding};

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

#[cfg(test)]
mod tests {
    use unstuck_text::PRESETS;

    use super::*;
    use crate::parts::{FullReport, Needs};
    use crate::report::Settings;

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
        let table: &[(&str, &[&str])] = &[
            ("fff.....", &["nudge 2 silent Left"]),
            ("ffn.....", &["nudge 2 told Left"]),
            ("ffn....", &["nudge 2 told Ended"]),
            ("ffnf.....", &["nudge 2 told Left"]),
            // A later rung, and one more attempt.
            ("ffnfn.....", &["nudge 2 told Never", "refusal 4 told Left"]),
            ("ffnfnr.....", &["nudge 2 told Never", "refusal 4 told Left"]),
            ("ffnfnrr.....", &["nudge 2 told Never", "refusal 4 told Left"]),
            ("ffn......fff.....", &["nudge 2 told Never", "nudge 9 silent Left"]),
            // Calls of others and of another run are none of this worker's.
            ("ffnFF...", &["nudge 2 told Ended"]),
            ("ffnFF.....", &["nudge 2 told Left"]),
            ("ffn..|...", &["nudge 2 told Ended"]),
            ("ffn..|fff", &["nudge 2 told Ended", "nudge 7 silent Ended"]),
            (".....", &[]),
        ];
        for (calls, expected) in table {
            assert_eq!(effects(calls), *expected, "{calls}");
        }
    }
}
