//! The log of failures, with one line for each, because a failed hook prints nothing.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::Write as _;

use unstuck_report::redact::masked;
use unstuck_report::shown::is_hidden;

use super::file::{create, read};
use super::folder::Folder;

/// The name of the log file.
pub(crate) const LOG: &str = "hook.log";

/// The size in bytes at which the log begins anew: a few thousand lines.
const BYTES_MAX: u64 = 256 * 1024;

/// The longest message, in characters.
const LINE_MAX: usize = 400;

impl Folder {
    /// Writes a line for the time `now`, in milliseconds since 1970. A failure to write it is ignored.
    pub(crate) fn log(&self, now: u64, who: &str, what: impl Display) {
        let path = self.path().join(LOG);
        let is_full = fs::metadata(&path).is_ok_and(|metadata| metadata.len() > BYTES_MAX);
        let mut options = OpenOptions::new();
        options.create(true).append(!is_full).write(true).truncate(is_full);
        if let Ok(mut log) = create(&mut options, &path) {
            // Text from a payload must not begin a new line.
            let what = what.to_string();
            let line: String = masked(&what).chars().take(LINE_MAX).map(printable).collect();
            let _ = log.write_all(format!("{now} {who}: {line}\n").as_bytes());
        }
    }

    /// Returns the text of the log, which is empty if there is none.
    pub(crate) fn log_text(&self) -> String {
        let log = read(&self.path().join(LOG)).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }
}

fn printable(c: char) -> char {
    if is_hidden(c) { ' ' } else { c }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{BYTES_MAX, LINE_MAX};
    use crate::agents::state::Folder;

    #[test]
    fn a_failure_is_one_line_and_a_full_log_begins_anew() {
        let around = tempfile::tempdir().expect("a folder");
        let folder = Folder::at(around.path().join("unstuck"));
        let path = folder.path().join("hook.log");
        folder.log(7, "codex", "bad\nworse\u{1b}[0m");
        folder.log(7, "codex", "token=\"my hunter2\"\u{202E}");
        folder.log(8, "gemini", "x".repeat(2 * LINE_MAX));
        let long = format!("8 gemini: {}\n", "x".repeat(LINE_MAX));
        let written = fs::read_to_string(&path).expect("a log");
        assert_eq!(written, format!("7 codex: bad worse [0m\n7 codex: token=\"•••\" \n{long}"));

        let full = usize::try_from(BYTES_MAX).expect("some KiB") + 1;
        fs::write(&path, "x".repeat(full)).expect("a log that can be written");
        folder.log(9, "codex", "new");
        assert_eq!(fs::read_to_string(&path).expect("a log"), "9 codex: new\n");
    }
}
