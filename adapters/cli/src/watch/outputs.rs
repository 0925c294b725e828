//! The outputs of findings: JSON Lines on standard output or at the end of a file, OTLP and a webhook, each with a
//! bounded queue.

use std::collections::{BTreeSet, HashSet, VecDeque};
#[cfg(unix)]
use std::fs::Metadata;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::finding::{Finding, LINE_MAX};
use crate::output::{self, Closed, Reader, complain};

/// The most findings that wait for a server. If more come, the oldest ones are dropped and counted.
const QUEUE_MAX: usize = 10_000;

/// An output of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Lines,
    Forward,
    Webhook,
}

impl Output {
    const ALL: [Self; 3] = [Self::Lines, Self::Forward, Self::Webhook];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Forward => "forward",
            Self::Webhook => "webhook",
        }
    }

    /// The number of the output in the journal.
    pub(super) const fn number(self) -> u8 {
        self as u8
    }
}

/// The findings that wait for an output.
#[derive(Debug, Default)]
pub(super) struct Queue {
    is_used: bool,
    pub(super) findings: VecDeque<Finding>,
    /// Wakes the task that sends them.
    pub(super) notify: Rc<Notify>,
}

/// All outputs.
pub(super) struct Outputs {
    lines: Lines,
    is_failing: bool,
    /// The queues of the outputs, by their numbers.
    queues: [Queue; 3],
    /// The findings that an output took before a restart, and that were not found again since: the number of the
    /// output, and the id. A finding that time brings, and not a span, comes again only some time after the restart.
    taken: BTreeSet<(u8, String)>,
}

/// The findings that wait for each output, and the ones that were taken and may come again, as a snapshot stores them.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Waiting {
    queues: [Vec<Finding>; 3],
    taken: BTreeSet<(u8, String)>,
}

impl Outputs {
    pub(super) fn new(lines: Lines, remotes: &[Output]) -> Self {
        let is_used = |output| output == Output::Lines || remotes.contains(&output);
        let queues =
            Output::ALL.map(|output| Queue { is_used: is_used(output), ..Queue::default() });
        Self { lines, is_failing: false, queues, taken: BTreeSet::new() }
    }

    /// Adds a finding to each output that did not take it before a restart. Returns the oldest findings that had to
    /// be dropped.
    pub(super) fn put(&mut self, finding: &Finding) -> Vec<(Output, Finding)> {
        let mut dropped = Vec::new();
        for output in Output::ALL {
            // A finding that was taken before a restart does not come a third time.
            if !self.taken.is_empty() && self.taken.remove(&(output.number(), finding.id.clone())) {
                continue;
            }
            let queue = self.queue(output);
            if !queue.is_used {
                continue;
            }
            queue.findings.push_back(finding.clone());
            // Lines never wait for long: no span is taken in before they are written.
            if output != Output::Lines && queue.findings.len() > QUEUE_MAX {
                dropped.extend(queue.findings.pop_front().map(|oldest| (output, oldest)));
            }
            queue.notify.notify_one();
        }
        dropped
    }

    /// Writes the queued lines. Returns the findings that were written.
    ///
    /// # Errors
    ///
    /// If nobody reads standard output any more.
    pub(super) fn write(&mut self) -> (Vec<Finding>, Result<(), Closed>) {
        let mut written = Vec::new();
        let [Queue { findings: unwritten, .. }, ..] = &mut self.queues;
        while let Some(finding) = unwritten.front() {
            match self.lines.write(finding) {
                Ok(()) => written.extend(unwritten.pop_front()),
                Err(NotWritten::Closed(closed)) => return (written, Err(closed)),
                Err(NotWritten::Later(error)) => {
                    if !std::mem::replace(&mut self.is_failing, true) {
                        let what = format!(
                            "cannot be written: {error}. No spans are accepted until it can be written"
                        );
                        complain(self.lines.name(), &what);
                    }
                    return (written, Ok(()));
                }
            }
        }
        self.is_failing = false;
        (written, Ok(()))
    }

