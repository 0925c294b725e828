//! Stores requests, judges their spans, and passes the findings on.

use std::fs::File;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use unstuck_json::{Hash64 as _, Rapid};
use unstuck_text::Preset;

use super::body::{Decoded, decode, why};
use super::clock::{Clock, Moment, Time};
use super::finding::Finding;
use super::journal::{Encoding, Entry, Store, Stored};
use super::metrics::labelled;
use super::outputs::{Output, Outputs, Place, Waiting};
use super::sessions::{Made, Sessions};
use crate::output::{Closed, complain, remark};

/// The length of the journal, in bytes, and its age, in milliseconds, at which a snapshot replaces it.
const JOURNAL_BYTES: u64 = 256 << 20;
const JOURNAL_AGE: u64 = 60_000;

/// The most records that are judged before others get their turn: some 10 ms.
const PART: usize = 256;

/// The receiver, without its connections.
pub(super) struct Receiver {
    preset: &'static Preset,
    time: Time,
    sessions: Sessions,
    store: Option<Store>,
    pub(super) outputs: Outputs,
    made: Made,
    /// The passed time, in milliseconds, at the latest snapshot.
    snapshot_at: Option<u64>,
    /// The time after which no finding from before the start comes again.
    restored_until: u64,
    /// `true` while the journal cannot be written.
    is_failing: bool,
    /// Set when nobody reads standard output any more.
    pub(super) closed: Option<Closed>,
}

/// The answer to a request whose spans were taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) rejected: usize,
    pub(super) why: String,
}

/// The reason why no span of a request was taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The body cannot be read. The client must not send it again.
    Malformed(String),
    /// The journal or the findings cannot be written. The client sends the request again, later.
    Unready(&'static str),
}

/// The parts of a snapshot beside the sessions.
#[derive(Serialize, Deserialize)]
struct SnapshotHead {
    policy: u64,
    time: [u64; 2],
    lines: Place,
    waiting: Waiting,
}

/// The state that was found at the start.
pub(super) struct Former {
    head: Option<SnapshotHead>,
    sessions: Vec<u8>,
    stored: Stored,
}

impl Former {
    /// Reads the snapshot. `name` is the folder.
    pub(super) fn of(mut stored: Stored, name: &Path) -> Self {
        let mut sessions = stored.snapshot.take().unwrap_or_default();
        if sessions.is_empty() {
            return Self { head: None, sessions, stored };
        }
        let read = postcard::take_from_bytes::<SnapshotHead>(&sessions);
        let Ok((head, length)) = read.map(|(head, rest)| (head, rest.len())) else {
            let what =
                "the snapshot cannot be read: its sessions begin anew, only the journal is read";
            remark(&name.display().to_string(), what);
            return Self { head: None, sessions: Vec::new(), stored };
        };
        // A state is large, so it is not copied.
        sessions.drain(..sessions.len() - length);
        Self { head: Some(head), sessions, stored }
    }

    /// Returns the end of the file of findings at the snapshot.
    pub(super) fn lines(&self) -> Place {
        self.head.as_ref().map_or(Place::default(), |head| head.lines)
    }
}

impl Receiver {
    pub(super) fn new(
        preset: &'static Preset,
        clock: Clock,
        sessions: Sessions,
        outputs: Outputs,
        store: Option<Store>,
    ) -> Self {
        Self {
            preset,
            time: Time::new(clock),
            sessions,
            store,
            outputs,
            made: Made::default(),
            snapshot_at: None,
            restored_until: 0,
            is_failing: false,
            closed: None,
        }
    }

    /// Restores a former state: its snapshot, and the journal since then. Returns a message about it.
    pub(super) fn restored(mut self, former: Former) -> (Self, String) {
        let Former { head, sessions, stored } = former;
        let mut remarks = String::new();
        if let Some(SnapshotHead { policy, time, waiting, .. }) = head {
            self.time = self.time.restored(time);
            self.outputs.restore(waiting);
            if policy != fingerprint(self.preset) {
                remarks.push_str("the policy has changed, so running sessions begin anew; ");
            } else if let Some(sessions) = self.sessions.restored(&sessions) {
                self.sessions = sessions;
            } else {
                remarks.push_str("the sessions of the snapshot cannot be read, and begin anew; ");
            }
        }
        let (mut requests, mut made) = (0, Made::default());
        for entry in stored.entries() {
            match entry {
                Entry::Spans { at, encoding, body } => {
                    requests += 1;
                    self.time.replay(at);
                    // Only bodies that could be read were stored.
                    let spans =
                        decode(encoding, body).map(|decoded| decoded.spans).unwrap_or_default();
                    self.sessions.push(spans, self.time.now(), &mut made);
                    for finding in made.findings.drain(..) {
                        self.outputs.put(&finding);
                    }
                }
                Entry::Done { output, id } => self.outputs.was_done(output, id),
            }
        }
        let (count, _) = self.sessions.size();
        let remarks = format!(
            "{remarks}{count} sessions continue, {requests} requests were read from the journal"
        );
        self.write();
        self.outputs.started();
        self.restored_until = self.time.now().saturating_add(self.sessions.horizon());
        (self, remarks)
    }

