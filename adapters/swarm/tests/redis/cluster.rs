//! A cluster of three nodes: one of them counts a swarm, whichever node a worker asks first.

use std::collections::HashSet;

use unstuck_swarm::SwarmStore as _;
use unstuck_swarm::redis::{RedisStore, Watch};

use crate::counts::{counts, observation};
use crate::liar::{Liar, Lie};
use crate::server::{Server, free_port, settings, settings_of, until};

/// All slots of a cluster, in three parts.
pub(crate) const SLOTS: [(u32, u32); 3] = [(0, 5460), (5461, 10922), (10923, 16383)];

/// A node, with the port for clients and the one for other nodes.
pub(crate) struct Node {
    pub(crate) server: Server,
    pub(crate) port: u16,
    bus: u16,
}

impl Node {
    /// Starts a node, in clear or with these options for TLS.
    pub(crate) fn start(options: &str, tls: Option<&str>) -> Self {
        let [bus, secure] = [free_port(), free_port()];
        let tls = tls.map(|tls| format!("--tls-port {secure} {tls}"));
        let words = format!(
            "--cluster-enabled yes --cluster-port {bus} {options} {}",
            tls.as_deref().unwrap_or_default()
        );
        let server = Server::with(&words.split_whitespace().collect::<Vec<_>>());
        let port = if tls.is_some() { secure } else { server.port() };
        Self { server, port, bus }
    }
}

/// Starts nodes that know each other. Each of the first three has a third of the slots.
pub(crate) fn nodes(count: usize, options: &str, tls: Option<&str>) -> Vec<Node> {
    let nodes: Vec<_> = (0..count).map(|_| Node::start(options, tls)).collect();
    for (node, (first, last)) in nodes.iter().zip(SLOTS) {
        node.server.ask::<()>(&format!("CLUSTER ADDSLOTSRANGE {first} {last}"));
    }
    for Node { port, bus, .. } in &nodes[1..] {
        nodes[0].server.ask::<()>(&format!("CLUSTER MEET 127.0.0.1 {port} {bus}"));
    }
    let known = format!("cluster_known_nodes:{count}");
    until(|| {
        nodes.iter().all(|node| {
            let info: String = node.server.ask("CLUSTER INFO");
            info.contains("cluster_state:ok") && info.contains(&known)
        })
    });
    nodes
}

/// Starts three nodes.
fn cluster() -> Vec<Server> {
    nodes(3, "", None).into_iter().map(|node| node.server).collect()
}

/// Returns the slot of a swarm, and the number of the node that has it at first.
pub(crate) fn place(node: &Server, swarm: &str) -> (u32, usize) {
    let slot = node.ask(&format!("CLUSTER KEYSLOT {{unstuck:{swarm}}}"));
    let home = SLOTS.iter().position(|(_, last)| slot <= *last);
    (slot, home.expect("every slot is somewhere"))
}

fn keys(node: &Server) -> Vec<String> {
    node.ask("KEYS *")
}

#[test]
fn a_swarm_is_counted_on_the_one_node_that_has_its_slot() {
    let nodes = cluster();
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
    let mut nodes = cluster();
    let hosts: Vec<_> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
    let url = |swarm| format!("redis://{}/?swarm={swarm}", hosts.join(","));
    let home = |swarm: &str| place(&nodes[0], swarm).1;
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

/// Sets the state of a slot on a node.
pub(crate) fn set_slot(node: &Server, slot: u32, state: &str) {
    node.ask::<()>(&format!("CLUSTER SETSLOT {slot} {state}"));
}

/// Moves the keys of a slot from one node to the one with this port.
pub(crate) fn migrate(slot: u32, from: &Server, to: u16) {
    let keys: Vec<String> = from.ask(&format!("CLUSTER GETKEYSINSLOT {slot} 1000"));
    let mut command = redis::cmd("MIGRATE");
    command.arg("127.0.0.1").arg(to).arg("").arg(0).arg(5000).arg("KEYS").arg(keys);
    command.query::<()>(&mut from.connection()).expect("the keys can be moved");
}

#[test]
fn calls_that_are_made_while_a_slot_moves_are_counted_afterwards() {
    let nodes = cluster();
    let (slot, home) = place(&nodes[0], "a");
    let (from, to) = (&nodes[home], &nodes[(home + 1) % 3]);
    let ids = [from, to].map(|node| node.ask::<String>("CLUSTER MYID"));
    let other = settings_of(&to.url("a"), b"of another swarm");
    let [old, new] = [from.settings("a"), other].map(RedisStore::open);
    for _ in 0..3 {
        let _ = old.record(&observation(1, 1));
    }
    set_slot(to, slot, &format!("IMPORTING {}", ids[0]));
    set_slot(from, slot, &format!("MIGRATING {}", ids[1]));
    // The node has some keys of the first swarm, and none of the second.
    for (store, code) in [(&old, "TRYAGAIN"), (&new, "ASK")] {
        let verdict = store.record(&observation(2, 1));
        assert_eq!(verdict.rung, u8::from(code == "TRYAGAIN"), "the known verdict");
        let health = store.health();
        assert!(health.last_error.as_ref().is_some_and(|error| error.contains(code)), "{health:?}");
        assert_eq!(
            (health.late, health.failed),
            (1, 0),
            "the worker goes on, and the call is kept"
        );
    }
    migrate(slot, from, to.port());
    for node in [to, from] {
        set_slot(node, slot, &format!("NODE {}", ids[1]));
    }
    until(|| (old.health().answered, new.health().answered) == (4, 1));
    assert_eq!(counts(old.record(&observation(3, 1))), (5, 3));
    assert_eq!(counts(new.record(&observation(3, 1))), (2, 2));
    assert!([old, new].iter().all(|store| store.health().failed == 0));
    assert_eq!(keys(from), Vec::<String>::new());
}

#[test]
fn a_call_waits_for_a_node_to_take_its_slot() {
    let node = Node::start("", None).server;
    let store = node.store("a");
    assert_eq!(store.record(&observation(1, 1)).rung, 0);
    let health = store.health();
    assert!(health.last_error.is_some_and(|error| error.contains("CLUSTERDOWN")));
    assert_eq!((health.late, health.failed), (1, 0), "the worker goes on, and the call is kept");
    node.ask::<()>("CLUSTER ADDSLOTSRANGE 0 16383");
    until(|| store.health().answered == 1);
    assert_eq!(counts(store.record(&observation(2, 1))), (2, 2));
}

#[test]
fn a_call_that_is_put_off_is_not_lost_on_a_server_that_hangs() {
    let node = Node::start("", None).server;
    let liar = Liar::start(Lie::Nothing);
    let hosts = format!("redis://127.0.0.1:{},", node.port());
    let store = RedisStore::open(settings(&liar.url().replace("redis://", &hosts)));
    assert_eq!(store.record(&observation(1, 1)).rung, 0);
    node.ask::<()>("CLUSTER ADDSLOTSRANGE 0 16383");
    until(|| store.health().answered == 1);
    assert_eq!(store.health().failed, 0);
}
