//! The recorded runs of the repository, with a detector for each worker.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use unstuck_trace::{Args, Event, Role, read};

use crate::cases::{answer, call_and_answer, say};
use crate::play::{EventKind, Player, Table};

const RUNS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/runs");

/// An event of one worker.
enum WorkerEvent {
    Call { index: usize, tool: String, args: String, step: u64 },
    Outcome { index: usize, text: String, failed: bool },
    Text { kind: EventKind, text: String },
}

/// Plays each worker of every file by the default preset.
pub(crate) fn play(table: &mut Table) {
    let mut files = Vec::new();
    list(Path::new(RUNS), &mut files);
    files.sort();
    for file in files {
        for events in workers(&file).into_values() {
            let mut player = table.begin(0);
            replay(&mut player, &events);
        }
    }
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the recorded runs") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { list(&path, files) } else { files.push(path) }
    }
}

/// Returns the events of each worker in `file`, in their order.
fn workers(file: &Path) -> BTreeMap<String, Vec<WorkerEvent>> {
    let mut workers: BTreeMap<String, Vec<WorkerEvent>> = BTreeMap::new();
    let input = BufReader::new(File::open(file).expect("a recorded run"));
    let mut record =
        |worker: &str, events| workers.entry(worker.to_owned()).or_default().push(events);
    let trace = read(input, None, &mut |event| match event {
        Event::Call(call) => {
            let args = match call.args {
                Args::Json(args) | Args::Text(args) => args.to_owned(),
                Args::Absent => call.lasting_args().into_owned(),
            };
            let tool = call.tool.to_owned();
            record(
                call.worker,
                WorkerEvent::Call { index: call.index, tool, args, step: call.step },
            );
        }
        Event::Outcome(outcome) if outcome.cut.is_none() => {
            let (index, text) = (outcome.call, outcome.text.to_owned());
            record(outcome.worker, WorkerEvent::Outcome { index, text, failed: outcome.failed });
        }
        Event::Message(message) => {
            let text = message.text.to_owned();
            match message.role {
                Role::Assistant if message.text_only => {
                    record(message.worker, WorkerEvent::Text { kind: EventKind::TurnText, text });
                }
                Role::User => {
                    record(message.worker, WorkerEvent::Text { kind: EventKind::UserText, text });
                }
                _ => {}
            }
        }
        Event::Outcome(_) | Event::Begin(_) | Event::Usage(_) | Event::Time(_) => {}
    });
    trace.expect("a trace that can be read");
    workers
}

fn replay(player: &mut Player<'_>, events: &[WorkerEvent]) {
    let mut calls = BTreeMap::new();
    for kind in events {
        match kind {
            WorkerEvent::Call { index, tool, args, step } => {
                calls.insert(*index, (player.calls(), tool.clone()));
                let step = u32::try_from(*step).ok();
                call_and_answer(player, tool, args, step, None, false);
            }
            WorkerEvent::Outcome { index, text, failed } => {
                if let Some((call, tool)) = calls.get(index) {
                    answer(player, *call, tool, text, *failed);
                }
            }
            WorkerEvent::Text { kind, text } => say(player, *kind, text),
        }
    }
}