    /// Takes in the body of a request, once it is stored.
    pub(super) fn take(
        &mut self,
        encoding: Encoding,
        body: &[u8],
        moment: Moment,
    ) -> Result<Accepted, Refused> {
        if !self.outputs.is_ready() {
            self.write();
        }
        if !self.outputs.is_ready() {
            return Err(Refused::Unready("findings cannot be written"));
        }
        let Decoded { spans, broken, beyond } =
            decode(encoding, body).map_err(Refused::Malformed)?;
        self.read_clocks(moment);
        let in_future = self.time.take_ends(spans.iter().map(|span| span.end / 1_000_000));
        let now = self.time.now();
        self.store(Entry::Spans { at: now, encoding, body })?;
        let reasons = [("broken", broken), ("request_too_long", beyond), ("future", in_future)];
        for (reason, count) in reasons {
            self.made.metrics.add(
                "unstuck_spans_dropped_total",
                &[("reason", reason)],
                count as u64,
            );
        }
        self.judge(|sessions, made| sessions.push(spans, now, made));
        Ok(Accepted { rejected: broken + beyond, why: why(broken, beyond) })
    }

    /// Adds an entry to the journal, if there is one.
    fn store(&mut self, entry: Entry<'_>) -> Result<(), Refused> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let added = store.add(entry);
        self.note_journal(added.as_ref().err());
        added.map_err(|_| Refused::Unready("the journal cannot be written"))
    }

    /// Notes whether the journal can be written, and prints a message at the first error.
    fn note_journal(&mut self, error: Option<&io::Error>) {
        if let Some(error) = error
            && !self.is_failing
        {
            let what = format!(
                "the journal cannot be written: {error}. No spans are accepted until it can be written"
            );
            complain("--state", &what);
        }
        self.is_failing = error.is_some();
    }

    /// Advances the time: judges records that have waited, and ends quiet sessions, a [`PART`] of them. Returns
    /// whether there is more to judge at this time.
    pub(super) fn advance(&mut self, moment: Moment) -> bool {
        self.read_clocks(moment);
        let (now, mut is_more) = (self.time.now(), false);
        self.judge(|sessions, made| is_more = sessions.advance_part(now, PART, made));
        is_more
    }

    /// Advances the time, and replaces the snapshot if the journal is long or old.
    pub(super) fn tick(&mut self, moment: Moment) {
        while self.advance(moment) {}
        let Some(store) = &self.store else { return };
        let is_old = |at: u64| self.time.passed() >= at.saturating_add(JOURNAL_AGE);
        let is_old = self.snapshot_at.is_none_or(is_old) && !store.is_empty();
        if store.is_gone() {
            let written = self.snapshot();
            self.note_journal(written.err().as_ref());
        } else if is_old || store.length() > JOURNAL_BYTES {
            self.keep();
        }
    }

    /// Takes in a look at the clocks, and prints a message if the clock of this machine was set.
    fn read_clocks(&mut self, moment: Moment) {
        let Some(step) = self.time.update(moment) else { return };
        let direction = if step < 0 { "back" } else { "forward" };
        let seconds = step.unsigned_abs() / 1000;
        let what = format!(
            "the clock of this machine stepped {direction} by {seconds} s: --settle and --quiet go on counting the \
             time that passes"
        );
        remark("--clock", &what);
        self.made.metrics.add("unstuck_clock_steps_total", &[("direction", direction)], 1);
    }

    /// Runs `what` on the sessions, and passes the findings on.
    fn judge(&mut self, what: impl FnOnce(&mut Sessions, &mut Made)) {
        what(&mut self.sessions, &mut self.made);
        for finding in std::mem::take(&mut self.made.findings) {
            for (output, oldest) in self.outputs.put(&finding) {
                self.dropped(output, &oldest, "full");
            }
        }
        if self.time.now() > self.restored_until {
            self.outputs.forget_taken();
        }
        self.write();
    }

