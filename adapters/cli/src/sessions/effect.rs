//! `unstuck report --effect`: what agents did after each note, by the definition of [`unstuck_report::effect`].

use std::collections::HashMap;
use std::ptr;

use serde::Serialize;
use unstuck_core::Kind;
use unstuck_report::effect::Effect;

use crate::agents::state::{Entry, FindingRecord, Line, LoopRecord, Said, Session, What};
use crate::output::effect::ShownNote;

/// An agent's name, its id of a session, and the worker's name.
type Worker<'j> = (&'j str, &'j str, &'j str);

fn worker(entry: &Entry) -> Worker<'_> {
    (&entry.agent, &entry.session, &entry.worker)
}

/// The lines of the journal and the live state of each worker.
pub(super) struct Workers<'j> {
    entries: HashMap<Worker<'j>, Vec<&'j Entry>>,
    live: HashMap<Worker<'j>, &'j Session>,
}

impl<'j> Workers<'j> {
    pub(super) fn of(journal: &'j [Entry], live: &'j [Session]) -> Self {
        let mut entries: HashMap<_, Vec<_>> = HashMap::new();
        for entry in journal {
            entries.entry(worker(entry)).or_default().push(entry);
        }
        let named = |one: &'j Session| ((one.agent.name(), &one.session[..], &one.worker[..]), one);
        Self { entries, live: live.iter().map(named).collect() }
    }

    /// Returns the effect of the finding `note` in the line `entry`, or `None` if its session is neither live nor known
    /// to have ended. O(lines of the worker).
    pub(super) fn effect(&self, entry: &Entry, note: &FindingRecord) -> Option<Effect> {
        let lines = self.entries.get(&worker(entry)).map(Vec::as_slice).unwrap_or_default();
        let later = lines.iter().skip_while(|line| !ptr::eq(**line, entry)).skip(1);
        for line in later {
            match &line.what {
                What::Found(next) if is_about(next, note) => return Some(Effect::Never),
                What::Found(_) => {}
                What::Ended { calls, loops, .. } => {
                    return Some(over(note, loops.as_ref()?, *calls));
                }
            }
        }
        self.live.get(&worker(entry)).map(|session| over(note, &session.loops, session.calls))
    }
}

/// Returns whether the later finding `next` is about the calls of `note`: it is about the same loop, or one that holds
/// the call of the note.
fn is_about(next: &FindingRecord, note: &FindingRecord) -> bool {
    let is_same = next.loop_id == note.loop_id;
    if [Kind::Text, Kind::Echo].iter().any(|kind| kind.name() == next.kind) {
        return is_same;
    }
    let before = next.call.saturating_sub(next.period.saturating_mul(next.laps));
    next.call > note.call && (is_same || before < note.call)
}

/// Returns the effect of a note that no other one followed, after this number of `calls`.
fn over(note: &FindingRecord, loops: &[LoopRecord], calls: u64) -> Effect {
    let last = loops.iter().find(|one| one.loop_id == note.loop_id).map(|one| one.call);
    Effect::of(note.call, last.unwrap_or(note.call), calls)
}

/// A note, or what would have been one if the hook did not only observe.
pub(super) struct Note<'j> {
    pub(super) entry: &'j Entry,
    pub(super) finding: &'j FindingRecord,
    pub(super) effect: Option<Effect>,
}

impl Note<'_> {
    /// Returns whether the agent could go on. At a stop it could not, and after a question the person has decided.
    pub(super) fn is_note(finding: &FindingRecord) -> bool {
        matches!(finding.said, Said::Nudge | Said::Warning | Said::Refusal)
    }

    /// Returns the note as the table shows it.
    pub(super) fn shown(&self) -> ShownNote<'_> {
        let Self { entry, finding, effect } = *self;
        ShownNote {
            rule: &finding.rule,
            rung: finding.said.name(),
            agent: &entry.agent,
            model: entry.model.as_deref(),
            wording: (!finding.observed).then(|| entry.wording.name()),
            told: !finding.observed,
            effect,
        }
    }

    pub(super) fn line(&self) -> EffectLine<'_> {
        EffectLine {
            line: Line::of(self.entry, self.finding),
            model: self.entry.model.as_deref(),
            wording: (!self.finding.observed).then(|| self.entry.wording.name()),
            effect: self.effect,
        }
    }
}

