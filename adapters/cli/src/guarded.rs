//! A guard that watches a run live finds what `scan` finds in the recording.

use std::collections::HashMap;

use unstuck::{Action, Asked, Decision, Guard, LoopId};
use unstuck_report::replay::Replay;
use unstuck_text::{PRESETS, Preset, is_notification, is_placeholder};
use unstuck_trace::{Event, Role, read};
use walkdir::WalkDir;

use crate::read::inputs::Input;
use crate::read::progress::Progress;

/// A loop, the rule that found it, and the action.
type LoopVerdict = (LoopId, &'static str, Action);

/// The guards of a run, one for each worker, and their verdicts.
struct Guarded {
    setup: Guard,
    guards: HashMap<String, Guard>,
    verdicts: Vec<LoopVerdict>,
}

impl Guarded {
    fn new(preset: &Preset) -> Self {
        let setup = Guard::builder().preset(preset).observe_only().build().expect("a preset");
        Self { setup, guards: HashMap::new(), verdicts: Vec::new() }
    }

    fn guard(&mut self, worker: &str) -> &mut Guard {
        let setup = &self.setup;
        self.guards.entry(worker.to_owned()).or_insert_with(|| setup.begin("", worker))
    }

    fn take(&mut self, event: &Event<'_>) {
        let decision = match event {
            Event::Call(call) => {
                let (args, id) = (call.compared_args(), call.index.to_string());
                let asked = Asked::new(call.tool, &*args).id(&id).step(call.step);
                Some(self.guard(call.worker).announce(&asked))
            }
            Event::Outcome(outcome) if is_placeholder(outcome.text) || outcome.cut.is_some() => {
                None
            }
            Event::Outcome(outcome) => {
                let guard = self.guard(outcome.worker);
                let ticket = guard.ticket(&outcome.call.to_string());
                ticket.map(|ticket| {
                    if outcome.refused {
                        guard.refused(ticket)
                    } else {
                        guard.after(ticket, outcome.text, outcome.failed)
                    }
                })
            }
            Event::Message(message)
                if message.role == Role::User || is_notification(message.text) =>
            {
                Some(self.guard(message.worker).user_message(message.text))
            }
            Event::Message(message) => {
                message.text_only.then(|| self.guard(message.worker).text_turn(message.text))
            }
            Event::Begin(_) => {
                self.end_run();
                None
            }
            Event::Usage(_) | Event::Time(_) => None,
        };
        if let Some(decision) = decision {
            self.record(&decision);
        }
    }

    fn end_run(&mut self) {
        let ends: Vec<_> = self.guards.drain().map(|(_, mut guard)| guard.finish()).collect();
        for decision in &ends {
            self.record(decision);
        }
    }

    fn record(&mut self, decision: &Decision) {
        let found = decision.evidence().filter(|found| found.fresh);
        let verdicts = found.map(|found| (found.finding.loop_id, found.rule, found.action));
        self.verdicts.extend(verdicts.filter(|(_, _, action)| *action > Action::Proceed));
    }
}

#[test]
fn a_guard_finds_in_recorded_runs_what_a_replay_finds() {
    let runs = WalkDir::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/runs"));
    let mut found = 0;
    for entry in runs.into_iter().map(|entry| entry.expect("a folder that can be listed")) {
        let input = Input::File(entry.path().to_owned());
        for preset in PRESETS.iter().filter(|_| entry.file_type().is_file()) {
            let progress = Progress::of([]);
            let open = || input.open(&progress).expect("a file");
            let (mut replay, mut guarded) = (Replay::new(preset), Guarded::new(preset));
            read(open(), None, &mut |event| replay.take(&event)).expect("a trace");
            read(open(), None, &mut |event| guarded.take(&event)).expect("a trace");
            guarded.end_run();
            let replayed = replay.finish().list;
            let replayed: Vec<LoopVerdict> = replayed
                .iter()
                .map(|found| (found.finding.loop_id, found.rule, found.action))
                .collect();
            // If an event has several verdicts, a host gets the strongest.
            let verdicts = &guarded.verdicts;
            assert!(verdicts.iter().all(|one| replayed.contains(one)), "{}", input.name());
            assert_eq!(verdicts.is_empty(), replayed.is_empty(), "{}", input.name());
            assert!(verdicts.len() * 10 >= replayed.len() * 9, "{verdicts:?} {replayed:?}");
            found += verdicts.len();
        }
    }
    assert!(found > 40, "only {found} findings");
}
