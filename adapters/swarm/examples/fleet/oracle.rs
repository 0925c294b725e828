//! The oracle: the diaries of the workers say what the servers must have counted.

use std::collections::HashMap;

use redis::Connection;
use unstuck_swarm::LoopId;
use unstuck_swarm::redis::Watch;

use crate::cluster::{Cluster, words};
use crate::trouble::Trouble;
use crate::workers::{Diary, Made, Swarm, dead_end, observation, swarm_of};
use crate::{Failure, figure};

/// The number of workers that a server counts exactly.
const EXACT_MAX: u64 = 64;

/// What happens to the slot of a swarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing.
    Unharmed,
    /// It moves to another master.
    Moved,
    /// Its master is killed, and a replica takes over.
    Killed,
}

/// The calls and the workers of a key.
#[derive(Clone, Copy, Default)]
struct Count {
    calls: u64,
    workers: u64,
}

/// The calls of the swarms of one fate, and what became of them.
#[derive(Default)]
struct Sum {
    calls: u64,
    lost: u64,
    doubled: u64,
    failed: u64,
    dropped: u64,
}

/// The comparison of the servers with the oracle.
pub(crate) struct Audit {
    /// The number of keys of calls on the masters.
    pub(crate) keys: u64,
    pub(crate) wrong: Vec<String>,
    sums: [(Fate, Sum); 3],
}

impl Audit {
    pub(crate) fn figures(&self) {
        for (fate, sum) in &self.sums {
            let Sum { calls, lost, doubled, failed, dropped, .. } = sum;
            let what = match fate {
                Fate::Unharmed => "swarms that were left alone",
                Fate::Moved => "the swarm whose slot moved",
                Fate::Killed => "swarms whose master failed",
            };
            let silent = lost.saturating_sub(failed + dropped);
            let known = format!(
                "{failed} failed, {dropped} dropped, {silent} acknowledged and not replicated"
            );
            figure(what, format!("{calls} calls, {lost} lost ({known}), {doubled} counted twice"));
        }
    }
}

/// Compares the counts of the servers with the diaries.
pub(crate) fn audit(
    cluster: &Cluster,
    swarms: &[Swarm],
    made: &Made,
    trouble: &Trouble,
) -> Result<Audit, Failure> {
    let mut sums = [Fate::Unharmed, Fate::Moved, Fate::Killed].map(|fate| (fate, Sum::default()));
    let (mut keys, mut wrong) = (0, Vec::new());
    let mut diaries: Vec<Vec<&Diary>> = swarms.iter().map(|_| Vec::new()).collect();
    for diary in &made.diaries {
        diaries[swarm_of(diary.worker, swarms.len())].push(diary);
    }
    for ((swarm, diaries), acknowledged) in swarms.iter().zip(&diaries).zip(&trouble.acknowledged) {
        let expected = expected(swarm, diaries)?;
        let (mut connection, counted) = counted(cluster, swarm, &expected)?;
        let sum = compare(swarm, &expected, &counted, *acknowledged, &mut wrong);
        let own = counted.values().filter(|count| count.calls > 0).count() as u64;
        let held: u64 =
            words(&format!("CLUSTER COUNTKEYSINSLOT {}", swarm.slot)).query(&mut connection)?;
        // One key more lists the hot calls.
        if !(own..=own + 1).contains(&held) {
            wrong.push(format!(
                "{}: {held} keys on the server, {own} of them are known",
                swarm.name
            ));
        }
        keys += own;
        for (fate, all) in &mut sums {
            if *fate == swarm.fate {
                all.add(&sum);
            }
        }
    }
    Ok(Audit { keys, wrong, sums })
}

