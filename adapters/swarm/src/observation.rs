//! What a worker tells of one call.

use serde::{Deserialize, Serialize};
use unstuck_core::{Digest, LoopId, Tool};

use crate::verdict::Outcome;

/// One of the agents of a swarm, by what stands for its name.
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
    /// The worker of this name, which it alone has in its swarm. O(n).
    pub fn named(name: &str) -> Self {
        Self(Digest::of(name.as_bytes()))
    }

    /// The worker with a number of the host's own.
    pub const fn new(number: u64) -> Self {
        Self(Digest::new(0).mix(Digest::new(number)))
    }

    /// The digest of its name.
    pub const fn digest(self) -> Digest {
        self.0
    }
}

/// What came back from a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The digest of the result.
    pub digest: Digest,
    /// Whether the call failed.
    pub failed: bool,
}

/// What is counted: a call together with its answer, so that workers that get different answers are not
/// counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key(Digest);

impl Key {
    /// The key with these bits, as [`Key::digest`] gave them.
    pub const fn new(digest: Digest) -> Self {
        Self(digest)
    }

    /// Returns the digest of the call and its answer.
    pub const fn digest(self) -> Digest {
        self.0
    }

    /// The id of the loop that calls under this key are in, or would be. It is the same in every run.
    pub const fn loop_id(self) -> LoopId {
        LoopId::from_bits(self.0.bits())
    }
}

/// What a worker tells of one call.
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
    /// Who made the call.
    pub worker: Worker,
    /// The tool that was called.
    pub tool: Tool,
    /// What stands for the tool and the arguments together: equal calls of all workers have one.
    pub call: Digest,
    /// What came back, if that is known.
    pub answer: Option<Answer>,
}

impl Observation {
    /// A call of which nobody knows what came back.
    pub const fn new(worker: Worker, tool: Tool, call: Digest) -> Self {
        Self { worker, tool, call, answer: None }
    }

    /// The call worked, with a result that stands for `result`.
    #[must_use]
    pub const fn ok(mut self, result: Digest) -> Self {
        self.answer = Some(Answer { digest: result, failed: false });
        self
    }

    /// The call failed, with an error that stands for `result`. It equals no call that worked.
    #[must_use]
    pub const fn failed(mut self, result: Digest) -> Self {
        self.answer = Some(Answer { digest: result, failed: true });
        self
    }

    /// What is known of what came back.
    pub const fn outcome(&self) -> Outcome {
        Outcome::of(self.answer)
    }

    /// What this call is counted under.
    pub const fn key(&self) -> Key {
        Key(match self.answer {
            None => self.call.mix(Digest::new(0)),
            Some(Answer { digest, failed: false }) => self.call.mix(digest.mix(Digest::new(1))),
            Some(Answer { digest, failed: true }) => self.call.mix(digest.mix(Digest::new(2))),
        })
    }
}
