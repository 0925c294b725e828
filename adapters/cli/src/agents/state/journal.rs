//! The journal has one line of JSON for each finding and for each session that ended. The log has one line for each
//! failure, because a failed hook prints nothing.
//!
//! Both outlive the states of the sessions. A call without a finding does not touch the journal.

use std::env;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use unstuck::Wording;
use unstuck_report::json::json_line;
use unstuck_report::redact::masked;
use unstuck_report::shown::is_hidden;

use super::file::{Trouble, WAIT_MIN, create, lock, read};
use super::folder::Folder;
use super::session::{FindingRecord, LoopRecord, Session};
use crate::private;

/// The name of the file.
pub(crate) const JOURNAL: &str = "findings.jsonl";

/// The size in bytes at which the older half is dropped: some thousand findings.
const BYTES_MAX: u64 = 1024 * 1024;

/// The agent of a finding of `unstuck mcp`.
const PROXY: &str = "mcp";

/// The name of the log file.
pub(crate) const LOG: &str = "hook.log";

/// The size in bytes at which the log begins anew: a few thousand lines.
const LOG_MAX: u64 = 256 * 1024;

/// The longest message, in characters.
const LINE_MAX: usize = 400;

/// A line of the journal. It holds no arguments and no results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The time, in milliseconds since 1970.
    pub(crate) at: u64,
    /// The name of the agent.
    pub(crate) agent: String,
    pub(crate) session: String,
    pub(crate) worker: String,
    pub(crate) cwd: Option<String>,
    /// The name of the model, as far as the agent tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The wording of what the agent was told, if it was not the usual one.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub(crate) wording: Wording,
    #[serde(flatten)]
    pub(crate) what: What,
}

/// The occasion of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    /// A hook has found something.
    Found(FindingRecord),
    /// The session is over.
    Ended {
        /// The time of its first event.
        begun: u64,
        calls: u64,
        events: u64,
        /// The number of calls that ran and failed.
        #[serde(default)]
        errors: u64,
        /// The number of calls that came back after a stop and were refused.
        #[serde(default)]
        refused_again: u64,
        /// The loops that were found, the latest ones. Earlier versions did not write them.
        #[serde(default)]
        loops: Option<Vec<LoopRecord>>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_usual(wording: &Wording) -> bool {
    *wording == Wording::Named
}

impl Entry {
    /// The line on a finding in `session`.
    pub(crate) fn found(session: &Session, finding: &FindingRecord) -> Self {
        Self::of(session, finding.at, What::Found(finding.clone()))
    }

    /// Sets the wording of what the agent was told.
    pub(crate) fn worded(self, wording: Wording) -> Self {
        Self { wording, ..self }
    }

    /// The line on a loop that nobody made, to try how it is shown.
    pub(crate) fn example(now: u64) -> Self {
        Self::of_proxy("example".to_owned(), FindingRecord::example(now))
    }

    /// The line on a finding of the proxy, in the session with this name.
    pub(crate) fn of_proxy(session: String, finding: FindingRecord) -> Self {
        let cwd = env::current_dir().ok().map(|cwd| cwd.display().to_string());
        let (agent, worker, at) = (PROXY.to_owned(), "main".to_owned(), finding.at);
        let what = What::Found(finding);
        Self { at, agent, session, worker, cwd, model: None, wording: Wording::Named, what }
    }

    /// The line on the end of `session` at the time `now`.
    pub(crate) fn ended(session: &Session, now: u64) -> Self {
        let Session { begun, calls, events, errors, refused_again, .. } = *session;
        let loops = Some(session.loops.clone());
        Self::of(session, now, What::Ended { begun, calls, events, errors, refused_again, loops })
    }

    fn of(session: &Session, at: u64, what: What) -> Self {
        Self {
            at,
            agent: session.agent.name().to_owned(),
            session: session.session.clone(),
            worker: session.worker.clone(),
            cwd: session.cwd.clone(),
            model: session.model.clone(),
            wording: Wording::Named,
            what,
        }
    }
}

/// The version of the JSON lines. An added field does not change it.
const SCHEMA: u32 = 1;

/// A finding as `unstuck report` and webhooks have it in JSON, with the session that it belongs to.
#[derive(Serialize)]
pub(crate) struct Line<'a> {
    schema: u32,
    agent: &'a str,
    session: &'a str,
    worker: &'a str,
    cwd: Option<&'a str>,
    #[serde(flatten)]
    finding: &'a FindingRecord,
}

impl<'a> Line<'a> {
    pub(crate) fn of(entry: &'a Entry, finding: &'a FindingRecord) -> Self {
        let Entry { agent, session, worker, cwd, .. } = entry;
        Self { schema: SCHEMA, agent, session, worker, cwd: cwd.as_deref(), finding }
    }
}

