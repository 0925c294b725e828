//! The end of a Codex transcript, which tells what no event tells: the calls that the model issued together.
//!
//! In Code Mode, Codex runs the calls of one answer one after the other, with the same events as calls of
//! several answers.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::Deserialize;

/// The number of bytes that are read from the end of a transcript: enough for the calls of one answer.
const TAIL: u64 = 256 * 1024;

/// Returns whether the model's latest answer has several calls, and some but not all of them have ended.
/// Returns `false` if the transcript cannot be read.
pub(super) fn is_batch_open(path: &Path) -> bool {
    tail(path).is_ok_and(|tail| is_open(&tail))
}

fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let begin = file.metadata()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A line of a transcript.
#[derive(Deserialize)]
struct Line {
    r#type: String,
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    r#type: Option<String>,
}

/// Returns whether some but not all of the latest calls without an item between them have an output.
fn is_open(tail: &str) -> bool {
    let lines = tail.lines().rev().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    let items = lines.filter(|line| line.r#type == "response_item");
    let (mut calls, mut outputs) = (0, 0);
    for item in items {
        match item.payload.r#type.as_deref() {
            Some("custom_tool_call_output" | "function_call_output") if calls == 0 => outputs += 1,
            Some("custom_tool_call" | "function_call") => calls += 1,
            // A note of a hook is a message, and comes before the output of its call.
            Some("message" | "reasoning") if calls == 0 => {}
            _ => break,
        }
    }
    0 < outputs && outputs < calls
}

#[cfg(test)]
mod tests {
    use super::{is_batch_open, is_open};

    /// Returns the lines of a transcript: `c` is a call, `o` an output, `m` a message, `.` something else.
    fn lines(kinds: &str) -> String {
        let line = |kind: char| match kind {
            'c' => {
                r#"{"type":"response_item","payload":{"type":"custom_tool_call","name":"exec"}}"#
            }
            'o' => r#"{"type":"response_item","payload":{"type":"custom_tool_call_output"}}"#,
            'm' => r#"{"type":"response_item","payload":{"type":"message","role":"developer"}}"#,
            _ => r#"{"type":"event_msg","payload":{"type":"token_count"}}"#,
        };
        kinds.chars().flat_map(|kind| [line(kind), "\n"]).collect()
    }

    #[test]
    fn a_batch_is_open_until_its_last_output() {
        for (kinds, expected) in [
            ("", false),
            ("mc", false),
            ("mc.o", false),
            ("mcoc", false),
            ("mcocococ", false),
            ("mcc", false),
            ("mcc.o", true),
            ("mccmo.", true),
            ("mcccc.ooo", true),
            ("mcccc.oooo", false),
            ("mccoomc", false),
            ("mccoomcc", false),
            ("mccoomcco", true),
        ] {
            assert_eq!(is_open(&lines(kinds)), expected, "{kinds}");
        }
        assert!(is_open(&format!("broken off\"}}\n{}", lines("cco"))));
    }

    #[test]
    fn only_the_end_of_a_transcript_is_read() {
        let path = std::env::temp_dir().join(format!("unstuck-rollout-{}", std::process::id()));
        std::fs::write(&path, lines(&".".repeat(9000)) + &lines("cco")).expect("a file");
        assert!(is_batch_open(&path));
        std::fs::remove_file(&path).expect("the file");
        assert!(!is_batch_open(&path), "a transcript that is not there");
    }
}