    /// Writes the lines that wait.
    fn write(&mut self) {
        let (written, result) = self.outputs.write();
        if let Err(closed) = result {
            self.closed = Some(closed);
        }
        self.sent(Output::Lines, &written);
    }

    /// Notes that an output has taken these findings.
    pub(super) fn sent(&mut self, output: Output, findings: &[Finding]) {
        let count = findings.len() as u64;
        self.made.metrics.add("unstuck_outputs_sent_total", &[("output", output.name())], count);
        for finding in findings {
            self.done(output, finding);
        }
    }

    /// Notes that a finding is not sent to a server.
    pub(super) fn dropped(&mut self, output: Output, finding: &Finding, reason: &str) {
        let labels = [("output", output.name()), ("reason", reason)];
        self.made.metrics.add("unstuck_outputs_dropped_total", &labels, 1);
        self.done(output, finding);
    }

    fn done(&mut self, output: Output, finding: &Finding) {
        self.outputs.done(output.number(), &finding.id);
        // If it cannot be stored, the finding comes again after a kill.
        let _ = self.store(Entry::Done { output: output.number(), id: &finding.id });
    }

    /// Replaces the snapshot, and prints a message if it cannot be written.
    fn keep(&mut self) {
        if let Err(error) = self.snapshot() {
            complain("--state", &format!("the snapshot cannot be written: {error}"));
        }
        self.snapshot_at = Some(self.time.passed());
    }

    fn snapshot(&mut self) -> io::Result<()> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let (lines, waiting) = self.outputs.stored();
        let head = SnapshotHead {
            policy: fingerprint(self.preset),
            time: self.time.stored(),
            lines,
            waiting,
        };
        // Writing to memory does not fail.
        let state = postcard::to_stdvec(&head).unwrap_or_default();
        let state = self.sessions.snapshot(state);
        store.snapshot(&state)
    }

    /// Ends the receiver. With a state folder, sessions continue after a restart. Without one, they end now.
    pub(super) fn finish(&mut self) {
        if self.store.is_some() {
            self.judge(Sessions::end_check);
            self.keep();
        } else {
            self.judge(Sessions::finish);
        }
    }

    /// Returns the journal's file if it has to be brought to the disk.
    pub(super) fn unsynced(&mut self) -> Option<File> {
        self.store.as_mut()?.unsynced()
    }

    /// Counts an answer.
    pub(super) fn answered(&mut self, path: &str, status: u16) {
        let labels = [("path", path), ("code", &status.to_string())];
        self.made.metrics.add("unstuck_requests_total", &labels, 1);
    }

    /// Counts a connection that was refused.
    pub(super) fn refused(&mut self) {
        self.made.metrics.add("unstuck_connections_refused_total", &[], 1);
    }

    pub(super) fn is_ready(&self) -> bool {
        !self.is_failing && self.outputs.is_ready()
    }

    /// Returns the metrics as text. `connections` are open.
    pub(super) fn metrics(&self, connections: usize) -> String {
        let (sessions, bytes) = self.sessions.size();
        let policy = self.preset.policy.name();
        let about = labelled(&[("policy", policy), ("version", env!("CARGO_PKG_VERSION"))]);
        let gauge = |name, value| (name, String::new(), value);
        let mut gauges = vec![
            ("unstuck_build_info", about, 1),
            gauge("unstuck_connections", connections as u64),
            gauge("unstuck_sessions", sessions as u64),
            gauge("unstuck_sessions_bytes", bytes as u64),
            gauge("unstuck_journal_bytes", self.store.as_ref().map_or(0, Store::length)),
            gauge("unstuck_ready", self.is_ready().into()),
        ];
        for (output, queued) in self.outputs.queued() {
            let labels = labelled(&[("output", output)]);
            gauges.push(("unstuck_outputs_queued", labels, queued as u64));
        }
        self.made.metrics.text(&gauges)
    }
}

