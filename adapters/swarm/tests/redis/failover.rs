//! A replica takes over from its master while a slot moves and workers call: the calls that are lost are those of
//! which DESIGN.md says so, and nothing counts twice.

use std::env;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use unstuck_swarm::SwarmStore as _;
use unstuck_swarm::redis::RedisStore;

use crate::cluster::{Node, migrate, nodes, place, set_slot};
use crate::counts::{counts, observation};
use crate::faults::{DEADLINE, DIFFERENT, End, calls, hasty, pass};
use crate::server::{settings, until};

/// The variable with the folder of certificates, in a process whose servers and workers use TLS.
const CERTIFICATES: &str = "UNSTUCK_TEST_CERTIFICATES";

/// The commands of `openssl` that make the certificate of an authority, and the one of all servers.
const CERTIFY: [&str; 3] = [
    "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=unstuck-tests -keyout ca.key -out ca.crt",
    "req -newkey rsa:2048 -nodes -subj /CN=server -addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.csr",
    "x509 -req -days 2 -in server.csr -copy_extensions copy -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt",
];

/// The most calls of a swarm that are on their way when a connection breaks.
const ON_THE_WAY_MAX: u64 = 256;

/// The pause of a worker after each call.
const PAUSE: Duration = Duration::from_millis(5);

/// How often a busy machine may make a worker wait for a second or more. One that waited for the server would do so until
/// the replica takes over.
const STALLS_MAX: usize = 2;

/// The longest of these waits.
const STALL_MAX: Duration = Duration::from_secs(10);

/// Lets one cluster at a time fail. Several would take the processor from each other and from other tests.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What happens to the slot of a swarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Nothing.
    Unharmed,
    /// It moves to another master.
    Moved,
    /// Its master fails, and a replica takes over.
    Failed,
}

/// A swarm with a store of its own.
struct Swarm {
    url: String,
    store: RedisStore,
    slot: u32,
    fate: Fate,
}

/// Starts three masters and a replica of the first one.
fn cluster() -> Vec<Node> {
    let folder = env::var(CERTIFICATES).ok();
    let tls = folder.as_ref().map(|folder| {
        format!(
            "--tls-cert-file {folder}/server.crt --tls-key-file {folder}/server.key \
             --tls-ca-cert-file {folder}/ca.crt --tls-auth-clients no --tls-replication yes \
             --tls-cluster yes"
        )
    });
    let options = "--cluster-node-timeout 5000 --cluster-replica-validity-factor 0";
    let nodes = nodes(4, options, tls.as_deref());
    let master: String = nodes[0].server.ask("CLUSTER MYID");
    nodes[3].server.ask::<()>(&format!("CLUSTER REPLICATE {master}"));
    until(|| says(&nodes[3], "master_link_status:up"));
    nodes
}

fn says(node: &Node, text: &str) -> bool {
    node.server.ask::<String>("INFO replication").contains(text)
}

/// Returns the number of calls of which the store knows the end.
fn settled(store: &RedisStore) -> u64 {
    let health = store.health();
    health.answered + health.failed + health.dropped
}

/// Returns six swarms. The first one on the second master will move.
fn swarms(nodes: &[Node]) -> Vec<Swarm> {
    let hosts: Vec<_> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
    let scheme = if env::var_os(CERTIFICATES).is_some() { "rediss" } else { "redis" };
    let mut moves = false;
    let swarm = |number| {
        let name = format!("s{number}");
        let (slot, home) = place(&nodes[0].server, &name);
        let fate = match home {
            0 => Fate::Failed,
            1 if !moves => {
                moves = true;
                Fate::Moved
            }
            _ => Fate::Unharmed,
        };
        let url = format!("{scheme}://{}/?swarm={name}", hosts.join(","));
        Swarm { store: hasty(&url), url, slot, fate }
    };
    let swarms: Vec<_> = (0..6).map(swarm).collect();
    assert!(swarms.iter().any(|swarm| swarm.fate == Fate::Failed), "none is on the first master");
    swarms
}

impl Swarm {
    /// Compares the counts of the server with the calls that its worker made, and returns what is wrong.
    fn audit(&self, made: u64, acknowledged: u64) -> Option<String> {
        // The audit is calls, too. It waits for the answers longer than a worker may.
        let audit = (0..DIFFERENT).map(|call| observation(1, call));
        let auditor = RedisStore::open(settings(&self.url));
        audit.clone().for_each(|call| auditor.record_detached(&call, ""));
        until(|| settled(&auditor) == DIFFERENT);
        let health = auditor.health();
        assert_eq!(health.answered, DIFFERENT, "the audit got no answer: {health:?}");
        let (mut lost, mut doubled) = (0, 0);
        for (number, audit) in (0..).zip(audit) {
            let made = (made + DIFFERENT - 1 - number) / DIFFERENT;
            let counted = u64::from(counts(auditor.look(audit.call)).0).max(1) - 1;
            lost += made.saturating_sub(counted);
            doubled += counted.saturating_sub(made);
        }
        let health = self.store.health();
        let known = health.failed + health.dropped;
        // On a busy machine a healthy server may be so late that the store gives up a connection.
        let on_the_way = known.min(ON_THE_WAY_MAX);
        let allowed = match self.fate {
            Fate::Unharmed | Fate::Moved => on_the_way,
            Fate::Failed => on_the_way + acknowledged,
        };
        println!(
            "{:?}: {made} calls, {lost} lost, {known} known, {acknowledged} not replicated",
            self.fate
        );
        (lost > allowed || doubled > 0).then(|| {
            format!("{:?}: {lost} calls are lost, {doubled} count twice; {health:?}", self.fate)
        })
    }
}

