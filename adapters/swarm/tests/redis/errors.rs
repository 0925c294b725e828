//! Errors that a person can mend: each says what is wrong and what would be right.

use unstuck_swarm::SwarmStore as _;
use unstuck_swarm::redis::{RedisStore, Settings, Watch};

use crate::cluster::Node;
use crate::counts::observation;
use crate::server::Server;

/// Returns the error of a worker that reports a call.
fn error_of_a_worker(settings: Settings) -> String {
    let store = RedisStore::open(settings);
    let _ = store.record(&observation(1, 1));
    store.health().last_error.expect("it is refused")
}

/// Returns the error of an observer.
fn error_of_an_observer(settings: &Settings) -> String {
    let cleared = Watch::open(settings).and_then(|mut watch| watch.clear());
    cleared.expect_err("it is refused").to_string()
}

#[test]
fn a_server_that_asks_for_a_password_is_named_as_such() {
    let server = Server::with(&["--requirepass", "hush"]);
    let settings = server.settings("s");
    for error in [error_of_a_worker(settings.clone()), error_of_an_observer(&settings)] {
        assert!(error.contains("refuses: it asks for a password and none is set, "), "{error}");
        assert!(error.contains("UNSTUCK_SWARM_PASSWORD"), "{error}");
    }
    let wrong = error_of_a_worker(settings.password("wrong"));
    assert!(wrong.contains("refuses: it takes another user or password"), "{wrong}");
}

#[test]
fn a_cluster_that_is_down_is_named_as_such() {
    let node = Node::start("", None).server;
    let settings = node.settings("s");
    for error in [error_of_a_worker(settings.clone()), error_of_an_observer(&settings)] {
        assert!(error.contains("refuses: its cluster is down: every slot needs a node"), "{error}");
        assert!(error.contains("(CLUSTERDOWN "), "{error}");
    }
}

#[test]
fn a_replica_without_the_functions_is_named_as_such() {
    let (replica, primary) = (Server::start(), Server::start());
    replica.ask::<()>(&format!("REPLICAOF 127.0.0.1 {}", primary.port()));
    let settings = replica.settings("s");
    for error in [error_of_a_worker(settings.clone()), error_of_an_observer(&settings)] {
        assert!(error.contains("refuses: it is a replica, which cannot count: write "), "{error}");
        assert!(error.contains("(READONLY "), "{error}");
    }
}
