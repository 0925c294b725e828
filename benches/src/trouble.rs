//! The trouble: the slot of one swarm moves, and a master fails in the meantime.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::cluster::{Cluster, NODE_TIMEOUT};
use crate::fleet::{Fate, Swarm};
use crate::process::{Failure, until};
use crate::report::figure;
use crate::workers::Load;

/// The time for which no node counts the swarm whose slot moves, before its keys move.
const BEFORE_KEYS: Duration = Duration::from_secs(1);

/// The pause after each hundred keys.
const PAUSE: Duration = Duration::from_millis(10);

/// The longest wait for an answer of a swarm.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// What happened.
pub(crate) struct Trouble {
    keys_moved: usize,
    /// The time from the failure until the replica is a master.
    takeover: Duration,
    /// The times without an answer of the swarms on the master that failed.
    failed: Vec<Duration>,
    /// The time without an answer of the swarm whose slot moved.
    moved: Vec<Duration>,
    /// For each swarm, the calls that its master acknowledged in the second before the failure.
    pub(crate) acknowledged: Vec<u64>,
}

impl Trouble {
    pub(crate) fn figures(&self) {
        let range = |times: &[Duration]| {
            let (least, most) = (times.iter().min(), times.iter().max());
            format!("{:.1?} to {:.1?}", least.unwrap_or(&WAIT_MAX), most.unwrap_or(&WAIT_MAX))
        };
        figure("node time-out of the cluster", format!("{NODE_TIMEOUT} ms"));
        figure("fail-over: until the replica is a master", format!("{:.1?}", self.takeover));
        figure("fail-over: without answers, by swarm", range(&self.failed));
        figure("slot migration: keys", self.keys_moved);
        figure("slot migration: without answers", range(&self.moved));
    }
}

/// Causes the trouble while the workers call.
pub(crate) fn cause(
    cluster: &mut Cluster,
    swarms: &'static [Swarm],
    hung: bool,
    load: Load,
    start: Instant,
) -> Result<Trouble, Failure> {
    let sleep_until = |time: Instant| thread::sleep(time.saturating_duration_since(Instant::now()));
    sleep_until(start + load.lasts / 4);
    let moving = swarms.iter().find(|swarm| swarm.fate == Fate::Moved).ok_or("no swarm moves")?;
    let before: Vec<_> = swarms.iter().map(Swarm::answered).collect();
    let set_slot = |node: usize, state: &str, other: usize| {
        let other = &cluster.nodes[other].id;
        cluster.nodes[node].ask::<()>(&format!("CLUSTER SETSLOT {} {state} {other}", moving.slot))
    };
    set_slot(2, "IMPORTING", 1)?;
    set_slot(1, "MIGRATING", 2)?;
    let moved = watch(swarms, Fate::Moved);
    thread::sleep(BEFORE_KEYS);

    let failed_at = Instant::now();
    cluster.nodes[0].fail(hung)?;
    let acknowledged = swarms.iter().zip(&before).map(|(now, before)| now.answered() - before);
    let acknowledged = acknowledged.collect();
    let failed = watch(swarms, Fate::Failed);

    let mut keys_moved = 0;
    // A cluster without one of its masters takes no keys.
    until("the keys have moved", || {
        let moved = cluster.nodes[1].move_keys(moving.slot, &cluster.nodes[2], PAUSE);
        keys_moved += moved.as_ref().copied().unwrap_or(0);
        Ok(moved.is_ok())
    })?;
    for node in [2, 1] {
        let new = &cluster.nodes[2].id;
        cluster.nodes[node].ask::<()>(&format!("CLUSTER SETSLOT {} NODE {new}", moving.slot))?;
    }
    let role = "INFO replication";
    until("the replica is a master", || Ok(cluster.nodes[3].says(role, "role:master")))?;
    let takeover = failed_at.elapsed();
    let [moved, failed] = [moved, failed].map(|thread| thread.join().expect("it only reads"));
    sleep_until(start + load.lasts * 3 / 4);
    cluster.nodes[0].recover(hung)?;
    until("the old master is a replica", || {
        Ok(cluster.nodes[0].says(role, "role:slave")
            && cluster.nodes[0].says(role, "master_link_status:up"))
    })?;
    Ok(Trouble { keys_moved, takeover, failed, moved, acknowledged })
}

/// Returns the time from now until the server answers a call of each swarm with this fate, at most a minute.
fn watch(swarms: &'static [Swarm], fate: Fate) -> JoinHandle<Vec<Duration>> {
    let start = Instant::now();
    thread::spawn(move || {
        // Answers that were already on their way.
        thread::sleep(Duration::from_millis(20));
        let swarms = swarms.iter().filter(|swarm| swarm.fate == fate);
        let mut waiting: Vec<_> = swarms.map(|swarm| (swarm, swarm.answered())).collect();
        let mut times = Vec::new();
        while !waiting.is_empty() {
            let elapsed = start.elapsed();
            let is_over = elapsed > WAIT_MAX;
            waiting.retain(|(swarm, before)| {
                let waits = swarm.answered() == *before && !is_over;
                times.extend((!waits).then_some(elapsed));
                waits
            });
            thread::sleep(Duration::from_millis(2));
        }
        times
    })
}