/// Lets the first master fail while a slot of the second one moves and each swarm has a worker.
fn check(is_hung: bool) {
    let _alone = alone();
    let mut nodes = cluster();
    let swarms = swarms(&nodes);
    for Swarm { store, .. } in &swarms {
        store.record_detached(&observation(1, DIFFERENT), "");
    }
    until(|| swarms.iter().all(|swarm| settled(&swarm.store) == 1));
    let over = &AtomicBool::new(false);
    let (made, acknowledged) = thread::scope(|scope| {
        let end = End(over);
        let spawn = |store| scope.spawn(move || calls(store, 1, PAUSE, over));
        let workers: Vec<_> = swarms.iter().map(|swarm| spawn(&swarm.store)).collect();
        pass(Duration::from_secs(1));
        let moving = swarms.iter().find(|swarm| swarm.fate == Fate::Moved).expect("one moves");
        let id = begin_move(moving.slot, &nodes[1], &nodes[2]);
        pass(Duration::from_millis(100));

        let answered = || swarms.iter().map(|swarm| swarm.store.health().answered);
        let replicated: Vec<_> = answered().collect();
        pass(Duration::from_millis(100));
        if is_hung {
            nodes[0].server.signal("STOP");
        } else {
            nodes[0].server.kill();
        }
        let acknowledged: Vec<_> =
            answered().zip(replicated).map(|(now, then)| now - then).collect();
        until(|| says(&nodes[3], "role:master"));
        end_move(moving.slot, &nodes[1], &nodes[2], &id);
        let taken_over: Vec<_> = answered().collect();
        until(|| answered().zip(&taken_over).all(|(now, then)| now > *then));
        if is_hung {
            nodes[0].server.signal("CONT");
        } else {
            nodes[0].server.revive();
        }
        until(|| says(&nodes[0], "role:slave") && says(&nodes[0], "master_link_status:up"));
        drop(end);
        let made: Vec<_> =
            workers.into_iter().map(|worker| worker.join().expect("no worker fails")).collect();
        (made, acknowledged)
    });
    for waits in &made {
        let longest = waits.iter().max().expect("there are calls");
        let stalls = waits.iter().filter(|wait| **wait >= 100 * DEADLINE).count();
        let are_short = *longest < DEADLINE + STALL_MAX && stalls <= STALLS_MAX;
        assert!(are_short, "a worker waited {longest:?}, and {stalls} times for a second");
    }
    let wrong = swarms.iter().zip(made).zip(acknowledged);
    let wrong = wrong.filter_map(|((swarm, made), acknowledged)| {
        let made = made.len() as u64;
        until(|| settled(&swarm.store) == made + 1);
        swarm.audit(made, acknowledged)
    });
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<String>::new());
}

/// Begins to move a slot, and returns the node that will have it.
fn begin_move(slot: u32, from: &Node, to: &Node) -> String {
    let ids = [from, to].map(|node| node.server.ask::<String>("CLUSTER MYID"));
    set_slot(&to.server, slot, &format!("IMPORTING {}", ids[0]));
    set_slot(&from.server, slot, &format!("MIGRATING {}", ids[1]));
    let [_, id] = ids;
    id
}

/// Moves the keys of a slot, as soon as the nodes know that each slot has a master again, and ends the move.
fn end_move(slot: u32, from: &Node, to: &Node, id: &str) {
    let is_whole = |node: &Node| node.server.ask::<String>("CLUSTER INFO").contains("state:ok");
    until(|| is_whole(from) && is_whole(to));
    migrate(slot, &from.server, to.port);
    for node in [to, from] {
        set_slot(&node.server, slot, &format!("NODE {id}"));
    }
}

#[test]
fn a_replica_takes_over_from_a_master_that_is_killed() {
    check(false);
}

#[test]
fn a_replica_takes_over_from_a_master_that_hangs() {
    check(true);
}

#[test]
fn a_replica_takes_over_by_tls() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("there is room");
    for words in CERTIFY {
        let mut openssl = Command::new("openssl");
        let made = openssl.args(words.split(' ')).current_dir(&folder).output();
        let made = made.expect("openssl; on Debian, apt-get install openssl brings it");
        assert!(made.status.success(), "{made:?}");
    }
    // A process reads the certificates that it trusts once.
    let own = env::current_exe().expect("it runs");
    let ran = Command::new(own)
        .args(["--exact", "failover::a_replica_takes_over_from_a_master_that_is_killed"])
        .args(["--nocapture"])
        .env(CERTIFICATES, folder.path())
        .env("SSL_CERT_FILE", folder.path().join("ca.crt"))
        .output();
    let ran = ran.expect("it starts");
    let [output, errors] =
        [ran.stdout, ran.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    // A harness that finds no such test succeeds, too.
    assert!(ran.status.success() && output.contains("1 passed"), "{output}{errors}");
}
