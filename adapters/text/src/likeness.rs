//! The similar calls of the preset `NUDGE`.

use unstuck_core::{Digest, Tag};

use crate::command::{file_read, with_command};

/// The members that say what a call is about; the others only say how.
pub const PRIMARY_KEYS: [&str; 10] = [
    "path",
    "file_path",
    "command",
    "pattern",
    "query",
    "url",
    "content",
    "filename",
    "offset",
    "limit",
];

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
