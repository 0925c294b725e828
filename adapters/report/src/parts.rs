//! The parts of a report that only some outputs need.

use std::collections::{BTreeSet, HashSet};
use std::io::BufRead;
use std::ops::Deref;

use unstuck_core::{Action, LoopId};
use unstuck_text::Preset;
use unstuck_trace::{Event, Problem};

use crate::baseline::Compared;
use crate::line;
use crate::recurring::what_recurs;
use crate::replay::{LoopPrefix, Replay, ReplayFinding, Wanted};
use crate::report::{Novelty, Observer, Report, Settings};
use crate::rows::FindingRow;
use crate::spool::Spool;

/// The most loops that are listed if an id names none of them, or several.
pub const NAMED_MAX: usize = 20;

/// The parts of the findings that outputs need.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a part that some output needs")]
pub struct Needs {
    /// The most loops to keep with their proofs, the first ones.
    pub loops: usize,
    /// Each finding as JSON.
    pub lines: bool,
    /// Each finding as a row of a table.
    pub rows: bool,
    /// The loops that an explanation can name.
    pub explain: Option<LoopPrefix>,
    /// The calls as they are drawn.
    pub picture: bool,
    /// The first steps of all loops.
    pub steps: bool,
    /// What the agent did after each finding of the loops that are kept.
    pub effects: bool,
}

impl Needs {
    /// Returns the needs of an output that shows at most this many loops of a run, and nothing else.
    pub const fn loops(loops: usize) -> Self {
        let (lines, rows, explain, picture, steps) = (false, false, None, false, false);
        Self { loops, lines, rows, explain, picture, steps, effects: false }
    }

    /// Returns the needs of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            loops: self.loops.max(other.loops),
            lines: self.lines || other.lines,
            rows: self.rows || other.rows,
            explain: self.explain.or(other.explain),
            picture: self.picture || other.picture,
            steps: self.steps || other.steps,
            effects: self.effects || other.effects,
        }
    }

    /// Returns the loops whose steps are kept.
    pub(crate) fn wanted(self) -> Option<Wanted> {
        let all = self.steps.then_some(Wanted::all());
        self.explain.map(Wanted::one).or(all)
    }
}

/// A report with the parts that only some outputs need.
pub struct FullReport {
    /// The run and its first loops.
    pub report: Report,
    /// The other parts.
    pub parts: Parts,
}

impl Deref for FullReport {
    type Target = Report;

    fn deref(&self) -> &Report {
        &self.report
    }
}

impl FullReport {
    /// Reads the input called `path` and judges it.
    ///
    /// # Errors
    ///
    /// The input cannot be read, is empty or of another format, or fails before its first record.
    pub fn read(path: String, input: impl BufRead, settings: &Settings) -> Result<Self, Problem> {
        let mut parts = Parts::new(settings);
        let report = Report::read(path, input, settings, &mut parts)?;
        if let Some(feedback) = &mut parts.feedback {
            feedback.finish();
        }
        Ok(Self { report, parts })
    }

    /// Returns whether a loop is not in the baseline, or whether there is no baseline and a loop.
    pub fn has_new_loop(&self) -> bool {
        let all = self.judged.worst;
        self.parts.compared.as_ref().map_or(all, |it| it.worst_new) > Action::Proceed
    }
}

/// The parts of a report that are neither the run nor its first loops.
#[derive(Default)]
pub struct Parts {
    /// Each finding as JSON, for programs.
    pub(crate) lines: Option<Spool>,
    /// Each finding as a row of a table, in JSON.
    pub(crate) rows: Option<Spool>,
    /// The loops that an explanation can name.
    pub(crate) names: Option<Explainable>,
    /// The loops compared with the baseline, if there is one.
    pub compared: Option<Compared>,
    /// The silenced loops that were found, if they have to be reported.
    feedback: Option<Feedback>,
}

/// The loops that an explanation can name.
pub(crate) struct Explainable {
    pub(crate) wanted: LoopPrefix,
    /// In the order of first findings: some, and all that are wanted.
    pub(crate) named: Vec<(LoopId, String)>,
    pub(crate) found: HashSet<LoopId>,
}

/// A run that is judged without its feedback.
struct Feedback {
    /// `None` after the last event.
    replay: Option<Replay>,
    /// All loops of the feedback, sorted.
    of: &'static [LoopId],
    /// Those that were found.
    seen: BTreeSet<LoopId>,
}

impl Parts {
    /// Keeps what the outputs need, and compares the loops with a baseline, if there is one.
    fn new(settings: &Settings) -> Self {
        let Settings { needs, disk, .. } = *settings;
        Self {
            lines: needs.lines.then(|| Spool::new(disk)),
            rows: needs.rows.then(|| Spool::new(disk)),
            names: needs.explain.map(Explainable::new),
            compared: settings.baseline.map(Compared::new),
            feedback: settings.unsilenced.map(|preset| Feedback::new(settings.preset, preset)),
        }
    }

    /// Returns the silenced loops that were found, or `None` if they are not reported.
    pub fn silenced(&self) -> Option<&BTreeSet<LoopId>> {
        self.feedback.as_ref().map(|feedback| &feedback.seen)
    }
}

impl Observer for Parts {
    fn event(&mut self, event: &Event<'_>) {
        if let Some(feedback) = &mut self.feedback {
            feedback.event(event);
        }
    }