    /// Opens the file of lines again if it was rotated.
    pub(super) fn follow(&mut self) {
        if let Err(error) = self.lines.follow() {
            complain(self.lines.name(), &format!("cannot be opened again: {error}"));
        }
    }

    /// Returns whether all lines could be written.
    pub(super) fn is_ready(&self) -> bool {
        self.queues[0].findings.is_empty()
    }

    pub(super) fn queue(&mut self, output: Output) -> &mut Queue {
        &mut self.queues[output as usize]
    }

    /// Removes a finding that an output took before a restart. If it has not come again yet, its id is kept until
    /// it does.
    pub(super) fn was_done(&mut self, output: u8, id: &str) {
        if !self.done(output, id) {
            self.taken.insert((output, id.to_owned()));
        } else if output == Output::Lines.number() {
            self.lines.forget(id);
        }
    }

    /// Forgets the findings that an output took before a restart, after the time within which they could come again.
    pub(super) fn forget_taken(&mut self) {
        self.taken.clear();
    }

    /// Removes a finding that an output has taken. Returns whether it waited.
    pub(super) fn done(&mut self, output: u8, id: &str) -> bool {
        let Some(Queue { findings, .. }) = self.queues.get_mut(usize::from(output)) else {
            return false;
        };
        let at = findings.iter().position(|finding| finding.id == id);
        at.and_then(|at| findings.remove(at)).is_some()
    }

    /// Returns the number of queued findings of each output.
    pub(super) fn queued(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let used = Output::ALL.into_iter().zip(&self.queues).filter(|(_, queue)| queue.is_used);
        used.map(|(output, queue)| (output.name(), queue.findings.len()))
    }

    /// Returns the end of the file, and what waits, for a snapshot.
    pub(super) fn stored(&self) -> (Place, Waiting) {
        let queues = self.queues.each_ref().map(|queue| queue.findings.iter().cloned().collect());
        (self.lines.place(), Waiting { queues, taken: self.taken.clone() })
    }

    /// Adds the findings that waited at a snapshot. Findings for an output that is no longer used are dropped.
    pub(super) fn restore(&mut self, waiting: Waiting) {
        self.taken = waiting.taken;
        for (queue, findings) in self.queues.iter_mut().zip(waiting.queues) {
            if queue.is_used {
                queue.findings.extend(findings);
            }
        }
    }

    /// Notes that the journal has been read. A line in the file that did not come again yet was written, although a
    /// kill kept that out of the journal.
    pub(super) fn started(&mut self) {
        let written = self.lines.take_known().into_iter();
        self.taken.extend(written.map(|id| (Output::Lines.number(), id)));
    }
}

/// The place where lines are written.
pub(super) enum Lines {
    Stdout(output::Output),
    File(Appended),
}

/// A file that lines are added to.
pub(super) struct Appended {
    file: File,
    path: PathBuf,
    name: String,
    /// The ids of the lines after the latest snapshot. They are not written again.
    known: HashSet<String>,
}

/// The reason why a line was not written.
#[derive(Debug)]
pub(super) enum NotWritten {
    /// The reader of standard output has gone.
    Closed(Closed),
    /// The file cannot be written now, for example because the disk is full.
    Later(io::Error),
}

/// The end of a file at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    length: u64,
    /// The device and the number of the file.
    file: (u64, u64),
}

impl Place {
    fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        #[cfg(unix)]
        let file = number(&metadata);
        // The standard library has no number of a file there.
        #[cfg(not(unix))]
        let file = (0, 0);
        Ok(Self { length: metadata.len(), file })
    }
}

impl Lines {
    pub(super) fn stdout() -> Self {
        Self::Stdout(output::Output::stdout(Reader::Program))
    }