/// Returns a hash of a policy.
fn fingerprint(preset: &Preset) -> u64 {
    Rapid::new(0).hash(format!("{preset:?}").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::ops::Range;

    use unstuck_report::html::IncludeArgs;
    use unstuck_text::PRESETS;
    use unstuck_trace::otlp::Limits as AssemblerLimits;

    use super::super::outputs::Lines;
    use super::super::sessions::Limits;
    use super::super::sessions::tests::{request, span_json};
    use super::*;

    /// Starts a receiver with a webhook, a state and a file of findings in a folder. Spans wait for a second.
    fn start(folder: &Path) -> Receiver {
        start_by(Clock::Wall, folder)
    }

    fn start_by(clock: Clock, folder: &Path) -> Receiver {
        let (store, stored) = Store::open(&folder.join("state")).expect("a state folder");
        let former = Former::of(stored, folder);
        let lines = Lines::file(&folder.join("findings.jsonl"), former.lines()).expect("a file");
        let limits = Limits {
            sessions: 100,
            bytes: 1 << 20,
            quiet: 600_000,
            assembler: AssemblerLimits { settle: 1000, ..AssemblerLimits::default() },
        };
        let sessions = Sessions::new(&PRESETS[0], IncludeArgs::None, limits);
        let outputs = Outputs::new(lines, &[Output::Webhook]);
        Receiver::new(&PRESETS[0], clock, sessions, outputs, Some(store)).restored(former).0
    }

    /// Returns a moment at which no clock was ever set.
    fn at(time: u64) -> Moment {
        Moment { passed: time, wall: time }
    }

    /// Takes in nine equal calls that fail.
    fn take_a_loop(receiver: &mut Receiver, wall: u64) {
        take(receiver, wall, 1..10, |n| n * 1000);
    }

    /// Takes in equal calls that fail, which begin at the nanoseconds that `begin` returns.
    fn take(receiver: &mut Receiver, wall: u64, calls: Range<u64>, begin: impl Fn(u64) -> u64) {
        take_at(receiver, at(wall), calls, begin);
    }

    fn take_at(
        receiver: &mut Receiver,
        moment: Moment,
        calls: Range<u64>,
        begin: impl Fn(u64) -> u64,
    ) {
        let texts = [
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "make"),
            ("gen_ai.tool.call.arguments", "{}"),
            ("gen_ai.tool.call.result", "error: no rule to make it"),
        ];
        let span = |n: u64| span_json([1, n], begin(n), begin(n) + 9, &texts);
        let body = request(&calls.map(span).collect::<Vec<_>>());
        receiver.take(Encoding::Json, &body, moment).expect("spans that are stored");
    }

    /// Sends all that waits for the webhook, and returns the ids.
    fn sent(receiver: &mut Receiver) -> Vec<String> {
        let findings: Vec<_> =
            receiver.outputs.queue(Output::Webhook).findings.iter().cloned().collect();
        receiver.sent(Output::Webhook, &findings);
        findings.into_iter().map(|finding| finding.id).collect()
    }

    #[test]
    fn a_finding_that_time_brings_comes_once_over_restarts() {
        let folder = tempfile::tempdir().expect("a folder");
        let lines = || {
            let text = fs::read_to_string(folder.path().join("findings.jsonl"));
            text.expect("a file of findings").lines().count()
        };
        let mut receiver = start(folder.path());
        receiver.tick(at(1_000));
        take_a_loop(&mut receiver, 2_000);
        assert_eq!(lines(), 0, "spans wait");
        receiver.tick(at(4_000));
        let found = sent(&mut receiver);
        assert!(found.len() > 1, "{found:?}");
        assert_eq!(lines(), found.len());
        drop(receiver);
        // Nothing follows but time: after a kill, after a restart that ends at once, and after a further kill.
        drop(start(folder.path()));
        let mut receiver = start(folder.path());
        receiver.snapshot().expect("a snapshot");
        drop(receiver);
        let mut receiver = start(folder.path());
        receiver.tick(at(5_000));
        assert_eq!(sent(&mut receiver), Vec::<String>::new());
        assert_eq!(lines(), found.len());
    }

    /// Elsewhere, nobody can remove an open file.
    #[cfg(unix)]
    #[test]
    fn a_receiver_whose_state_is_gone_takes_nothing_until_it_is_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let (state, moved) = (folder.path().join("state"), folder.path().join("moved"));
        for is_removed in [true, false] {
            let mut receiver = start(folder.path());
            receiver.tick(at(1_000));
            take_a_loop(&mut receiver, 2_000);
            if is_removed {
                fs::remove_dir_all(&state).expect("a state");
            } else {
                fs::rename(&state, &moved).expect("a state");
            }
            let refused = receiver.take(Encoding::Json, b"{}", at(2_100));
            assert_eq!(refused, Err(Refused::Unready("the journal cannot be written")));
            receiver.tick(at(2_200));
            assert!(!receiver.is_ready());
            // All of the state comes back with the folder, also the calls that wait.
            fs::create_dir(&state).expect("a folder");
            receiver.tick(at(2_300));
            assert!(receiver.is_ready());
            assert_eq!(receiver.take(Encoding::Json, b"{}", at(2_400)), Ok(Accepted::default()));
            drop(receiver);
            let mut receiver = start(folder.path());
            receiver.tick(at(5_000));
            assert!(!sent(&mut receiver).is_empty());
            drop(receiver);
            fs::remove_dir_all(&state).expect("a state");
            fs::remove_file(folder.path().join("findings.jsonl")).expect("a file");
        }
    }

    #[test]
    fn findings_come_whatever_the_clock_of_the_machine_does() {
        const YEAR: u64 = 365 * 24 * 3_600_000;
        for (before, after) in [(YEAR, YEAR - 600_000), (2 * YEAR, YEAR), (YEAR, 0), (0, YEAR)] {
            for is_restarted in [false, true] {
                for clock in [Clock::Wall, Clock::Spans] {
                    let folder = tempfile::tempdir().expect("a folder");
                    let mut receiver = start_by(clock, folder.path());
                    let mut passed = 0;
                    let mut pass = |receiver: &mut Receiver, wall| {
                        passed += 2_000;
                        receiver.tick(Moment { passed, wall: wall + passed });
                        let end = (wall + passed) * 1_000_000;
                        let calls = passed / 1_000..passed / 1_000 + 2;
                        take_at(receiver, Moment { passed, wall: wall + passed }, calls, |n| {
                            end + n
                        });
                    };
                    pass(&mut receiver, before);
                    if is_restarted {
                        receiver.finish();
                        drop(receiver);
                        receiver = start_by(clock, folder.path());
                    }
                    for _ in 0..5 {
                        pass(&mut receiver, after);
                    }
                    let found = sent(&mut receiver);
                    assert!(!found.is_empty(), "{before} {after} {is_restarted} {clock:?}");
                }
            }
        }
    }

    #[test]
    fn ids_of_findings_are_kept_only_while_these_may_come_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let stored = |receiver: &Receiver| postcard::to_stdvec(&receiver.outputs.stored().1);
        let nothing = postcard::to_stdvec(&Waiting::default());
        let mut receiver = start(folder.path());
        take_a_loop(&mut receiver, 2_000);
        // The next request brings the findings. After a kill, both come again.
        take(&mut receiver, 5_000, 20..21, |n| n * 1000);
        assert!(!sent(&mut receiver).is_empty());
        drop(receiver);
        assert_eq!(stored(&start(folder.path())), nothing);
        // The file has findings from before the state. None of them comes again, but nobody knows.
        fs::remove_dir_all(folder.path().join("state")).expect("a state");
        let mut receiver = start(folder.path());
        receiver.tick(at(1_000));
        assert_ne!(stored(&receiver), nothing);
        receiver.tick(at(1_000_000));
        assert_eq!(stored(&receiver), nothing);
    }

    #[test]
    fn a_span_of_the_far_future_does_not_move_the_clock_of_the_spans() {
        const SECOND: u64 = 1_000_000_000;
        let folder = tempfile::tempdir().expect("a folder");
        let mut receiver = start_by(Clock::Spans, folder.path());
        // The clock of this machine is at 1000 seconds. Up to five minutes later is in order.
        let wall = 1_000_000;
        for (n, end, moved_to) in [
            (1, 900 * SECOND, 900_000),
            (2, u64::MAX - 9, 900_000),
            (3, 1301 * SECOND, 900_000),
            (4, 1299 * SECOND, 1_299_000),
            (5, 1000 * SECOND, 1_299_000),
        ] {
            take(&mut receiver, wall, n..n + 1, |_| end);
            assert_eq!(receiver.time.now(), moved_to, "{n}");
        }
        let count = |reason| {
            receiver.made.metrics.count("unstuck_spans_dropped_total", &[("reason", reason)])
        };
        assert_eq!((count("future"), count("broken")), (2, 0));
        // Such spans are taken in, and later ones bring their findings.
        take(&mut receiver, wall, 6..7, |_| 1298 * SECOND);
        take(&mut receiver, wall + 60_000, 7..8, |_| 1350 * SECOND);
        assert!(!sent(&mut receiver).is_empty());
    }
}
