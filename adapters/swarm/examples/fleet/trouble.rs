//! The trouble: the slot of one swarm moves, and a master fails in the meantime.

use std::thread;
use std::time::{Duration, Instant};

use crate::cluster::{Cluster, NODE_TIMEOUT, until};
use crate::oracle::Fate;
use crate::workers::{Load, Swarm};
use crate::{Failure, figure};

/// The time for which no node counts the swarm whose slot moves, before its keys move.
const BEFORE_KEYS: Duration = Duration::from_secs(1);

/// The pause after each hundred keys.
const PAUSE: Duration = Duration::from_millis(10);

/// The way in which a master fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fall {
    /// Its process is killed, and started again later.
    Killed,
    /// Its process stops, with all its connections open, and goes on later.
    Hung,
}

/// What happened.
pub(crate) struct Trouble {
    keys_moved: usize,
    /// The time from the kill until the replica is a master.
    takeover: Duration,
    /// The times without an answer of the swarms on the master that was killed.
    killed: Vec<Duration>,
    /// The time without an answer of the swarm whose slot moved.
    moved: Duration,
    /// For each swarm, the calls that the master acknowledged in the second before it was killed.
    pub(crate) acknowledged: Vec<u64>,
}

impl Trouble {
    pub(crate) fn figures(&self) {
        let ms = |time: Duration| time.as_millis();
        let least = self.killed.iter().min().copied().unwrap_or_default();
        let most = self.killed.iter().max().copied().unwrap_or_default();
        figure("node time-out of the cluster", format!("{NODE_TIMEOUT} ms"));
        figure("fail-over: until the replica is a master", format!("{} ms", ms(self.takeover)));
        figure("fail-over: without answers, by swarm", format!("{} to {} ms", ms(least), ms(most)));
        figure("slot migration: keys", self.keys_moved);
        figure("slot migration: without answers", format!("{} ms", ms(self.moved)));
    }
}

/// Causes the trouble while the workers call.
pub(crate) fn cause(
    cluster: &mut Cluster,
    swarms: &'static [Swarm],
    fall: Fall,
    load: Load,
    start: Instant,
) -> Result<Trouble, Failure> {
    sleep_until(start + load.lasts / 4);
    let moving = swarms.iter().find(|swarm| swarm.fate == Fate::Moved).ok_or("no swarm moves")?;
    let before: Vec<_> = swarms.iter().map(answered).collect();
    set_slot(cluster, moving.slot)?;
    let moved = watch(vec![moving]);
    thread::sleep(BEFORE_KEYS);

    let killed_at = Instant::now();
    match fall {
        Fall::Killed => cluster.masters[0].kill()?,
        Fall::Hung => cluster.masters[0].signal("STOP")?,
    }
    let acknowledged = swarms.iter().map(answered).zip(&before).map(|(now, before)| now - before);
    let acknowledged = acknowledged.collect();
    let killed = watch(swarms.iter().filter(|swarm| swarm.fate == Fate::Killed).collect());

    let mut keys_moved = 0;
    // A cluster without one of its masters takes no keys.
    until("the keys have moved", || {
        let moved = cluster.masters[1].move_keys(moving.slot, &cluster.masters[2], PAUSE);
        keys_moved += moved.as_ref().copied().unwrap_or(0);
        Ok(moved.is_ok())
    })?;
    let new = cluster.masters[2].id.clone();
    for node in [&cluster.masters[2], &cluster.masters[1]] {
        node.ask::<()>(&format!("CLUSTER SETSLOT {} NODE {new}", moving.slot))?;
    }
    until("the replica is a master", || {
        Ok(cluster.replicas[0].ask::<String>("INFO replication")?.contains("role:master"))
    })?;
    let takeover = killed_at.elapsed();

    let ended =
        |thread: thread::JoinHandle<Vec<Duration>>| thread.join().map_err(|_| "a thread panicked");
    let moved = ended(moved)?.first().copied().unwrap_or_default();
    let killed = ended(killed)?;
    sleep_until(start + load.lasts * 3 / 4);
    match fall {
        Fall::Killed => cluster.masters[0].revive()?,
        Fall::Hung => cluster.masters[0].signal("CONT")?,
    }
    until("the old master is a replica", || {
        let role: String = cluster.masters[0].ask("INFO replication")?;
        Ok(role.contains("role:slave") && role.contains("master_link_status:up"))
    })?;
    Ok(Trouble { keys_moved, takeover, killed, moved, acknowledged })
}

/// Begins to move a slot from the second master to the third.
fn set_slot(cluster: &Cluster, slot: u32) -> Result<(), Failure> {
    let (from, to) = (&cluster.masters[1], &cluster.masters[2]);
    to.ask::<()>(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", from.id))?;
    from.ask::<()>(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", to.id))
}

fn answered(swarm: &Swarm) -> u64 {
    swarm.store.health().answered
}

/// Returns the time from now until the server answers a call of each swarm, at most a minute.
fn watch(swarms: Vec<&'static Swarm>) -> thread::JoinHandle<Vec<Duration>> {
    let (start, most) = (Instant::now(), Duration::from_secs(60));
    thread::spawn(move || {
        // Answers that were already on their way.
        thread::sleep(Duration::from_millis(20));
        let before: Vec<_> = swarms.iter().map(|swarm| answered(swarm)).collect();
        let mut times = vec![None; swarms.len()];
        while times.contains(&None) && start.elapsed() < most {
            for ((swarm, before), time) in swarms.iter().zip(&before).zip(&mut times) {
                if time.is_none() && answered(swarm) > *before {
                    *time = Some(start.elapsed());
                }
            }
            thread::sleep(Duration::from_millis(2));
        }
        times.into_iter().map(|time| time.unwrap_or(most)).collect()
    })
}

fn sleep_until(time: Instant) {
    thread::sleep(time.saturating_duration_since(Instant::now()));
}
