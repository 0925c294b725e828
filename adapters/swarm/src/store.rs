//! The interface of everything that counts the calls of a swarm.

use unstuck_core::Digest;

use crate::observation::Observation;
use crate::verdict::Verdict;

/// A store that counts the calls of a swarm: in this process, on a server, or by gossip.
///
/// A store never fails, and never delays a worker for longer than its own deadline. If it does not know of a
/// loop, it returns [`Verdict::PROCEED`].
///
/// ```
/// use unstuck_swarm::{Digest, Observation, Rule, SharedLedger, SwarmStore, Tool, Worker};
///
/// let store: Box<dyn SwarmStore> = Box::new(SharedLedger::new(Rule::default().calls(2))?);
/// let call = Digest::of(b"make all");
/// for worker in 0..2 {
///     let _ = store.record(&Observation::new(Worker::new(worker), Tool::named("bash"), call));
/// }
/// assert_eq!(store.look(call).rung, 1);
/// # Ok::<(), unstuck_swarm::RuleError>(())
/// ```
pub trait SwarmStore: Send + Sync {
    /// Counts a call that has ended, or whose result stays unknown. Returns the verdict on it.
    fn record(&self, observation: &Observation) -> Verdict;

    /// Counts a call with the name of its tool, for stores that show the name to observers.
    fn record_named(&self, observation: &Observation, tool: &str) -> Verdict {
        let _ = tool;
        self.record(observation)
    }

    /// Returns the known verdict on a call before it is made. It counts nothing and never waits.
    fn look(&self, call: Digest) -> Verdict {
        let _ = call;
        Verdict::PROCEED
    }
}
