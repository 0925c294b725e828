//! A complete agent: a model with three tools that starts over when no message gets it out of its loop.
//! No network: the model is a script, the world is a list of lines.
//!
//! Replace `Model::answer` by a request to your provider, and `Desk::run` by your tools.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use unstuck::{
    Action, Chat, Entry, Guard, Recovery, RecoveryError, Reply, Ruling, SYSTEM_NOTE, ToolCall,
    ToolOutput, Undone,
};

fn main() {
    let desk = Desk::default();
    let mut recovery = desk.clone();
    // This host would rather start over than stop.
    let guard = Guard::builder().session("example").on_finding(|found| match found.action {
        Action::Stop => Ruling::Instead(Action::StartOver),
        _ => Ruling::Agree,
    });
    let mut guard = guard.build().expect("the default preset");
    let mut model = Model::new();

    let run = Chat::new(&mut guard)
        .recovery(&mut recovery)
        .until(|reply| reply.text.contains("done"))
        .run(
            "Put the numbers 1 to 3 on the desk.",
            |said| model.answer(said),
            |call| desk.run(call),
        );
    match run {
        Ok(transcript) => {
            let said = |entry: &Entry| matches!(entry, Entry::User(_));
            for told in transcript.iter().filter(|entry| said(entry)) {
                println!("{told:?}");
            }
            println!("on the desk: {}", desk.lines().join(", "));
        }
        Err(error) => println!("{error}"),
    }
    let calls = guard.statistics().checks();
    println!("{calls} calls, {} times over", guard.statistics().actions(Action::Stop));
}

/// The error of the connection to a provider.
#[derive(Debug)]
struct Unreachable;

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the script is at its end")
    }
}

/// A model that first tries a call that cannot work, and listens only when its work is undone.
struct Model {
    after_that: VecDeque<Reply>,
}

impl Model {
    fn new() -> Self {
        let put = |n: u8| Reply::call(format!("put-{n}"), "put", format!(r#"{{"line":"{n}"}}"#));
        let done = Reply::text("I am done.");
        Self { after_that: (1..=3).map(put).chain([done]).collect() }
    }

    /// Returns the answer of a provider to the system prompt and this conversation.
    fn answer(&mut self, said: &[Entry]) -> Result<Reply, Unreachable> {
        let _system_prompt = format!("You put things on a desk. {SYSTEM_NOTE}");
        let starts_over = |entry: &Entry| matches!(entry, Entry::User(text) if text.contains("take another approach"));
        if said.iter().any(starts_over) {
            return self.after_that.pop_front().ok_or(Unreachable);
        }
        Ok(match said.len() {
            1 => Reply::call("junk", "put", r#"{"line":"junk"}"#),
            n => Reply::call(n.to_string(), "swap", r#"{"a":1,"b":2}"#),
        })
    }
}

/// The world that the tools change.
#[derive(Clone, Default)]
struct Desk(Arc<Mutex<Vec<String>>>);

impl Desk {
    fn lines(&self) -> Vec<String> {
        self.0.lock().map(|lines| lines.clone()).unwrap_or_default()
    }

    fn run(&self, call: &ToolCall) -> Result<ToolOutput, Unreachable> {
        let mut lines = self.0.lock().map_err(|_| Unreachable)?;
        Ok(match call.tool.as_str() {
            "put" => {
                let line = call.args.split('"').nth(3).unwrap_or_default();
                lines.push(line.to_owned());
                ToolOutput::ok(format!("{} lines", lines.len()))
            }
            tool => ToolOutput::failed(format!("{tool}: there are not two lines to swap")),
        })
    }
}

impl Recovery for Desk {
    fn start_over(&mut self) -> Result<Undone, RecoveryError> {
        let mut lines = self.0.lock().map_err(|error| RecoveryError::new(error.to_string()))?;
        let kept = lines.drain(..).count();
        Ok(Undone::new(format!("The desk is empty again: {kept} line was taken off.")))
    }
}
