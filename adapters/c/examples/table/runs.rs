//! The recorded runs of this tree, a detector for each of their workers.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use unstuck_trace::{Args, Event, Role, read};

use crate::cases::{answer, call_and_answer, say};
use crate::play::{Deed, Player, Table};

const RUNS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/runs");

/// Something that one worker did or heard.
enum Deeds {
    Call { index: usize, tool: String, args: String, step: u64 },
    Outcome { index: usize, text: String, failed: bool },
    Said { deed: Deed, text: String },
}

/// Plays each worker of every file by the default preset.
pub(crate) fn play(table: &mut Table) {
    let mut files = Vec::new();
    list(Path::new(RUNS), &mut files);
    files.sort();
    for file in files {
        for deeds in workers(&file).into_values() {
            let mut player = table.begin(0);
            replay(&mut player, &deeds);
        }
    }
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the recorded runs") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { list(&path, files) } else { files.push(path) }
    }
}

/// What each worker in `file` did, in its order.
fn workers(file: &Path) -> BTreeMap<String, Vec<Deeds>> {
    let mut workers: BTreeMap<String, Vec<Deeds>> = BTreeMap::new();
    let input = BufReader::new(File::open(file).expect("a recorded run"));
    let mut note = |worker: &str, deeds| workers.entry(worker.to_owned()).or_default().push(deeds);
    let trace = read(input, None, &mut |event| match event {
        Event::Call(call) => {
            let (Args::Json(args) | Args::Text(args)) = call.args;
            let (tool, args) = (call.tool.to_owned(), args.to_owned());
            note(call.worker, Deeds::Call { index: call.index, tool, args, step: call.step });
        }
        Event::Outcome(outcome) if outcome.cut.is_none() => {
            let (index, text) = (outcome.call, outcome.text.to_owned());
            note(outcome.worker, Deeds::Outcome { index, text, failed: outcome.failed });
        }
        Event::Message(message) => {
            let text = message.text.to_owned();
            match message.role {
                Role::Assistant if message.text_only => {
                    note(message.worker, Deeds::Said { deed: Deed::TurnText, text });
                }
                Role::User => note(message.worker, Deeds::Said { deed: Deed::UserText, text }),
                _ => {}
            }
        }
        Event::Outcome(_) | Event::Begin(_) => {}
    });
    trace.expect("a trace that can be read");
    workers
}

fn replay(player: &mut Player<'_>, deeds: &[Deeds]) {
    let mut calls = BTreeMap::new();
    for deed in deeds {
        match deed {
            Deeds::Call { index, tool, args, step } => {
                calls.insert(*index, (player.calls(), tool.clone()));
                let step = u32::try_from(*step).ok();
                call_and_answer(player, tool, args, step, None, false);
            }
            Deeds::Outcome { index, text, failed } => {
                if let Some((call, tool)) = calls.get(index) {
                    answer(player, *call, tool, text, *failed);
                }
            }
            Deeds::Said { deed, text } => {
                say(player, *deed, text);
            }
        }
    }
}
