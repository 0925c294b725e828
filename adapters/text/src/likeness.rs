//! Which calls are alike: the recipe of the preset `NUDGE`.

use unstuck_core::{Digest, Tag};
use unstuck_json::fingerprint_members;

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

/// What stands for all calls that are like this one: the primary keys among its arguments, or
/// the file if it is a shell command that only reads one. `None` if it uses none of them, and
/// so is like no other.
pub(crate) fn similar(tag: Tag, args: &str) -> Option<Digest> {
    let file = match tag {
        Tag::Shell => with_command(args, |command| {
            file_read(command).map(|file| Digest::of(file.as_bytes()).mix(Digest::of(b"file read")))
        }),
        _ => None,
    };
    file.or_else(|| fingerprint_members(args.as_bytes(), &PRIMARY_KEYS).ok()?)
}
