//! What boards have in common, whether they block or not: what is asked, known, waited for and counted.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::boxed::Box;
use std::string::String;
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
use crate::redis::known::Known;
use crate::redis::request::{self, Remedy, Reply, Told};
use crate::redis::settings::Settings;
use crate::verdict::Verdict;

/// How many calls may wait to be told; of more the rest is dropped.
pub(super) const QUEUE_MAX: usize = 4096;

/// How many calls are told in one go.
pub(super) const BATCH_MAX: usize = 256;

/// How long a connection may take to come about, and a reply to come. No worker waits so long.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// After so many misses in a row nobody waits.
const MISSES_MAX: u32 = 3;
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// How soon a connection is tried again that did not come about.
const RETRY_MIN: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(2);

/// Whom to tell of the verdict, if anybody waits for it. One that is dropped untold says that there is none.
pub(super) type Waiting = Option<Box<dyn FnOnce(Verdict) + Send>>;

/// A call on its way to the server.
pub(super) struct Request {
    pub(super) cmd: Cmd,
    pub(super) told: Told,
    pub(super) waiting: Waiting,
}

/// What boards have in common.
pub(super) struct Desk {
    pub(super) settings: Settings,
    pub(super) tally: Tally,
    keys: Keys,
    /// The number of the next request. That of one long ago comes again, and harms nobody.
    numbers: AtomicU32,
    known: Mutex<Known>,
    breaker: Mutex<Breaker>,
}

/// Whoever panicked while it held the lock left counts behind, which are good enough.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    pub(super) fn new(settings: Settings) -> Self {
        let keys = Keys::new(&settings.swarm, &settings.secret);
        let known = Known::new(Duration::from_millis(settings.half()));
        let breaker = Breaker::new(MISSES_MAX, PAUSE_MIN, PAUSE_MAX);
        let (known, breaker) = (Mutex::new(known), Mutex::new(breaker));
        Self { settings, tally: Tally::default(), keys, numbers: AtomicU32::new(1), known, breaker }
    }

    /// When to try again to connect.
    pub(super) const fn retries() -> Breaker {
        Breaker::new(1, RETRY_MIN, RETRY_MAX)
    }

    /// The call and how to tell it; nothing if the rule counts no such call.
    pub(super) fn request(&self, observation: &Observation, tool: &str) -> Option<(Cmd, Told)> {
        let mut told = Told::of(observation, &self.settings.rule, &self.keys)?;
        told.number = self.numbers.fetch_add(1, Ordering::Relaxed);
        Some((request::record(&told, observation, tool, &self.settings, &self.keys), told))
    }

    /// Whether a worker may wait for an answer.
    pub(super) fn lets_wait(&self) -> bool {
        lock(&self.breaker).lets(Instant::now())
    }

    /// What a worker who waited takes with it: the answer, or else what is known already.
    pub(super) fn waited(&self, told: &Told, answer: Option<Verdict>) -> Verdict {
        if let Some(verdict) = answer {
            lock(&self.breaker).answered();
            verdict
        } else {
            lock(&self.breaker).missed(Instant::now());
            self.known_of(told)
        }
    }

    /// What is known of the loop that this call belongs to.
    pub(super) fn known_of(&self, told: &Told) -> Verdict {
        lock(&self.known).of_loop(told.call, told.id, Instant::now())
    }

    /// What is known of calls with this digest.
    pub(super) fn look(&self, call: Digest) -> Verdict {
        lock(&self.known).of(call, Instant::now())
    }

    pub(super) fn health(&self) -> Health {
        self.tally.health(lock(&self.breaker).is_open())
    }

    /// Hands out the replies to a batch. Gives back what can be sent once more, and what to do before.
    ///
    /// Each has the number of its request. After one that is nonsense nobody knows what the others belong
    /// to, and nobody is told of them.
    pub(super) fn settle(
        &self,
        batch: Vec<Request>,
        replies: &[Value],
        server: &str,
    ) -> (Vec<Request>, Option<Remedy>) {
        let (mut again, mut remedy, mut is_lost) = (Vec::new(), None, false);
        for (request, reply) in batch.into_iter().zip(replies) {
            let reply = match Reply::of(reply) {
                Reply::Counted { ago, .. } if ago != u64::from(request.told.number) => {
                    Reply::Nonsense
                }
                _ if is_lost => Reply::Nonsense,
                reply => reply,
            };
            is_lost = reply == Reply::Nonsense;
            remedy = remedy.or_else(|| reply.remedy());
            match reply {
                Reply::Counted { calls, workers, .. } => self.answer(request, calls, workers),
                Reply::Again(_) => again.push(request),
                Reply::Refused(why) => self.tally.fail(1, refused(server, why)),
                Reply::Nonsense => self.tally.fail(1, nonsense(server)),
            }
        }
        (again, remedy)
    }

    fn answer(&self, request: Request, calls: u32, workers: u32) {
        let Request { told, waiting, .. } = request;
        let verdict = told.verdict(calls, workers, &self.settings.rule);
        add(&self.tally.answered, 1);
        lock(&self.known).learn(told.call, told.id, verdict, Instant::now());
        if let Some(tell) = waiting {
            tell(verdict);
        }
    }
}

pub(super) fn refused(server: &str, why: String) -> RedisError {
    RedisError::Refused { server: server.into(), why }
}

pub(super) fn nonsense(server: &str) -> RedisError {
    RedisError::Nonsense { server: server.into() }
}

#[cfg(test)]
mod tests {
    use unstuck_core::Tool;

    use super::*;
    use crate::observation::Worker;

    #[test]
    fn what_comes_after_nonsense_accuses_nobody() {
        let settings = Settings::parse("redis://h/?swarm=a", b"s").expect("it is an address");
        let desk = Desk::new(settings);
        let tool = Tool::named("bash");
        let calls = [1, 2, 3].map(Digest::new);
        let request = |call| {
            let observation = Observation::new(Worker::new(1), tool, call);
            let (cmd, told) = desk.request(&observation, "bash").expect("it counts");
            Request { cmd, told, waiting: None }
        };
        let hot = |number| Value::Array([50, 9, number].map(Value::Int).into());
        let replies = [hot(1), Value::Okay, hot(3)];
        let (again, remedy) = desk.settle(calls.map(request).into(), &replies, "h");
        assert!(again.is_empty());
        assert_eq!(remedy, Some(Remedy::Leave));
        assert_eq!(calls.map(|call| desk.look(call).rung > 0), [true, false, false]);
        assert_eq!((desk.health().answered, desk.health().failed), (1, 2));

        // The requests are the fourth to the sixth now: one reply too many came before theirs.
        let replies = [hot(3), hot(4), hot(5)];
        let (again, remedy) =
            desk.settle([4, 5, 6].map(Digest::new).map(request).into(), &replies, "h");
        assert_eq!((again.len(), remedy), (0, Some(Remedy::Leave)));
        assert!([4, 5, 6].into_iter().all(|call| desk.look(Digest::new(call)).rung == 0));
    }
}
