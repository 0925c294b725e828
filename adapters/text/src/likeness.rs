//! The members of arguments that say what a call is about, and those that only describe it.

use unstuck_core::{Digest, Tag};

use crate::command::{file_read, with_command};
use crate::phrases::texts;

/// The members that say what a call is about; the others only say how.
pub const PRIMARY_KEYS: [&str; 10] = texts![
    "path" "file_path" "command" "pattern" "query" "url" "content" "filename" "offset" "limit"
];

/// Members that describe or limit a call. Two calls that differ only in these are similar.
pub(crate) const NOTES: [&str; 20] = texts![
    "command_timeout" "description" "display_description" "explanation" "isBackground"
    "is_background" "max_output_tokens" "reason" "reasoning" "run_in_background" "thoughtNumber"
    "timeout" "timeoutMs" "timeoutSeconds" "timeout_ms" "timeout_sec" "timeout_seconds"
    "timeout_secs" "toolSummary" "yield_time_ms"
];

/// The members among [`NOTES`] that only describe or limit a call of a tool that writes, too. A `description` may be what
/// such a tool writes, for example that of an issue.
pub(crate) const NOTES_OF_EDITS: [&str; 6] =
    ["display_description", "explanation", "timeout", "timeout_ms", "toolSummary", "yield_time_ms"];

/// Returns a digest of the file that a shell command reads, if the command does nothing else. All
/// such calls for one file are alike.
pub(crate) fn file(tag: Tag, args: &str) -> Option<Digest> {
    match tag {
        Tag::Shell => with_command(args, |command| {
            file_read(command).map(|file| Digest::of(file.as_bytes()).mix(Digest::of(b"file read")))
        }),
        _ => None,
    }
}
