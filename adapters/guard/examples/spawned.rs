//! Two agents in tasks of tokio, each with a guard. No network: the models are scripts that stream.
//!
//! Each task drives a [`Run`]: it awaits the model, shows the words as they come, and awaits the tool. A
//! future that borrows nothing beyond its task is `Send`, so that `tokio::spawn` takes it.

use std::time::Duration;

use tokio::runtime::Builder;
use tokio::time::sleep;
use unstuck::{Chat, ChatError, Entry, Guard, Next, Reply, Run, ToolCall, ToolOutput};

fn main() -> std::io::Result<()> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(async {
        let setup = Guard::new();
        let names = ["listens", "insists"];
        let agents = names.map(|name| tokio::spawn(work(setup.begin("example", name))));
        for (name, agent) in names.into_iter().zip(agents) {
            match agent.await {
                Ok(outcome) => println!("{name}: {outcome}"),
                Err(error) => println!("{name}: {error}"),
            }
        }
    });
    Ok(())
}

/// Runs one agent. Returns its last words, or the reason why it was stopped.
async fn work(mut guard: Guard) -> String {
    let name = guard.worker().to_owned();
    let run = Chat::new(&mut guard).begin("What does the program print?");
    match drive(run, &name).await {
        Ok(transcript) => match transcript.last() {
            Some(Entry::Assistant(reply)) => reply.text.clone(),
            _ => String::new(),
        },
        Err(error) => error.to_string(),
    }
}

async fn drive(mut run: Run<'_>, name: &str) -> Result<Vec<Entry>, ChatError> {
    loop {
        match run.advance()? {
            Next::Ask => {
                let reply = answer(run.transcript(), name).await;
                run.replied(reply)?;
            }
            Next::Call(call) => run.returned(&run_tool(&call).await)?,
            Next::Done => return Ok(run.into_transcript()),
        }
    }
}

/// Streams an answer, word by word. The guard needs the calls, which are complete at the end.
async fn answer(transcript: &[Entry], name: &str) -> Reply {
    let is_noted = |entry: &Entry| match entry {
        Entry::Tool { output, .. } => output.text.contains("[unstuck]"),
        _ => false,
    };
    if name == "listens" && transcript.iter().any(is_noted) {
        let mut text = String::new();
        for word in ["There ", "is ", "no ", "such ", "file."] {
            sleep(Duration::from_millis(1)).await;
            text.push_str(word);
        }
        return Reply::text(text);
    }
    sleep(Duration::from_millis(1)).await;
    Reply::call(transcript.len().to_string(), "read_file", r#"{"path":"src/mian.rs"}"#)
}

async fn run_tool(call: &ToolCall) -> ToolOutput {
    sleep(Duration::from_millis(1)).await;
    ToolOutput::failed(format!("{}: no such file", call.tool))
}
