//! `unstuck status --line`: one line on the session of an agent, for the agent's status line.
//!
//! The agent runs this after each answer of the model and shows whatever is printed. So it prints one line or none, and
//! never fails.

use serde::Deserialize;
use unstuck_report::shown::counted;

use crate::agents::hook::input;
use crate::agents::state::{Folder, Session};
use crate::exit::Exit;
use crate::output::{Output, Reader};

/// What the agent gives to a status line. The rest is not needed.
#[derive(Deserialize)]
struct Given {
    session_id: String,
}

/// Prints the line on the session that standard input names.
pub(super) fn run() -> Exit {
    let given = input::payload().ok().and_then(|text| serde_json::from_slice::<Given>(&text).ok());
    let folder = Folder::find().filter(|_| !unstuck::is_off());
    let workers = folder
        .zip(given)
        .map(|(folder, Given { session_id })| folder.of_session(&session_id).collect::<Vec<_>>());
    // An agent whose reader has gone shows no line.
    let _ = Output::stdout(Reader::Person).write(&line(&workers.unwrap_or_default()));
    Exit::Clean
}

/// Returns the line on the workers of a session. It is empty if hooks do not watch the session.
fn line(workers: &[Session]) -> String {
    if workers.is_empty() {
        return String::new();
    }
    let loops: usize = workers.iter().map(|worker| worker.loops.len()).sum();
    let freed: usize = workers.iter().map(Session::freed).sum();
    let saved: u64 = workers.iter().map(|worker| worker.refused).sum();
    let parts = [
        (loops > 0).then(|| counted(loops, "loop")),
        (freed > 0).then(|| format!("{freed} freed")),
        (saved > 0).then(|| format!("{} saved", counted(saved, "call"))),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let text = if parts.is_empty() { "no loop".to_owned() } else { parts.join(", ") };
    format!("unstuck: {text}\n")
}
