//! The state of a store, for blocking and for asynchronous workers: requests, known loops and counters.

use core::time::Duration;
use std::boxed::Box;
use std::string::ToString as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::vec::Vec;

use ::redis::{Cmd, Value};
use unstuck_core::Digest;

use crate::observation::Observation;
use crate::redis::breaker::Breaker;
use crate::redis::error::RedisError;
use crate::redis::health::Health;
use crate::redis::keys::Keys;
use crate::redis::loop_cache::LoopCache;
use crate::redis::request::{self, PendingCall, Remedy, Reply};
use crate::redis::settings::Settings;
use crate::verdict::Verdict;

/// The number of misses in a row after which no worker waits.
const MISSES_MAX: u32 = 3;
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// The function that delivers the verdict to a waiting worker, if there is one. If it is dropped, there is no
/// verdict.
type Waiting = Option<Box<dyn FnOnce(Verdict) + Send>>;

/// A call on its way to the server.
pub(super) struct Request {
    pub(super) cmd: Cmd,
    pub(super) pending: PendingCall,
    pub(super) waiting: Waiting,
    pub(super) made: Instant,
}

/// The state of a store.
pub(super) struct StoreState {
    pub(super) settings: Settings,
    keys: Keys,
    changing: Mutex<Changing>,
}

/// The part of the state that workers and the thread of the store change.
pub(super) struct Changing {
    /// The number of the latest request. Numbers repeat only after a long time.
    number: u32,
    loops: LoopCache,
    breaker: Breaker,
    pub(super) health: Health,
    /// Set when the store is dropped, so that nothing is sent again later.
    pub(super) has_ended: bool,
}

impl Changing {
    fn next_number(&mut self) -> u32 {
        self.number = self.number.wrapping_add(1);
        self.number
    }
}

impl StoreState {
    pub(super) fn new(settings: Settings) -> Self {
        let keys = Keys::new(&settings.swarm, &settings.secret);
        let changing = Mutex::new(Changing {
            number: 0,
            loops: LoopCache::new(Duration::from_millis(settings.half())),
            breaker: Breaker::new(MISSES_MAX, PAUSE_MIN, PAUSE_MAX),
            health: Health::default(),
            has_ended: false,
        });
        Self { settings, keys, changing }
    }

    /// Locks the part that changes. It stays usable after a thread panicked.
    pub(super) fn lock(&self) -> MutexGuard<'_, Changing> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the request for a call, or `None` if the rule does not count it.
    pub(super) fn request(&self, observation: &Observation, tool: &str) -> Option<Request> {
        let mut pending = PendingCall::of(observation, &self.settings.rule, &self.keys)?;
        pending.number = self.lock().next_number();
        let cmd = request::record(&pending, observation, tool, &self.settings, &self.keys);
        Some(Request { cmd, pending, waiting: None, made: Instant::now() })
    }

    /// Returns whether a worker may wait for a reply.
    pub(super) fn may_wait(&self) -> bool {
        self.lock().breaker.allows(Instant::now())
    }

    /// Returns the verdict for a worker that waited: the reply, or else the known verdict.
    pub(super) fn after_wait(&self, pending: &PendingCall, reply: Option<Verdict>) -> Verdict {
        let Some(verdict) = reply else {
            self.lock().breaker.missed(Instant::now());
            return self.known_verdict(pending);
        };
        self.lock().breaker.answered();
        verdict
    }

    /// Returns the known verdict on the loop of this call.
    pub(super) fn known_verdict(&self, pending: &PendingCall) -> Verdict {
        self.lock().loops.of_loop(pending.call, pending.id, Instant::now())
    }

    /// Returns the known verdict on calls with this digest.
    pub(super) fn look(&self, call: Digest) -> Verdict {
        self.lock().loops.of(call, Instant::now())
    }

    /// Notes that `calls` calls were not counted, for this reason.
    pub(super) fn fail(&self, calls: usize, error: &RedisError) {
        let health = &mut self.lock().health;
        health.failed += calls as u64;
        health.last_error = Some(error.to_string());
    }

    pub(super) fn health(&self) -> Health {
        let changing = self.lock();
        Health { paused: changing.breaker.is_open(), ..changing.health.clone() }
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
                    self.fail(1, &error);
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
        let mut changing = self.lock();
        changing.health.answered += 1;
        changing.loops.learn(pending.call, pending.id, verdict, Instant::now());
        drop(changing);
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
            state.request(&observation, "bash").expect("it counts")
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
