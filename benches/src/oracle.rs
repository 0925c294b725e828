//! The oracle: what the workers made says what the servers must have counted.

use std::collections::HashMap;

use unstuck_swarm::LoopId;
use unstuck_swarm::redis::Watch;

use crate::cluster::{Cluster, Node};
use crate::fleet::{Fate, Swarm};
use crate::process::Failure;
use crate::report::figure;
use crate::trouble::Trouble;
use crate::workers::Made;

/// The calls of swarms, those that are lost, those that count twice, and those that a store knows as lost.
type Sum = [u64; 4];

/// Compares the counts of the servers with the calls of the workers. Returns the number of keys on the masters, and what is wrong.
pub(crate) fn audit(
    cluster: &Cluster,
    swarms: &[Swarm],
    made: &Made,
    trouble: &Trouble,
) -> Result<(u64, Vec<String>), Failure> {
    let (mut sums, mut keys, mut wrong) = ([Sum::default(); 3], 0, Vec::new());
    for (swarm, expected) in swarms.iter().zip(expected(swarms, made)?) {
        let (held, sum) = compare(cluster, swarm, &expected)?;
        let [_, lost, doubled, known] = sum;
        keys += held;
        let allowed = match swarm.fate {
            Fate::Unharmed => 0,
            Fate::Moved => known,
            Fate::Failed => known + trouble.acknowledged[swarm.number],
        };
        if lost > allowed || doubled > 0 {
            let health = swarm.store.health();
            let counts = format!("{lost} calls are lost, {allowed} may be; {doubled} count twice");
            wrong.push(format!("{}: {counts}; {health:?}", swarm.name));
        }
        sums[swarm.fate as usize].iter_mut().zip(sum).for_each(|(all, one)| *all += one);
    }
    let names = ["swarms left alone", "the swarm whose slot moved", "swarms whose master failed"];
    for (name, [calls, lost, doubled, known]) in names.into_iter().zip(sums) {
        let counts = format!("{calls} calls, {lost} lost ({known} known), {doubled} counted twice");
        figure(name, counts);
    }
    Ok((keys, wrong))
}

/// Returns the number of calls that the servers must have counted in each swarm with each key.
fn expected(swarms: &[Swarm], made: &Made) -> Result<Vec<HashMap<LoopId, u64>>, Failure> {
    let watches = swarms.iter().map(|swarm| Watch::open(&swarm.settings));
    let watches = watches.collect::<Result<Vec<_>, _>>()?;
    let mut expected = vec![HashMap::new(); swarms.len()];
    for ((swarm, key), calls) in &made.calls {
        expected[*swarm].insert(watches[*swarm].loop_id(*key), *calls);
    }
    Ok(expected)
}

/// Returns the number of keys of a swarm, and compares their counts with the expected ones.
fn compare(
    cluster: &Cluster,
    swarm: &Swarm,
    expected: &HashMap<LoopId, u64>,
) -> Result<(u64, Sum), Failure> {
    let health = swarm.store.health();
    let (mut calls, mut lost, mut doubled) = (0, 0, 0);
    let (ids, made): (Vec<&LoopId>, Vec<u64>) =
        expected.iter().map(|(id, calls)| (id, *calls)).unzip();
    let counts = |node| Some((node, counted(node, swarm, &ids).ok()?));
    let home = cluster.nodes.iter().find_map(counts);
    let (node, counted) = home.ok_or_else(|| format!("no node has the swarm {}", swarm.name))?;
    for (&made, found) in made.iter().zip(counted) {
        calls += made;
        lost += made.saturating_sub(found);
        doubled += found.saturating_sub(made);
    }
    let keys = node.ask(&format!("CLUSTER COUNTKEYSINSLOT {}", swarm.slot))?;
    Ok((keys, [calls, lost, doubled, health.failed + health.dropped]))
}

/// Reads the calls that a node counts with each of these keys. A node that has other slots fails.
fn counted(node: &Node, swarm: &Swarm, ids: &[&LoopId]) -> Result<Vec<u64>, Failure> {
    let (mut connection, mut calls) = (node.connection()?, Vec::new());
    for ids in ids.chunks(1_000) {
        let mut command = redis::cmd("FCALL_RO");
        // The swarm is never cleared, so it has no epoch.
        command.arg("unstuck_look_1").arg(ids.len() + 1);
        command.arg(format!("{{unstuck:{}}}:no-epoch", swarm.name));
        for id in ids {
            command.arg(format!("{{unstuck:{}}}:{id}", swarm.name));
        }
        let counts: Vec<Option<(u64, u64, u64)>> = command.query(&mut connection)?;
        calls.extend(counts.into_iter().map(|it| it.map_or(0, |(calls, ..)| calls)));
    }
    Ok(calls)
}
