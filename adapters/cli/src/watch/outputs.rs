//! The outputs of findings: lines, OTLP and a webhook, each with a bounded queue.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::finding::Finding;
use super::lines::{Lines, NotWritten, Place};
use crate::output::{Closed, complain};

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