/// A note in JSON.
#[derive(Serialize)]
pub(super) struct EffectLine<'a> {
    #[serde(flatten)]
    line: Line<'a>,
    model: Option<&'a str>,
    /// The wording of what the agent was told, if it was told.
    wording: Option<&'static str>,
    effect: Option<Effect>,
}

#[cfg(test)]
mod tests {
    use unstuck_core::LoopId;
    use unstuck_report::shown::COLUMNS;

    use super::*;
    use crate::agents::Agent;
    use crate::agents::state::Key;
    use crate::cases::cases;
    use crate::output::effect::tables;

    /// The calls of one worker, each as a letter: `n` gets a note on the first loop, `=` goes on with it, `N` gets a note
    /// on another loop of three laps, `S` is stopped in the first loop, and `.` is anything else. At `x` the session ends,
    /// and at `-` its state is lost.
    fn played(calls: &str, observed: bool) -> (Vec<Entry>, Vec<Session>) {
        let key = Key { agent: Agent::ALL[0], session: "s", worker: "main" };
        let (mut session, mut journal) = (Session::new(&key, 0), Vec::new());
        let mut live = true;
        for call in calls.chars() {
            let (loop_id, said) = match call {
                'x' | '-' => {
                    journal.extend((call == 'x').then(|| Entry::ended(&session, 0)));
                    (session, live) = (Session::new(&key, 0), false);
                    continue;
                }
                'N' => (2, Said::Nudge),
                'S' => (1, Said::Stop),
                _ => (1, Said::Nudge),
            };
            (session.calls, live) = (session.calls + 1, true);
            let loop_id = LoopId::from_bits(loop_id);
            let call_number = session.calls;
            match call {
                '.' => {}
                '=' => session.goes_on(loop_id),
                _ => {
                    let example = FindingRecord::example(0);
                    let finding = FindingRecord {
                        said,
                        loop_id,
                        observed,
                        laps: 3,
                        call: call_number,
                        ..example
                    };
                    session.note(finding.clone());
                    journal.push(Entry::found(&session, &finding));
                }
            }
        }
        (journal, live.then_some(session).into_iter().collect())
    }

    fn notes<'j>(journal: &'j [Entry], live: &'j [Session]) -> Vec<Note<'j>> {
        let workers = Workers::of(journal, live);
        let note = |entry: &'j Entry| match &entry.what {
            What::Found(finding) if Note::is_note(finding) => {
                Some(Note { entry, finding, effect: workers.effect(entry, finding) })
            }
            _ => None,
        };
        journal.iter().filter_map(note).collect()
    }

    #[test]
    fn a_note_has_the_effect_that_the_journal_tells() {
        for (calls, expected) in cases(include_str!("effect.txt"), "effects") {
            for observed in [false, true] {
                let (journal, live) = played(calls, observed);
                let effect = |note: &Note<'_>| format!("{:?}", note.effect).to_lowercase();
                let effects: Vec<_> = notes(&journal, &live).iter().map(effect).collect();
                assert_eq!(effects.join(" "), expected, "{calls} {observed}");
            }
        }
    }

    #[test]
    fn the_journal_of_an_earlier_version_tells_no_effect() {
        let (mut journal, live) = played("n.....x", false);
        for entry in &mut journal {
            if let What::Ended { loops, .. } = &mut entry.what {
                *loops = None;
            }
        }
        assert_eq!(notes(&journal, &live)[0].effect, None);
    }

    #[test]
    fn the_table_has_a_row_for_each_group_and_for_what_was_only_observed() {
        let mut all = Vec::new();
        for (calls, observed) in
            [("n.....x", false), ("n==n===.....x", false), ("n===.....x", true), ("n.-", true)]
        {
            let (mut journal, _) = played(calls, observed);
            for entry in &mut journal {
                calls.clone_into(&mut entry.session);
            }
            all.extend(journal);
        }
        all[0].model = Some("opus\u{1b}[2J".to_owned());
        let notes = notes(&all, &[]);
        let text = tables("Last 7 days", &notes.iter().map(Note::shown).collect::<Vec<_>>());
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        insta::assert_snapshot!("effect", text);
    }
}
