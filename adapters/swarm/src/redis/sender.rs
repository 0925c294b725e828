//! The thread that sends the calls of all workers to the server.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Instant;
use std::vec::Vec;

use crate::redis::breaker::Breaker;
use crate::redis::error::RedisError;
use crate::redis::health::add;
use crate::redis::link::Link;
use crate::redis::state::{BATCH_MAX, PATIENCE, Request, StoreState, nonsense};

/// Sends the queued calls to the server in one pipeline, and delivers its replies.
///
/// If it is unknown whether the server counted a call, the call is not sent again, because a call that counts
/// twice may accuse a worker.
pub(super) struct Sender {
    state: Arc<StoreState>,
    link: Link,
    retries: Breaker,
}

impl Sender {
    pub(super) fn new(state: Arc<StoreState>) -> Self {
        let link = Link::new(&state.settings.server, PATIENCE);
        Self { state, link, retries: StoreState::retries() }
    }

    /// Works until the queue is closed and empty.
    pub(super) fn work(mut self, queue: &Receiver<Request>) {
        while let Ok(first) = queue.recv() {
            let mut batch = Vec::from([first]);
            batch.extend(queue.try_iter().take(BATCH_MAX - 1));
            self.send(batch);
        }
    }

    fn send(&mut self, batch: Vec<Request>) {
        if !self.link.is_open() && !self.connect(batch.len()) {
            return;
        }
        add(&self.state.tally.sent, batch.len());
        let mut rest = self.exchange(batch);
        // A cluster may name another node, and that node may lack the functions.
        for _ in 0..2 {
            if rest.is_empty() {
                return;
            }
            rest = self.exchange(rest);
        }
        if !rest.is_empty() {
            self.state.tally.fail(rest.len(), nonsense(&self.link.server()));
        }
    }

    /// Connects, and returns whether there is a connection. Without one these calls have failed.
    fn connect(&mut self, calls: usize) -> bool {
        if !self.retries.allows(Instant::now()) {
            add(&self.state.tally.failed, calls);
            return false;
        }
        match self.link.connect() {
            Ok(()) => self.retries.answered(),
            Err(error) => {
                self.retries.missed(Instant::now());
                self.state.tally.fail(calls, error);
            }
        }
        self.link.is_open()
    }

    /// Sends a batch and delivers the replies. Returns the requests that can be sent once more.
    fn exchange(&mut self, batch: Vec<Request>) -> Vec<Request> {
        let replies = match self.link.ask(batch.iter().map(|request| &request.cmd)) {
            Ok(replies) => replies,
            Err(error) => return self.lose(&batch, error),
        };
        let (again, remedy) = self.state.settle(batch, &replies, &self.link.server());
        match remedy.map(|remedy| self.link.heal(remedy)) {
            Some(Err(error)) => self.lose(&again, error),
            _ => again,
        }
    }

    fn lose(&self, batch: &[Request], error: RedisError) -> Vec<Request> {
        self.state.tally.fail(batch.len(), error);
        Vec::new()
    }
}
