//! The report of one call by its worker.

use serde::{Deserialize, Serialize};
use unstuck_core::{Digest, LoopId, Tool};

use crate::verdict::Outcome;

/// An agent of a swarm, identified by a digest of its name.
///
/// ```
/// use unstuck_swarm::Worker;
///
/// assert_eq!(Worker::named("w1"), Worker::named("w1"));
/// assert_ne!(Worker::named("w1"), Worker::named("w2"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Worker(Digest);

impl Worker {
    /// Returns the worker of this name, which must be unique in the swarm. O(n).
    pub fn named(name: &str) -> Self {
        Self(Digest::of(name.as_bytes()))
    }

    /// Returns the worker with a number that the host chooses.
    pub const fn new(number: u64) -> Self {
        Self(Digest::new(0).mix(Digest::new(number)))
    }

    /// Returns the digest of its name.
    pub const fn digest(self) -> Digest {
        self.0
    }
}

/// A digest of a call's result, and whether the call failed.
///
/// ```
/// use unstuck_swarm::{CallResult, Digest, Observation, Tool, Worker};
///
/// let call = Observation::new(Worker::new(1), Tool::named("bash"), Digest::of(b"make all"));
/// let digest = Digest::of(b"no rule");
/// assert_eq!(call.failed(digest).result, Some(CallResult { digest, failed: true }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallResult {
    /// The digest of the result.
    pub digest: Digest,
    /// `true` if the call failed.
    pub failed: bool,
}

/// A call together with its result, under which calls are counted. So workers that get different results are
/// not counted together.
///
/// ```
/// use unstuck_swarm::{Digest, Observation, Tool, Worker};
///
/// let call = |worker| Observation::new(Worker::new(worker), Tool::named("ls"), Digest::of(b"/"));
/// assert_eq!(call(1).key(), call(2).key());
/// assert_ne!(call(1).ok(Digest::of(b"a")).key(), call(1).ok(Digest::of(b"b")).key());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key(Digest);

impl Key {
    /// Creates a key from the digest that [`Key::digest`] returned.
    pub const fn new(digest: Digest) -> Self {
        Self(digest)
    }

    /// Returns the digest of the call and its result.
    pub const fn digest(self) -> Digest {
        self.0
    }

    /// Returns the id of the loop that calls under this key are, or would be. It is the same in every run.
    pub const fn loop_id(self) -> LoopId {
        LoopId::from_bits(self.0.bits())
    }
}

/// The report of one call by its worker.
///
/// ```
/// use unstuck_swarm::{Digest, Observation, Tool, Worker};
///
/// let worker = Worker::named("w1");
/// let call = Observation::new(worker, Tool::named("bash"), Digest::of(b"make all"));
/// let failed = call.failed(Digest::of(b"no rule to make target"));
/// assert_ne!(call.key(), failed.key());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The worker that made the call.
    pub worker: Worker,
    /// The tool that was called.
    pub tool: Tool,
    /// A digest of the tool and the arguments together. Equal calls of all workers have the same.
    pub call: Digest,
    /// The result, if it is known.
    pub result: Option<CallResult>,
}

impl Observation {
    /// Creates an observation of a call with an unknown result.
    pub const fn new(worker: Worker, tool: Tool, call: Digest) -> Self {
        Self { worker, tool, call, result: None }
    }

    /// Adds the digest of a result. The call worked.
    #[must_use]
    pub const fn ok(mut self, result: Digest) -> Self {
        self.result = Some(CallResult { digest: result, failed: false });
        self
    }

    /// Adds the digest of an error. The call failed, so it equals no call that worked.
    #[must_use]
    pub const fn failed(mut self, result: Digest) -> Self {
        self.result = Some(CallResult { digest: result, failed: true });
        self
    }

    /// Returns the outcome of the call.
    pub const fn outcome(&self) -> Outcome {
        Outcome::of(self.result)
    }

    /// Returns the key under which the call is counted.
    pub const fn key(&self) -> Key {
        Key(match self.result {
            None => self.call.mix(Digest::new(0)),
            Some(CallResult { digest, failed: false }) => self.call.mix(digest.mix(Digest::new(1))),
            Some(CallResult { digest, failed: true }) => self.call.mix(digest.mix(Digest::new(2))),
        })
    }
}
