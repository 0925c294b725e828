//! The outputs of findings: lines, OTLP and a webhook, each with a bounded queue.

use std::collections::VecDeque;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::finding::Finding;
use super::lines::{Lines, NotWritten};
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
}

/// The findings that wait, as a snapshot stores them.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Waiting {
    lines: Vec<Finding>,
    remotes: [Vec<Finding>; 2],
}

impl Outputs {
    pub(super) fn new(lines: Lines, remotes: &[Remote]) -> Self {
        let queue = |remote| remotes.contains(&remote).then(Queue::default);
        Self {
            lines,
            unwritten: VecDeque::new(),
            is_failing: false,
            remotes: Remote::ALL.map(queue),
        }
    }

    /// Adds a finding to each output. Returns the oldest findings that had to be dropped.
    pub(super) fn put(&mut self, finding: &Finding) -> Vec<(Remote, Finding)> {
        self.unwritten.push_back(finding.clone());
        let mut dropped = Vec::new();
        for remote in Remote::ALL {
            let Some(queue) = self.queue(remote) else { continue };
            queue.findings.push_back(finding.clone());
            if queue.findings.len() > QUEUE_MAX {
                dropped.extend(queue.findings.pop_front().map(|oldest| (remote, oldest)));
            }
            queue.notify.notify_one();
        }
        dropped
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

    /// Removes a finding that an output has taken.
    pub(super) fn done(&mut self, output: u8, id: &str) {
        let remote = Remote::ALL.into_iter().find(|remote| remote.number() == output);
        let findings = match remote {
            None => Some(&mut self.unwritten),
            Some(remote) => self.queue(remote).map(|queue| &mut queue.findings),
        };
        if let Some(findings) = findings
            && let Some(at) = findings.iter().position(|finding| finding.id == id)
        {
            findings.remove(at);
        }
    }

    /// Returns the number of queued findings of each output.
    pub(super) fn queued(&self) -> Vec<(&'static str, usize)> {
        let remotes = Remote::ALL.iter().zip(&self.remotes);
        let remotes = remotes
            .filter_map(|(remote, queue)| Some((remote.name(), queue.as_ref()?.findings.len())));
        [("lines", self.unwritten.len())].into_iter().chain(remotes).collect()
    }

    /// Returns the length of the file, and what waits, for a snapshot.
    pub(super) fn stored(&self) -> (u64, Waiting) {
        let of = |queue: &Option<Queue>| {
            let findings = queue.iter().flat_map(|queue| queue.findings.iter().cloned());
            findings.collect::<Vec<_>>()
        };
        let [forward, webhook] = &self.remotes;
        let lines = self.unwritten.iter().cloned().collect();
        (self.lines.length(), Waiting { lines, remotes: [of(forward), of(webhook)] })
    }

    /// Adds the findings that waited at a snapshot. Findings for an output that is no longer used are dropped.
    pub(super) fn restore(&mut self, waiting: Waiting) {
        let Waiting { lines, remotes } = waiting;
        self.unwritten.extend(lines);
        for (remote, findings) in Remote::ALL.into_iter().zip(remotes) {
            if let Some(queue) = self.queue(remote) {
                queue.findings.extend(findings);
            }
        }
    }

    /// Notes that the journal has been read, so that no finding comes again.
    pub(super) fn started(&mut self) {
        self.lines.forget();
    }
}
