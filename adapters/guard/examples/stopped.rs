//! An agent that gets stuck, ignores all notes, and is stopped. No network: the model is a script.
//!
//! It runs a build that cannot work. It is nudged, warned and blocked; then the run ends with the
//! evidence, and a person can take over.

use std::convert::Infallible;

use unstuck::{Chat, ChatError, Entry, Guard, Reply, ToolOutput};

fn main() {
    let mut guard = Guard::builder()
        .on_finding(|found| {
            println!("{}: {found}", found.action);
            unstuck::Ruling::Agree
        })
        .build()
        .expect("the default preset");
    let model = |transcript: &[Entry]| {
        let id = transcript.len().to_string();
        Ok::<_, Infallible>(Reply::call(id, "bash", r#"{"command":"make all"}"#))
    };
    let tool = |_: &_| Ok(ToolOutput::failed("make: *** No rule to make target 'all'.  Stop."));

    match Chat::new(&mut guard).run("Build it.", model, tool) {
        Err(ChatError::Loop(stuck)) => {
            println!("\n{stuck}");
            println!("calls {:?} prove it", stuck.evidence.finding.calls().collect::<Vec<_>>());
        }
        outcome => println!("{outcome:?}"),
    }
}
