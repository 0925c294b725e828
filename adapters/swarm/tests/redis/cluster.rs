//! A cluster of three nodes: one of them counts a swarm, whichever node a worker asks first.

use std::collections::HashSet;

use unstuck_swarm::SwarmStore as _;
use unstuck_swarm::redis::{RedisStore, Watch};

use crate::counts::{counts, observation};
use crate::server::{Server, free_port, settings, until};

/// All slots of a cluster, in three parts.
const SLOTS: [(u32, u32); 3] = [(0, 5460), (5461, 10922), (10923, 16383)];

/// Starts three nodes that know each other, each with a third of the slots.
fn cluster() -> Option<Vec<Server>> {
    let nodes: Option<Vec<_>> = SLOTS.map(node).into_iter().collect();
    let nodes = nodes?;
    let (first, others) = nodes.split_first().expect("there are three");
    for (node, bus) in others {
        first.0.ask::<()>(&format!("CLUSTER MEET 127.0.0.1 {} {bus}", node.port()));
    }
    until(|| {
        nodes.iter().all(|(node, _)| {
            let info: String = node.ask("CLUSTER INFO");
            info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
        })
    });
    Some(nodes.into_iter().map(|(node, _)| node).collect())
}

/// Starts a node with these slots, and returns the port on which it talks to the others.
fn node((first, last): (u32, u32)) -> Option<(Server, u16)> {
    let bus = free_port();
    let port = bus.to_string();
    let node = Server::with(&["--cluster-enabled", "yes", "--cluster-port", &port])?;
    node.ask::<()>(&format!("CLUSTER ADDSLOTSRANGE {first} {last}"));
    Some((node, bus))
}

fn keys(node: &Server) -> Vec<String> {
    node.ask("KEYS *")
}

#[test]
fn a_swarm_is_counted_on_the_one_node_that_has_its_slot() {
    let Some(nodes) = cluster() else { return };
    for swarm in ["a", "b", "c", "d"] {
        let before: Vec<_> = nodes.iter().map(|node| keys(node).len()).collect();
        // One worker knows each node, and one knows all of them.
        let hosts: Vec<_> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
        let urls = hosts.iter().cloned().chain([hosts.join(",")]);
        let stores = urls.map(|hosts| settings(&format!("redis://{hosts}/?swarm={swarm}")));
        let stores: Vec<_> = stores.map(RedisStore::open).collect();
        for (calls, store) in (1..).zip(stores.iter().cycle().take(12)) {
            let counted = counts(store.record(&observation(u64::from(calls % 4), 1)));
            assert_eq!(counted, if calls == 1 { (0, 0) } else { (calls, calls.min(4)) });
        }
        let mut watch = Watch::open(&nodes[0].settings(swarm)).expect("it can be watched");
        assert_eq!(watch.hottest(9).expect("it answers")[0].calls, 12);
        watch.clear().expect("it can be cleared");
        assert_eq!(counts(stores[0].record(&observation(1, 1))), (0, 0));
        assert!(stores.iter().all(|store| store.health().failed == 0));
        let after = nodes.iter().map(|node| keys(node).len());
        let grown = after.zip(before).filter(|(after, before)| after > before).count();
        assert_eq!(grown, 1, "the keys of a swarm are on one node");
    }
    let all: Vec<_> = nodes.iter().flat_map(keys).collect();
    for swarm in ["a", "b", "c", "d"] {
        let own = all.iter().filter(|key| key.starts_with(&format!("{{unstuck:{swarm}}}")));
        let slots = own.map(|key| nodes[0].ask::<u32>(&format!("CLUSTER KEYSLOT {key}")));
        assert_eq!(slots.collect::<HashSet<_>>().len(), 1, "{all:?}");
    }
}

#[test]
fn a_node_that_stops_affects_only_its_swarms() {
    let Some(mut nodes) = cluster() else { return };
    let hosts: Vec<_> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
    let url = |swarm| format!("redis://{}/?swarm={swarm}", hosts.join(","));
    let home = |swarm: &str| {
        let slot: u32 = nodes[0].ask(&format!("CLUSTER KEYSLOT {{unstuck:{swarm}}}"));
        SLOTS.iter().position(|(_, last)| slot <= *last).expect("every slot is somewhere")
    };
    let swarms = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let gone = home(swarms[0]);
    let kept = swarms.iter().find(|swarm| home(swarm) != gone).expect("not all are on one node");
    let stores = [swarms[0], kept].map(|swarm| RedisStore::open(settings(&url(swarm))));
    for store in &stores {
        until(|| store.record(&observation(1, 1)).rung > 0);
    }
    nodes[gone].kill();
    until(|| {
        let _ = stores[0].record(&observation(1, 2));
        stores[0].health().failed > 0
    });
    assert!(stores[1].record(&observation(1, 1)).rung > 0, "it has a node of its own");
    nodes[gone].revive();
    until(|| stores[0].record(&observation(1, 3)).rung > 0);
}
