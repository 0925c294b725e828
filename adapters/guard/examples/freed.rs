//! An agent that gets stuck and is freed by the nudge. No network: the model is a script.
//!
//! It looks for a file where it is not, three times. The third result carries a note; the model reads
//! it, lists the folder instead, and finds the file.

#![expect(clippy::unnecessary_wraps, reason = "in a host, the model and the tools may fail")]

use std::convert::Infallible;

use unstuck::{Chat, ChatError, Entry, Guard, Reply, ToolCall, ToolOutput};

fn main() -> Result<(), ChatError<Infallible>> {
    let mut guard = Guard::new();
    let transcript = Chat::new(&mut guard).run("What does the program print?", model, tool)?;
    for entry in &transcript {
        println!("{}", line(entry));
    }
    Ok(())
}

/// Reads the latest entry and answers it: with the same call again, until there is a note.
fn model(transcript: &[Entry]) -> Result<Reply, Infallible> {
    let id = transcript.len().to_string();
    let said = match transcript.last() {
        Some(Entry::Tool { output, .. }) => output.text.as_str(),
        _ => "",
    };
    Ok(if said.contains("[unstuck]") {
        Reply::call(id, "list_files", r#"{"path":"src"}"#)
    } else if said.contains("main.rs") {
        Reply::call(id, "read_file", r#"{"path":"src/main.rs"}"#)
    } else if said.contains("println") {
        Reply::text("It prints a greeting.")
    } else {
        Reply::call(id, "read_file", r#"{"path":"src/mian.rs"}"#)
    })
}

/// A file system with one file.
fn tool(call: &ToolCall) -> Result<ToolOutput, Infallible> {
    Ok(match (call.tool.as_str(), call.args.as_str()) {
        ("list_files", _) => ToolOutput::ok("main.rs"),
        ("read_file", args) if args.contains("main.rs") => {
            ToolOutput::ok("fn main() { println!(\"Hello!\"); }")
        }
        _ => ToolOutput::failed("No such file"),
    })
}

fn line(entry: &Entry) -> String {
    match entry {
        Entry::User(text) => format!("user       {text}"),
        Entry::Assistant(Reply { text, calls }) => match calls.first() {
            Some(call) => format!("assistant  {} {}", call.tool, call.args),
            None => format!("assistant  {text}"),
        },
        Entry::Tool { output, .. } => {
            format!("tool       {}", output.text.replace("\n\n", "\n           "))
        }
    }
}
