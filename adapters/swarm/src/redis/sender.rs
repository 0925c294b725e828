//! The thread that sends the calls of all workers to the server.

use core::time::Duration;
use std::boxed::Box;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Instant;
use std::vec::Vec;

use crate::redis::breaker::Breaker;
use crate::redis::error::RedisError;
use crate::redis::link::Link;
use crate::redis::state::{Request, StoreState};

/// The maximum number of calls in a pipeline.
const BATCH_MAX: usize = 256;

/// The longest time for which a call that every node puts off is sent again: longer than a cluster with its default
/// time-out of 15 s takes to replace a node.
const HOLD_MAX: Duration = Duration::from_secs(30);

/// The time until calls that were put off are sent again. It doubles each time.
const HOLD_PAUSE_MIN: Duration = Duration::from_millis(50);
const HOLD_PAUSE_MAX: Duration = Duration::from_secs(1);

/// The time until a failed connection is tried again.
const RETRY_MIN: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(2);

/// Sends the queued calls to the server in one pipeline, and delivers its replies.
///
/// If it is unknown whether the server counted a call, the call is not sent again, because a call that counts
/// twice may accuse a worker. Calls that a server puts off were not counted. They are sent again, and their workers
/// do not wait for them.
pub(super) struct Sender {
    state: Arc<StoreState>,
    link: Link,
    retries: Breaker,
}

impl Sender {
    pub(super) fn new(state: Arc<StoreState>) -> Self {
        let link = Link::new(&state.settings.server);
        Self { state, link, retries: Breaker::new(1, RETRY_MIN, RETRY_MAX) }
    }

    /// Works until the queue is closed and empty.
    pub(super) fn work(mut self, queue: &Receiver<Box<Request>>) {
        while let Ok(first) = queue.recv() {
            let mut batch = Vec::from([*first]);
            batch.extend(queue.try_iter().take(BATCH_MAX - 1).map(|request| *request));
            self.send(batch);
        }
    }

    fn send(&mut self, batch: Vec<Request>) {
        if !self.link.is_open() && !self.connect(batch.len()) {
            return;
        }
        self.state.lock().health.sent += batch.len() as u64;
        let (mut rest, mut pause) = (batch, HOLD_PAUSE_MIN);
        loop {
            // A cluster may name another node, and that node may lack the functions.
            for _ in 0..3 {
                rest = self.exchange(rest);
                if rest.is_empty() {
                    return;
                }
            }
            self.hold(&mut rest);
            if rest.is_empty() {
                return;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(HOLD_PAUSE_MAX);
        }
    }

    /// Keeps calls that no node counts at present, and lets their workers go on. Calls that are too old have failed.
    fn hold(&self, calls: &mut Vec<Request>) {
        let mut state = self.state.lock();
        // Counted first, so that a worker that goes on finds itself counted.
        let waiting = calls.iter().filter(|call| call.waiting.is_some());
        state.health.late += waiting.count() as u64;
        let has_ended = state.has_ended;
        drop(state);
        for call in calls.iter_mut() {
            call.waiting = None;
        }
        let held = calls.len();
        calls.retain(|call| !has_ended && call.made.elapsed() < HOLD_MAX);
        if calls.len() < held {
            self.state.fail(held - calls.len(), &self.link.reason());
        }
    }

    /// Connects, and returns whether there is a connection. Without one these calls have failed.
    fn connect(&mut self, calls: usize) -> bool {
        if !self.retries.allows(Instant::now()) {
            self.state.lock().health.failed += calls as u64;
            return false;
        }
        match self.link.connect() {
            Ok(_) => self.retries.answered(),
            Err(error) => {
                self.retries.missed(Instant::now());
                self.state.fail(calls, &error);
            }
        }
        self.link.is_open()
    }

    /// Sends a batch and delivers the replies. Returns the requests that can be sent once more.
    fn exchange(&mut self, batch: Vec<Request>) -> Vec<Request> {
        let replies = match self.link.ask(batch.iter().map(|request| &request.cmd)) {
            Ok(replies) => replies,
            Err(error) => return self.lose(&batch, &error),
        };
        let (again, remedy) = self.state.settle(batch, &replies, &self.link.server());
        let Some(remedy) = remedy else {
            self.link.trust();
            return again;
        };
        let healed = self.link.heal(remedy);
        // A worker that goes on soon finds out why.
        if let Some(reason) = &self.link.reason {
            self.state.fail(0, reason);
        }
        match healed {
            Ok(()) => again,
            Err(error) => self.lose(&again, &error),
        }
    }

    fn lose(&self, batch: &[Request], error: &RedisError) -> Vec<Request> {
        self.state.fail(batch.len(), error);
        Vec::new()
    }
}
