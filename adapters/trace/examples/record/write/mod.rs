//! The same recording in several formats: one module a format, one function each.

mod claude_code;
mod native;
mod openai;

use std::io;

use serde::Serialize;

use crate::recording::Thread;
use crate::script::{Format, Label, Scenario};

/// One file of a transcript, and a person's judgement of it.
#[derive(Debug)]
pub(crate) struct File {
    /// The path below the folder of all runs, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) label: Label,
    /// The number of calls in the file.
    pub(crate) calls: usize,
}

/// Writes a recorded scenario in one format.
pub(crate) fn write(
    format: Format,
    scenario: &Scenario,
    main: &Thread<'_>,
) -> io::Result<Vec<File>> {
    match format {
        Format::Native => native::write(scenario, main),
        Format::ClaudeCode => claude_code::write(scenario, main),
        Format::OpenAi => openai::write(scenario, main),
    }
}

/// Adds one line of JSON Lines.
pub(crate) fn push_line(text: &mut String, line: &impl Serialize) -> io::Result<()> {
    text.push_str(&serde_json::to_string(line)?);
    text.push('\n');
    Ok(())
}