    fn found(&mut self, found: &ReplayFinding) -> Option<bool> {
        let is_known = self.compared.as_mut().map(|compared| compared.take(found));
        if let Some(lines) = &mut self.lines {
            let line = line::finding(found, is_known.map(Novelty::of));
            lines.push(found.calls_before, line);
        }
        if let Some(rows) = &mut self.rows {
            // Strings and numbers always have a JSON form.
            let row = serde_json::to_string(&FindingRow::of(found)).unwrap_or_default();
            rows.push(found.calls_before, row);
        }
        if let Some(names) = &mut self.names {
            let id = found.finding.loop_id;
            names.take(id, || what_recurs(&found.finding, &found.tool));
        }
        is_known
    }
}

impl Feedback {
    /// Looks in a run that is judged by `preset` for the loops that `silencing` silences.
    fn new(silencing: &Preset, preset: &'static Preset) -> Self {
        let of = silencing.policy.silenced();
        Self { replay: Some(Replay::new(preset)), of, seen: BTreeSet::new() }
    }

    fn event(&mut self, event: &Event<'_>) {
        let Some(replay) = &mut self.replay else { return };
        replay.take(event);
        for found in replay.take_findings().collect::<Vec<_>>() {
            self.seen.extend(known(self.of, &found));
            // The end of the loop does not matter.
            replay.leave(found.key);
        }
    }

    fn finish(&mut self) {
        let last = self.replay.take().map_or_else(Vec::new, |replay| replay.finish().list);
        self.seen.extend(last.iter().filter_map(|found| known(self.of, found)));
    }
}

/// Returns the loop of a finding, if it is among `loops`, which are sorted.
fn known(loops: &[LoopId], found: &ReplayFinding) -> Option<LoopId> {
    let id = found.finding.loop_id;
    loops.binary_search(&id).ok().map(|_| id)
}

impl Explainable {
    pub(crate) fn new(wanted: LoopPrefix) -> Self {
        Self { wanted, named: Vec::new(), found: HashSet::new() }
    }

    /// Takes in a finding of the loop `id`, which `what` describes.
    pub(crate) fn take(&mut self, id: LoopId, what: impl FnOnce() -> String) {
        let may_be_named = self.named.len() < NAMED_MAX || self.wanted.is(id);
        if self.found.insert(id) && may_be_named {
            self.named.push((id, what()));
        }
    }
}

#[cfg(test)]
impl FullReport {
    /// Reads and judges the native trace `text`, and keeps this many loops.
    pub(crate) fn of_text(text: &str, loops: usize) -> Self {
        let settings = Settings::new(&unstuck_text::PRESETS[0], Needs::loops(loops));
        Self::read("run.jsonl".to_owned(), text.as_bytes(), &settings).expect("a trace")
    }

    /// Judges a trace with a new loop every three calls.
    pub(crate) fn of_loops(calls: usize, loops: usize) -> Self {
        let call = |n: usize| {
            let n = n / 3;
            format!(r#"{{"type":"call","tool":"t{n}","args":{n},"result":"r{n}"}}"#)
        };
        let lines: Vec<_> = (0..calls).map(call).collect();
        Self::of_text(&lines.join("\n"), loops)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use unstuck_text::PRESETS;
    use unstuck_trace::{Args, Call, Outcome};

    use super::*;
    use crate::report::{JudgedInput, Loops};
    use crate::spool::OpenDisk;

    #[test]
    fn neither_findings_for_programs_nor_loops_for_people_grow_in_memory() {
        const SHOWN_MAX: usize = 10;
        let needs = Needs { lines: true, ..Needs::default() };
        let disk = Some((|| Ok(Box::new(Cursor::new(Vec::new())))) as OpenDisk);
        let settings = Settings { disk, ..Settings::new(&PRESETS[0], needs) };
        let mut parts = Parts::new(&settings);
        let (mut replay, mut judged) = (Replay::new(&PRESETS[0]), JudgedInput::new(SHOWN_MAX));
        // A new loop every three calls.
        for index in 0..24_000 {
            let args = &*(index / 3).to_string();
            let (worker, step, args) = ("main", index as u64, Args::Json(args));
            replay.take(&Event::Call(Call { index, worker, step, tool: "bash", args }));
            let (text, failed, cut, refused) = ("no", false, None, false);
            let outcome = Outcome { call: index, worker, text, failed, cut, refused };
            replay.take(&Event::Outcome(outcome));
            judged.take_from(&mut replay, &mut parts);
            let lines = parts.lines.as_ref().expect("lines");
            assert!(lines.bytes_in_memory() <= Spool::BYTES_MAX, "{}", lines.bytes_in_memory());
            assert!(judged.loops.shown.len() <= SHOWN_MAX);
        }
        let findings = replay.finish();
        assert!(findings.ends.len() <= SHOWN_MAX, "{} ends", findings.ends.len());
        judged.finish(findings.list, |key| findings.ends.get(&key).copied(), &mut parts);

        let lines = parts.lines.as_mut().expect("lines");
        assert!(lines.has_file());
        let mut places = Vec::new();
        let each = &mut |json: &str| {
            let finding: serde_json::Value = serde_json::from_str(json).expect("JSON");
            places.push(finding["at_call"].as_u64());
            Ok(())
        };
        lines.each("x", each).expect("a file");
        assert!(places.into_iter().eq((0..8_000).map(|n| Some(3 * n + 2))));

        let Loops { shown, count, .. } = judged.loops;
        assert_eq!(count, 8_000);
        assert!(shown.iter().map(|one| one.end).eq((0..SHOWN_MAX).map(|n| Some(3 * n + 2))));
        assert!(shown.iter().all(|one| !one.rungs[0].proof.is_empty()));
    }
}
