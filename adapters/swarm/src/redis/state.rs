//! The state of a store, for blocking and for asynchronous workers: requests, known loops and counters.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;
use std::boxed::Box;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::vec::Vec;

use ::redis::{Cmd, Value};
use unstuck_core::Digest;

use crate::observation::Observation;
use crate::redis::breaker::Breaker;
use crate::redis::error::RedisError;
use crate::redis::health::{Health, Tally, add};
use crate::redis::keys::Keys;
use crate::redis::loop_cache::LoopCache;
use crate::redis::request::{self, PendingCall, Remedy, Reply};
use crate::redis::settings::Settings;
use crate::verdict::Verdict;

/// The maximum number of queued calls. Further calls are dropped.
pub(super) const QUEUE_MAX: usize = 4096;

/// The maximum number of calls in a pipeline.
pub(super) const BATCH_MAX: usize = 256;

/// The number of misses in a row after which no worker waits.
const MISSES_MAX: u32 = 3;
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// The longest time for which a call that every node puts off is sent again: longer than a cluster with its default
/// time-out of 15 s takes to replace a node.
pub(super) const HOLD_MAX: Duration = Duration::from_secs(30);

/// The time until calls that were put off are sent again. It doubles each time.
pub(super) const HOLD_PAUSE_MIN: Duration = Duration::from_millis(50);
pub(super) const HOLD_PAUSE_MAX: Duration = Duration::from_secs(1);

/// The time until a failed connection is tried again.
const RETRY_MIN: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(2);

/// The function that delivers the verdict to a waiting worker, if there is one. If it is dropped, there is no
/// verdict.
pub(super) type Waiting = Option<Box<dyn FnOnce(Verdict) + Send>>;

/// A call on its way to the server.
pub(super) struct Request {
    pub(super) cmd: Cmd,
    pub(super) pending: PendingCall,
    waiting: Waiting,
    made: Instant,
}

impl Request {
    pub(super) fn new(cmd: Cmd, pending: PendingCall, waiting: Waiting) -> Self {
        Self { cmd, pending, waiting, made: Instant::now() }
    }

    /// Returns whether the call is too old to be sent again at `now`.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.made) >= HOLD_MAX
    }

    /// Returns whether a worker may wait for the reply.
    pub(super) const fn is_awaited(&self) -> bool {
        self.waiting.is_some()
    }

    /// Lets the worker go on without a reply.
    pub(super) fn release(&mut self) {
        self.waiting = None;
    }
}

/// The state of a store.
pub(super) struct StoreState {
    pub(super) settings: Settings,
    pub(super) tally: Tally,
    keys: Keys,
    /// The number of the next request. Numbers repeat only after a long time.
    numbers: AtomicU32,
    loops: Mutex<LoopCache>,
    breaker: Mutex<Breaker>,
    /// Set when the store is dropped.
    ended: AtomicBool,
}