/// Returns the counts that the server must have.
fn expected(swarm: &Swarm, diaries: &[&Diary]) -> Result<HashMap<LoopId, Count>, Failure> {
    let watch = Watch::open(&swarm.settings)?;
    let mut counts: HashMap<LoopId, Count> = HashMap::new();
    let mut add = |observation: unstuck_swarm::Observation, calls: u32| {
        let count = counts.entry(watch.loop_id(observation.key())).or_default();
        count.calls += u64::from(calls);
        count.workers += u64::from(calls > 0);
    };
    // The call that opened the store.
    add(observation(u64::MAX, 0), 1);
    for diary in diaries {
        (0..diary.own).for_each(|number| add(observation(diary.worker, number), 1));
        for (end, calls) in diary.dead.iter().enumerate().filter(|(_, calls)| **calls > 0) {
            add(dead_end(diary.worker, end), *calls);
        }
    }
    Ok(counts)
}

/// Reads the counts of these keys from the node that has them.
fn counted(
    cluster: &Cluster,
    swarm: &Swarm,
    expected: &HashMap<LoopId, Count>,
) -> Result<(Connection, HashMap<LoopId, Count>), Failure> {
    let ids: Vec<_> = expected.keys().copied().collect();
    let mut why = String::new();
    for node in cluster.nodes() {
        let mut connection = node.connection()?;
        match ids
            .chunks(1_000)
            .map(|ids| look(&mut connection, swarm, ids))
            .collect::<Result<Vec<_>, _>>()
        {
            Ok(counts) => return Ok((connection, ids.into_iter().zip(counts.concat()).collect())),
            Err(error) => why = error.to_string(),
        }
    }
    Err(format!("no node has the swarm {}: {why}", swarm.name).into())
}

fn look(
    connection: &mut Connection,
    swarm: &Swarm,
    ids: &[LoopId],
) -> redis::RedisResult<Vec<Count>> {
    let mut command = redis::cmd("FCALL_RO");
    // The swarm is never cleared, so it has no epoch.
    command
        .arg("unstuck_look_1")
        .arg(ids.len() + 1)
        .arg(format!("{{unstuck:{}}}:no-epoch", swarm.name));
    for id in ids {
        command.arg(format!("{{unstuck:{}}}:{id}", swarm.name));
    }
    let counts: Vec<Option<(u64, u64, u64)>> = command.query(connection)?;
    Ok(counts
        .into_iter()
        .map(|it| it.map_or(Count::default(), |(calls, workers, _)| Count { calls, workers }))
        .collect())
}

/// Compares the counts of a swarm, and notes what is wrong.
fn compare(
    swarm: &Swarm,
    expected: &HashMap<LoopId, Count>,
    counted: &HashMap<LoopId, Count>,
    acknowledged: u64,
    wrong: &mut Vec<String>,
) -> Sum {
    let health = swarm.store.health();
    let (failed, dropped) = (health.failed, health.dropped);
    let mut sum = Sum { failed, dropped, ..Sum::default() };
    for (id, made) in expected {
        let found = counted.get(id).copied().unwrap_or_default();
        sum.calls += made.calls;
        sum.lost += made.calls.saturating_sub(found.calls);
        sum.doubled += found.calls.saturating_sub(made.calls);
        let is_whole = found.calls == made.calls && found.workers != made.workers;
        if made.workers <= EXACT_MAX && (is_whole || found.workers > made.workers) {
            wrong.push(format!(
                "{}: {} workers of {id}, counted as {}",
                swarm.name, made.workers, found.workers
            ));
        }
    }
    let excuse = match swarm.fate {
        Fate::Unharmed => 0,
        Fate::Moved => failed + dropped,
        Fate::Killed => failed + dropped + acknowledged,
    };
    if sum.lost > excuse {
        let health = swarm.store.health();
        wrong.push(format!(
            "{}: {} calls are lost, {excuse} may be; {health:?}",
            swarm.name, sum.lost
        ));
    }
    if sum.doubled > 0 {
        wrong.push(format!("{}: {} calls are counted twice", swarm.name, sum.doubled));
    }
    sum
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.failed += other.failed;
        self.dropped += other.dropped;
    }
}