    /// Opens or creates a file. `end` is its end at the latest snapshot. Later findings may be found again, and are
    /// written once.
    pub(super) fn file(path: &Path, end: Place) -> io::Result<Self> {
        let mut file = open(path)?;
        let now = Place::of(&file)?;
        // After a rotation, it is another file.
        let is_same = now.file == end.file && now.length >= end.length;
        let from = if is_same { end.length } else { 0 };
        file.seek(SeekFrom::Start(from))?;
        let (known, whole) = ids(&file)?;
        // A line that a kill cut off is written again.
        file.set_len(from + whole)?;
        let (path, name) = (path.to_owned(), path.display().to_string());
        Ok(Self::File(Appended { file, path, name, known }))
    }

    /// Opens or creates the file again if its path leads to another one, or to none, because it was rotated.
    pub(super) fn follow(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(_) => Ok(()),
            Self::File(appended) => appended.follow(),
        }
    }

    /// Returns the end of the file, for a snapshot.
    pub(super) fn place(&self) -> Place {
        match self {
            Self::Stdout(_) => Place::default(),
            Self::File(appended) => Place::of(&appended.file).unwrap_or_default(),
        }
    }

    /// Forgets the id of a line that the file has, because its finding has come again.
    pub(super) fn forget(&mut self, id: &str) {
        if let Self::File(appended) = self {
            appended.known.remove(id);
        }
    }

    /// Returns the ids in the file of findings that did not come again, and forgets them.
    pub(super) fn take_known(&mut self) -> HashSet<String> {
        match self {
            Self::Stdout(_) => HashSet::new(),
            Self::File(appended) => std::mem::take(&mut appended.known),
        }
    }

    /// Writes a finding, unless the file has it.
    pub(super) fn write(&mut self, finding: &Finding) -> Result<(), NotWritten> {
        let line = format!("{}\n", finding.line);
        match self {
            Self::Stdout(output) => output.write(&line).map_err(NotWritten::Closed),
            Self::File(appended) => {
                if appended.known.remove(&finding.id) {
                    return Ok(());
                }
                appended.follow().and_then(|()| appended.add(&line)).map_err(NotWritten::Later)
            }
        }
    }

    /// Returns the name of the output for a message.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Stdout(_) => "standard output",
            Self::File(appended) => &appended.name,
        }
    }
}

impl Appended {
    fn follow(&mut self) -> io::Result<()> {
        if is_elsewhere(&self.path, &self.file)? {
            self.file = open(&self.path)?;
        }
        Ok(())
    }

    fn add(&mut self, line: &str) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        self.file.write_all(line.as_bytes()).inspect_err(|_| {
            // If half a line stays, the next line cannot be read either. There is no other remedy.
            let _ = self.file.set_len(before);
        })
    }
}

/// Opens or creates a file of findings. Only this user can read a new one.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Returns whether `path` leads to another file than the open one, or to none.
pub(super) fn is_elsewhere(path: &Path, open: &File) -> io::Result<bool> {
    let found = match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        found => found?,
    };
    let open = open.metadata()?;
    #[cfg(unix)]
    let is_same = number(&found) == number(&open);
    // The standard library has no number of a file there.
    #[cfg(not(unix))]
    let is_same = found.created().ok() == open.created().ok();
    Ok(!is_same)
}