/// Locks a mutex. Its counts stay usable after a thread panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StoreState {
    pub(super) fn new(settings: Settings) -> Self {
        let keys = Keys::new(&settings.swarm, &settings.secret);
        let loops = LoopCache::new(Duration::from_millis(settings.half()));
        let breaker = Breaker::new(MISSES_MAX, PAUSE_MIN, PAUSE_MAX);
        let (loops, breaker) = (Mutex::new(loops), Mutex::new(breaker));
        let (numbers, ended) = (AtomicU32::new(1), AtomicBool::new(false));
        Self { settings, tally: Tally::default(), keys, numbers, loops, breaker, ended }
    }

    /// Notes that the store is dropped, so that nothing is sent again later.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Returns a breaker for new connections.
    pub(super) const fn retries() -> Breaker {
        Breaker::new(1, RETRY_MIN, RETRY_MAX)
    }

    /// Returns the command for a call, or `None` if the rule does not count it.
    pub(super) fn request(
        &self,
        observation: &Observation,
        tool: &str,
    ) -> Option<(Cmd, PendingCall)> {
        let mut pending = PendingCall::of(observation, &self.settings.rule, &self.keys)?;
        pending.number = self.numbers.fetch_add(1, Ordering::Relaxed);
        Some((request::record(&pending, observation, tool, &self.settings, &self.keys), pending))
    }

    /// Returns whether a worker may wait for a reply.
    pub(super) fn may_wait(&self) -> bool {
        lock(&self.breaker).allows(Instant::now())
    }

    /// Returns the verdict for a worker that waited: the reply, or else the known verdict.
    pub(super) fn after_wait(&self, pending: &PendingCall, reply: Option<Verdict>) -> Verdict {
        if let Some(verdict) = reply {
            lock(&self.breaker).answered();
            verdict
        } else {
            lock(&self.breaker).missed(Instant::now());
            self.known_verdict(pending)
        }
    }

    /// Returns the known verdict on the loop of this call.
    pub(super) fn known_verdict(&self, pending: &PendingCall) -> Verdict {
        lock(&self.loops).of_loop(pending.call, pending.id, Instant::now())
    }

    /// Returns the known verdict on calls with this digest.
    pub(super) fn look(&self, call: Digest) -> Verdict {
        lock(&self.loops).of(call, Instant::now())
    }

    pub(super) fn health(&self) -> Health {
        self.tally.health(lock(&self.breaker).is_open())
    }

    /// Delivers the replies to a batch. Returns the requests that can be sent once more, and the remedy before.
    ///
    /// Each reply has the number of its request. After an invalid reply the others cannot be matched to requests,
    /// and are dropped.
    pub(super) fn settle(
        &self,
        batch: Vec<Request>,
        replies: &[Value],
        server: &str,
    ) -> (Vec<Request>, Option<Remedy>) {
        let nonsense = RedisError::nonsense(server);
        let (mut again, mut remedy, mut is_lost) = (Vec::new(), None, false);
        for (request, reply) in batch.into_iter().zip(replies) {
            let reply = match Reply::of(reply, server) {
                Ok(Reply::Counted { ago, .. }) if ago != u64::from(request.pending.number) => {
                    Err(nonsense.clone())
                }
                _ if is_lost => Err(nonsense.clone()),
                reply => reply,
            };
            match reply {
                Ok(Reply::Counted { calls, workers, .. }) => self.deliver(request, calls, workers),
                Ok(Reply::Again(first)) => {
                    again.push(request);
                    remedy = remedy.or(Some(first));
                }
                Err(error) => {
                    is_lost |= error == nonsense;
                    self.tally.fail(1, error);
                }
            }
        }
        if is_lost {
            remedy = Some(Remedy::Leave(nonsense));
        }
        (again, remedy)
    }

    fn deliver(&self, request: Request, calls: u32, workers: u32) {
        let Request { pending, waiting, .. } = request;
        let verdict = pending.verdict(calls, workers, &self.settings.rule);
        add(&self.tally.answered, 1);
        lock(&self.loops).learn(pending.call, pending.id, verdict, Instant::now());
        if let Some(send) = waiting {
            send(verdict);
        }
    }
}

#[cfg(test)]
mod tests {
    use unstuck_core::Tool;

    use super::*;
    use crate::observation::Worker;

    #[test]
    fn replies_after_an_invalid_one_are_dropped() {
        let settings = Settings::parse("redis://h/?swarm=a", b"of this swarm alone")
            .expect("it is an address");
        let state = StoreState::new(settings);
        let tool = Tool::named("bash");
        let calls = [1, 2, 3].map(Digest::new);
        let request = |call| {
            let observation = Observation::new(Worker::new(1), tool, call);
            let (cmd, pending) = state.request(&observation, "bash").expect("it counts");
            Request::new(cmd, pending, None)
        };
        let hot = |number| Value::Array([50, 9, number].map(Value::Int).into());
        let leave = Remedy::Leave(RedisError::nonsense("h"));
        let replies = [hot(1), Value::Okay, hot(3)];
        let (again, remedy) = state.settle(calls.map(request).into(), &replies, "h");
        assert!(again.is_empty());
        assert_eq!(remedy, Some(leave.clone()));
        assert_eq!(calls.map(|call| state.look(call).rung > 0), [true, false, false]);
        assert_eq!((state.health().answered, state.health().failed), (1, 2));

        // These are the requests 4 to 6. One extra reply comes before theirs.
        let replies = [hot(3), hot(4), hot(5)];
        let (again, remedy) =
            state.settle([4, 5, 6].map(Digest::new).map(request).into(), &replies, "h");
        assert_eq!((again.len(), remedy), (0, Some(leave)));
        assert!([4, 5, 6].into_iter().all(|call| state.look(Digest::new(call)).rung == 0));
    }
}
