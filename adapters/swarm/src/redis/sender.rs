//! The thread that tells a server what workers told it.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Instant;
use std::vec::Vec;

use crate::redis::breaker::Breaker;
use crate::redis::desk::{BATCH_MAX, Desk, PATIENCE, Request, nonsense};
use crate::redis::error::RedisError;
use crate::redis::health::add;
use crate::redis::link::Link;

/// Tells a server what has gathered, as one pipeline, and hands out its replies.
///
/// A call is told once: where nobody knows whether the server counted it, it is not told again, since
/// a call that is counted twice may accuse somebody.
pub(super) struct Clerk {
    desk: Arc<Desk>,
    link: Link,
    retries: Breaker,
}

impl Clerk {
    pub(super) fn new(desk: Arc<Desk>) -> Self {
        let link = Link::new(desk.settings.nodes.clone(), PATIENCE);
        Self { desk, link, retries: Desk::retries() }
    }

    /// Works until nobody is left who may tell it something, and all is told.
    pub(super) fn work(mut self, queue: &Receiver<Request>) {
        while let Ok(first) = queue.recv() {
            let mut batch = Vec::from([first]);
            batch.extend(queue.try_iter().take(BATCH_MAX - 1));
            self.tell(batch);
        }
    }

    fn tell(&mut self, batch: Vec<Request>) {
        if !self.link.is_open() && !self.connect(batch.len()) {
            return;
        }
        add(&self.desk.tally.sent, batch.len());
        let mut rest = self.exchange(batch);
        // A cluster may name another node, and that may lack the functions.
        for _ in 0..2 {
            if rest.is_empty() {
                return;
            }
            rest = self.exchange(rest);
        }
        if !rest.is_empty() {
            self.desk.tally.fail(rest.len(), nonsense(&self.link.server()));
        }
    }

    /// Whether there is a connection. The calls of those who wait for one have failed.
    fn connect(&mut self, calls: usize) -> bool {
        if !self.retries.lets(Instant::now()) {
            add(&self.desk.tally.failed, calls);
            return false;
        }
        match self.link.connect() {
            Ok(()) => self.retries.answered(),
            Err(error) => {
                self.retries.missed(Instant::now());
                self.desk.tally.fail(calls, error);
            }
        }
        self.link.is_open()
    }

    /// Sends a batch and hands out the replies. Gives back what can be sent once more.
    fn exchange(&mut self, batch: Vec<Request>) -> Vec<Request> {
        let replies = match self.link.ask(batch.iter().map(|request| &request.cmd)) {
            Ok(replies) => replies,
            Err(error) => return self.lose(&batch, error),
        };
        let (again, remedy) = self.desk.settle(batch, &replies, &self.link.server());
        match remedy.map(|remedy| self.link.heal(remedy)) {
            Some(Err(error)) => self.lose(&again, error),
            _ => again,
        }
    }

    fn lose(&self, batch: &[Request], error: RedisError) -> Vec<Request> {
        self.desk.tally.fail(batch.len(), error);
        Vec::new()
    }
}
