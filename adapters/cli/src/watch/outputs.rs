//! The outputs of findings: lines, OTLP and a webhook, each with a bounded queue.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::finding::Finding;
use super::lines::{Lines, NotWritten, Place};
use crate::output::{Closed, complain};

/// The most findings that wait for a server. If more come, the oldest ones are dropped and counted.
pub(super) const QUEUE_MAX: usize = 10_000;

/// An output that takes findings over the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Remote {
    Forward,
    Webhook,
}

impl Remote {
    pub(super) const ALL: [Self; 2] = [Self::Forward, Self::Webhook];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Webhook => "webhook",
        }
    }

    /// The number of the output in the journal.
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Forward => 1,
            Self::Webhook => 2,
        }
    }
}

/// The number of the output of lines in the journal.
pub(super) const LINES: u8 = 0;

/// The findings that wait.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) findings: VecDeque<Finding>,
    /// Wakes the task that sends them.
    pub(super) notify: Rc<Notify>,
}

/// All outputs.
pub(super) struct Outputs {
    lines: Lines,
    unwritten: VecDeque<Finding>,
    is_failing: bool,
    remotes: [Option<Queue>; 2],
    /// The findings that an output took before a restart, and that were not found again since: the number of the
    /// output, and the id. A finding that time brings, and not a span, comes again only some time after the restart.
    taken: BTreeSet<(u8, String)>,
}

/// The findings that wait, and the ones that were taken and may come again, as a snapshot stores them.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Waiting {
    lines: Vec<Finding>,
    remotes: [Vec<Finding>; 2],
    taken: BTreeSet<(u8, String)>,
}

impl Outputs {
    pub(super) fn new(lines: Lines, remotes: &[Remote]) -> Self {
        let queue = |remote| remotes.contains(&remote).then(Queue::default);
        Self {
            lines,
            unwritten: VecDeque::new(),
            is_failing: false,
            remotes: Remote::ALL.map(queue),
            taken: BTreeSet::new(),
        }
    }

    /// Adds a finding to each output that did not take it before a restart. Returns the oldest findings that had to
    /// be dropped.
    pub(super) fn put(&mut self, finding: &Finding) -> Vec<(Remote, Finding)> {
        if !self.is_taken(LINES, finding) {
            self.unwritten.push_back(finding.clone());
        }
        let mut dropped = Vec::new();
        for remote in Remote::ALL {
            if self.is_taken(remote.number(), finding) {
                continue;
            }
            let Some(queue) = self.queue(remote) else { continue };
            queue.findings.push_back(finding.clone());
            if queue.findings.len() > QUEUE_MAX {
                dropped.extend(queue.findings.pop_front().map(|oldest| (remote, oldest)));
            }
            queue.notify.notify_one();
        }
        dropped
    }

    /// Returns whether an output took a finding before a restart. The finding does not come a third time.
    fn is_taken(&mut self, output: u8, finding: &Finding) -> bool {
        !self.taken.is_empty() && self.taken.remove(&(output, finding.id.clone()))
    }

    /// Writes the queued lines. Returns the ids of the findings that were written.
    ///
    /// # Errors
    ///
    /// If nobody reads standard output any more.
    pub(super) fn write(&mut self) -> (Vec<String>, Result<(), Closed>) {
        let mut written = Vec::new();
        while let Some(finding) = self.unwritten.front() {
            match self.lines.write(finding) {
                Ok(()) => {}
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
            written.extend(self.unwritten.pop_front().map(|finding| finding.id));
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
        self.unwritten.is_empty()
    }

    pub(super) fn queue(&mut self, remote: Remote) -> Option<&mut Queue> {
        let [forward, webhook] = &mut self.remotes;
        match remote {
            Remote::Forward => forward.as_mut(),
            Remote::Webhook => webhook.as_mut(),
        }
    }

    /// Removes a finding that an output took before a restart. If it has not come again yet, its id is kept until
    /// it does.
    pub(super) fn was_done(&mut self, output: u8, id: &str) {
        if self.done(output, id) {
            if output == LINES {
                self.lines.forget(id);
            }
        } else {
            self.taken.insert((output, id.to_owned()));
        }
    }

    /// Forgets the findings that an output took before a restart, after the time within which they could come again.
    pub(super) fn forget_taken(&mut self) {
        self.taken.clear();
    }

    /// Removes a finding that an output has taken. Returns whether it waited.
    pub(super) fn done(&mut self, output: u8, id: &str) -> bool {
        let remote = Remote::ALL.into_iter().find(|remote| remote.number() == output);
        let findings = match remote {
            None => Some(&mut self.unwritten),
            Some(remote) => self.queue(remote).map(|queue| &mut queue.findings),
        };
        let Some(findings) = findings else { return false };
        let at = findings.iter().position(|finding| finding.id == id);
        at.and_then(|at| findings.remove(at)).is_some()
    }

    /// Returns the number of queued findings of each output.
    pub(super) fn queued(&self) -> Vec<(&'static str, usize)> {
        let remotes = Remote::ALL.iter().zip(&self.remotes);
        let remotes = remotes
            .filter_map(|(remote, queue)| Some((remote.name(), queue.as_ref()?.findings.len())));
        [("lines", self.unwritten.len())].into_iter().chain(remotes).collect()
    }

    /// Returns the end of the file, and what waits, for a snapshot.
    pub(super) fn stored(&self) -> (Place, Waiting) {
        let of = |queue: &Option<Queue>| {
            let findings = queue.iter().flat_map(|queue| queue.findings.iter().cloned());
            findings.collect::<Vec<_>>()
        };
        let [forward, webhook] = &self.remotes;
        let lines = self.unwritten.iter().cloned().collect();
        let (remotes, taken) = ([of(forward), of(webhook)], self.taken.clone());
        (self.lines.place(), Waiting { lines, remotes, taken })
    }

    /// Adds the findings that waited at a snapshot. Findings for an output that is no longer used are dropped.
    pub(super) fn restore(&mut self, waiting: Waiting) {
        let Waiting { lines, remotes, taken } = waiting;
        self.taken = taken;
        self.unwritten.extend(lines);
        for (remote, findings) in Remote::ALL.into_iter().zip(remotes) {
            if let Some(queue) = self.queue(remote) {
                queue.findings.extend(findings);
            }
        }
    }

    /// Notes that the journal has been read. A line in the file that did not come again yet was written, although a
    /// kill kept that out of the journal.
    pub(super) fn started(&mut self) {
        let written = self.lines.take_known().into_iter();
        self.taken.extend(written.map(|id| (LINES, id)));
    }
}
