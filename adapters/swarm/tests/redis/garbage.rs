//! Foreign values under the keys of a swarm are replaced, and counting goes on.

use unstuck_swarm::SwarmStore as _;
use unstuck_swarm::redis::Watch;

use crate::counts::{counts, observation};
use crate::server::{Server, words};

/// The command that puts a foreign value under a key.
const GARBAGE: [&str; 11] = [
    "SET {} x",
    "SET {} 42",
    "SETRANGE {} 1 garbage",
    "SETRANGE {} 0 \u{7f}",
    "APPEND {} x",
    "SETRANGE {} 28 \u{7f}",
    "SETRANGE {} 400000 x",
    "RPUSH {} x",
    "SADD {} x",
    "HSET {} x y",
    "XADD {} * x y",
];

#[test]
fn garbage_of_all_types_is_replaced() {
    let server = Server::start();
    let (store, mut connection) = (server.store("s"), server.connection());
    for (call, garbage) in (0..).zip(GARBAGE) {
        let known: Vec<String> = server.ask("KEYS *");
        let _ = store.record(&observation(1, call));
        let keys: Vec<String> = server.ask("KEYS *");
        let key = keys
            .iter()
            .find(|key| !known.contains(key) && !key.contains(":hot:"))
            .expect("it is counted");
        // A command may write into a string. A value of another type replaces it.
        if !(garbage.starts_with("SET") || garbage.starts_with("APPEND")) {
            words(&format!("DEL {key}")).exec(&mut connection).expect("it is gone");
        }
        let garbage = garbage.replace("{}", key);
        words(&garbage).exec(&mut connection).expect(&garbage);
        let _ = store.record(&observation(1, call));
        assert_eq!(counts(store.record(&observation(2, call))), (2, 2), "{garbage}");
    }
    assert_eq!(store.health().last_error, None);
}

#[test]
fn garbage_in_place_of_the_epoch_and_the_hot_calls_is_replaced() {
    let server = Server::start();
    let store = server.store("s");
    let mut watch = Watch::open(&server.settings("s")).expect("it can be watched");
    watch.clear().expect("it can be cleared");
    for worker in 0..4 {
        let _ = store.record(&observation(worker, 1));
    }
    let keys: Vec<String> = server.ask("KEYS *{unstuck:s}:[eh]*");
    assert_eq!(keys.len(), 2);
    let mut connection = server.connection();
    for (call, garbage) in (2..).zip(GARBAGE) {
        for key in &keys {
            words(&format!("DEL {key}")).exec(&mut connection).expect("it is gone");
            let garbage = garbage.replace("{}", key);
            words(&garbage).exec(&mut connection).expect(&garbage);
        }
        watch.hottest(9).expect("nothing is hot where there is garbage");
        let counted = [0, 1, 2].map(|worker| counts(store.record(&observation(worker, call))));
        assert_eq!(counted, [(0, 0), (2, 2), (3, 3)], "{garbage}");
        assert_eq!(watch.hottest(9).expect("it can be watched").len(), 1, "{garbage}");
        watch.clear().expect("it can be cleared");
    }
    assert_eq!(store.health().last_error, None);
}
