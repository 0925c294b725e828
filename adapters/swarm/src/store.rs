//! What a worker tells of its calls, wherever they are counted.

use unstuck_core::Digest;

use crate::observation::Observation;
use crate::verdict::Verdict;

/// Where the calls of a swarm are counted: in this process, on a server, or by gossip.
///
/// A board never fails the worker that tells it something and never holds it up for longer than a
/// deadline of its own: what it does not know, it does not say.
pub trait SwarmStore: Send + Sync {
    /// A call has come to its end, or was made by a worker whose outcomes nobody knows. Gives what the
    /// swarm has to say of it.
    fn record(&self, observation: &Observation) -> Verdict;

    /// The same, where the `tool` has a name, for a board that shows it to those who watch the swarm.
    fn record_named(&self, observation: &Observation, tool: &str) -> Verdict {
        let _ = tool;
        self.record(observation)
    }

    /// What is known here of the call with the digest `call`, before it is made. It counts nothing and
    /// waits for nobody.
    fn look(&self, call: Digest) -> Verdict {
        let _ = call;
        Verdict::PROCEED
    }
}
