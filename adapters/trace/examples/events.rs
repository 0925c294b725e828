//! Prints what is read from a transcript, one event a line as JSON.
//!
//! ```text
//! cargo run -p unstuck-trace --example events -- FILE
//! ```
//!
//! It shows the author of a format, or of an instrumentation, which calls, results and failures are seen.

use std::error::Error;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::process::ExitCode;

use serde_json::{Value, json};
use unstuck_trace::{Args, Event, read};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: events FILE");
        return ExitCode::FAILURE;
    };
    match print(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}

fn print(path: &OsStr) -> Result<(), Box<dyn Error>> {
    let mut lines = Vec::new();
    let file = BufReader::new(File::open(path)?);
    let trace = read(file, None, &mut |event| lines.push(line(&event)))?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", json!({"event": "begin", "session": trace.session}))?;
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    Ok(())
}

fn line(event: &Event<'_>) -> Value {
    match event {
        Event::Call(call) => json!({
            "event": "call", "index": call.index, "worker": call.worker, "step": call.step,
            "tool": call.tool, "args": args(call.args),
        }),
        Event::Outcome(outcome) => json!({
            "event": "outcome", "call": outcome.call, "text": outcome.text, "failed": outcome.failed,
            "refused": outcome.refused,
        }),
        Event::Message(message) => json!({
            "event": "message", "worker": message.worker, "role": format!("{:?}", message.role),
            "text": message.text,
        }),
        Event::Begin(begin) => json!({"event": "begin", "session": begin.session}),
        Event::Usage(usage) => json!({
            "event": "usage", "worker": usage.worker, "tokens": usage.tokens.total(),
        }),
        Event::Time(time) => json!({"event": "time", "time": time}),
    }
}

/// Returns the arguments, or null if the file has none.
fn args(args: Args<'_>) -> Value {
    match args {
        Args::Json(text) | Args::Text(text) => Value::from(text),
        Args::Absent => Value::Null,
    }
}