impl Folder {
    /// Appends `entries` to the journal.
    pub(crate) fn record(&self, entries: &[Entry]) -> Result<(), Trouble> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut file = create(&mut private::options(), &self.path().join(JOURNAL))?;
        lock(&file, Instant::now(), WAIT_MIN)?;
        let lines: String = entries.iter().map(json_line).collect();
        // A line that a kill cut off is ended first, so that only that one is lost.
        let is_cut_off = last_byte(&mut file)?.is_some_and(|byte| byte != b'\n');
        let lines = if is_cut_off { format!("\n{lines}") } else { lines };
        file.seek(SeekFrom::End(0))?;
        file.write_all(lines.as_bytes())?;
        Ok(halve(&mut file)?)
    }

    /// Returns the lines of the journal in the order of their times. Lines that cannot be read are skipped.
    pub(crate) fn journal(&self) -> Vec<Entry> {
        let text = read(&self.path().join(JOURNAL)).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n');
        let mut entries: Vec<Entry> =
            lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        entries.sort_by_key(|entry| entry.at);
        entries
    }
}

impl Folder {
    /// Writes a line for the time `now`, in milliseconds since 1970. A failure to write it is ignored.
    pub(crate) fn log(&self, now: u64, who: &str, what: impl Display) {
        let path = self.path().join(LOG);
        let is_full = fs::metadata(&path).is_ok_and(|metadata| metadata.len() > LOG_MAX);
        let mut options = OpenOptions::new();
        options.create(true).append(!is_full).write(true).truncate(is_full);
        if let Ok(mut log) = create(&mut options, &path) {
            // Text from a payload must not begin a new line.
            let what = what.to_string();
            let printable = |c| if is_hidden(c) { ' ' } else { c };
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

/// Returns the last byte of a file, or `None` if it is empty.
fn last_byte(file: &mut File) -> io::Result<Option<u8>> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(None);
    }
    let mut byte = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    Ok(Some(byte[0]))
}

/// Drops the older half of a journal that is too long, at the end of a line.
fn halve(file: &mut File) -> io::Result<()> {
    if file.metadata()?.len() <= BYTES_MAX {
        return Ok(());
    }
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    let newer = &bytes[bytes.len() / 2..];
    let start = newer.iter().position(|byte| *byte == b'\n').map_or(newer.len(), |end| end + 1);
    let newer = &newer[start..];
    file.rewind()?;
    file.write_all(newer)?;
    file.set_len(newer.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Agent;
    use crate::agents::state::Key;

    fn entry(at: u64, session: &str) -> Entry {
        let key = Key { agent: Agent::ALL[0], session, worker: "main" };
        Entry::ended(&Session::new(&key, 1), at)
    }

    #[test]
    fn lines_are_read_in_the_order_of_their_times() {
        let (_around, folder) = Folder::temporary();
        assert_eq!(folder.journal(), []);
        folder.record(&[entry(7, "a\nb"), entry(5, "c")]).expect("a journal");
        folder.record(&[]).expect("a journal");
        folder.record(&[entry(6, "d")]).expect("a journal");
        assert_eq!(folder.journal(), [entry(5, "c"), entry(6, "d"), entry(7, "a\nb")]);
    }

    #[test]
    fn a_line_that_was_cut_off_costs_no_other() {
        let (_around, folder) = Folder::temporary();
        folder.record(&[entry(1, "a")]).expect("a journal");
        let path = folder.path().join(JOURNAL);
        let text = fs::read_to_string(&path).expect("a journal");
        fs::write(&path, format!("{text}{}", &text[..20])).expect("a journal");
        folder.record(&[entry(2, "b")]).expect("a journal");
        assert_eq!(folder.journal(), [entry(1, "a"), entry(2, "b")]);
    }

    #[test]
    fn a_long_journal_loses_its_older_half() {
        let (_around, folder) = Folder::temporary();
        let long = "x".repeat(1000);
        let all: Vec<_> = (1..=1200).map(|at| entry(at, &long)).collect();
        folder.record(&all[..800]).expect("a journal");
        assert_eq!(folder.journal().len(), 800);
        folder.record(&all[800..]).expect("a journal");
        let left = folder.journal();
        assert!((500..700).contains(&left.len()), "{}", left.len());
        assert_eq!(left, all[all.len() - left.len()..]);
        let size = fs::metadata(folder.path().join(JOURNAL)).expect("a journal").len();
        assert!(size <= BYTES_MAX, "{size}");
    }

    #[test]
    fn a_folder_that_is_a_file_is_an_error() {
        let (_around, folder) = Folder::temporary();
        private::make(folder.path().parent().expect("a folder")).expect("a folder");
        fs::write(folder.path(), "").expect("a file");
        assert!(matches!(folder.record(&[entry(1, "a")]), Err(Trouble::Io(_))));
        assert_eq!(folder.journal(), []);
    }

    #[test]
    fn a_failure_is_one_line_and_a_full_log_begins_anew() {
        let (_around, folder) = Folder::temporary();
        let path = folder.path().join(LOG);
        folder.log(7, "codex", "bad\nworse\u{1b}[0m");
        folder.log(7, "codex", "token=\"my hunter2\"\u{202E}");
        folder.log(8, "gemini", "x".repeat(2 * LINE_MAX));
        let long = format!("8 gemini: {}\n", "x".repeat(LINE_MAX));
        let written = fs::read_to_string(&path).expect("a log");
        assert_eq!(written, format!("7 codex: bad worse [0m\n7 codex: token=\"•••\" \n{long}"));

        let full = usize::try_from(LOG_MAX).expect("some KiB") + 1;
        fs::write(&path, "x".repeat(full)).expect("a log that can be written");
        folder.log(9, "codex", "new");
        assert_eq!(fs::read_to_string(&path).expect("a log"), "9 codex: new\n");
    }
}