/// Returns the device and the number of a file.
#[cfg(unix)]
fn number(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

/// Returns the ids in the lines of a file from its place on, and the length of its whole lines.
fn ids(file: &File) -> io::Result<(HashSet<String>, u64)> {
    #[derive(Deserialize)]
    struct Line {
        id: String,
    }
    let (mut known, mut whole, mut line) = (HashSet::new(), 0, Vec::new());
    let mut reader = BufReader::new(file);
    loop {
        line.clear();
        // No finding is longer.
        let length = reader.by_ref().take(LINE_MAX as u64).read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') && length < LINE_MAX {
            return Ok((known, whole));
        }
        whole += length as u64;
        // A line of another program is left as it is.
        known.extend(serde_json::from_slice::<Line>(&line).map(|line| line.id));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn finding(id: &str) -> Finding {
        let line = format!("{{\"schema\":1,\"id\":\"{id}\"}}");
        let id = id.to_owned();
        Finding { id, time: 0, trace: [0; 16], span: [0; 8], is_error: false, line }
    }

    #[test]
    fn a_file_gets_each_finding_once_and_no_half_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("findings.jsonl");
        let write = |from, ids: &[&str]| {
            let mut lines = Lines::file(&path, from).expect("a file");
            for id in ids {
                lines.write(&finding(id)).expect("a line");
            }
            lines.place()
        };
        let of_a = write(Place::default(), &["a"]);
        write(of_a, &["b", "c"]);
        let whole = fs::read_to_string(&path).expect("a file");
        // A kill cut off the last line. What came since the snapshot comes again.
        fs::write(&path, &whole[..whole.len() - 4]).expect("a file");
        write(of_a, &["b", "c", "d"]);
        let ids = |text: &str| text.matches("\"id\"").count();
        let again = fs::read_to_string(&path).expect("a file");
        assert!(again.starts_with(&whole) && ids(&again) == 4, "{again}");
        // After a rotation, the file is another one.
        fs::write(&path, "of another program\n").expect("a file");
        write(of_a, &["e"]);
        let rotated = fs::read_to_string(&path).expect("a file");
        assert_eq!(rotated, "of another program\n{\"schema\":1,\"id\":\"e\"}\n");
    }

    #[cfg(unix)]
    #[test]
    fn the_end_of_a_file_is_not_the_end_of_the_next_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("findings.jsonl");
        let mut lines = Lines::file(&path, Place::default()).expect("a file");
        lines.write(&finding("a")).expect("a line");
        let end = lines.place();
        fs::rename(&path, folder.path().join("old")).expect("a file that is rotated");
        for id in ["b", "c"] {
            lines.write(&finding(id)).expect("a line");
        }
        let whole = fs::read_to_string(&path).expect("a file");
        // A kill cut off a line that began before the end of the other file and ends behind it.
        fs::write(&path, &whole[..whole.len() - 4]).expect("a file");
        let mut lines = Lines::file(&path, end).expect("a file");
        for id in ["b", "c"] {
            lines.write(&finding(id)).expect("a line");
        }
        assert_eq!(fs::read_to_string(&path).expect("a file"), whole);
    }

    #[test]
    fn lines_follow_the_path_of_their_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("findings.jsonl");
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("a file");
        let mut lines = Lines::file(&path, Place::default()).expect("a file");
        lines.write(&finding("a")).expect("a line");
        fs::rename(&path, folder.path().join("old")).expect("a file that is rotated");
        lines.follow().expect("a new file");
        assert_eq!((read("findings.jsonl").as_str(), lines.place().length), ("", 0));
        // Without a signal, and with another file in its place.
        fs::write(folder.path().join("next"), "of another program\n").expect("a file");
        fs::rename(folder.path().join("next"), &path).expect("a file that is replaced");
        lines.write(&finding("b")).expect("a line");
        assert_eq!(read("findings.jsonl"), "of another program\n{\"schema\":1,\"id\":\"b\"}\n");
        fs::remove_file(&path).expect("a file");
        lines.write(&finding("c")).expect("a line");
        assert_eq!(read("findings.jsonl"), "{\"schema\":1,\"id\":\"c\"}\n");
        assert_eq!(read("old"), "{\"schema\":1,\"id\":\"a\"}\n");
        // The folder has gone. The line waits.
        folder.close().expect("a folder");
        assert!(matches!(lines.write(&finding("d")), Err(NotWritten::Later(_))));
    }

    #[cfg(unix)]
    #[test]
    fn only_this_user_can_read_a_new_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("findings.jsonl");
        let mode = || fs::metadata(&path).expect("a file").permissions().mode() & 0o777;
        Lines::file(&path, Place::default()).expect("a file");
        assert_eq!(mode(), 0o600);
        // The permissions of an existing file are its owner's choice.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a file");
        Lines::file(&path, Place::default()).expect("a file");
        assert_eq!(mode(), 0o640);
    }
}
