//! Users of the server with the rights that the README lists: they are enough, and each is needed.

use unstuck_swarm::SwarmStore as _;
use unstuck_swarm::redis::{LIBRARY, RedisStore, Settings, Watch};

use crate::counts::observation;
use crate::server::Server;

/// The rights of a worker.
const COUNT: &str = "+fcall +time +mget +set +zadd +zremrangebyrank +pexpire";

/// One more for a worker, unless somebody else loaded the functions.
const LOAD: &str = "+function|load";

/// The rights of an observer.
const WATCH: &str = "+fcall_ro +zrevrange +time +mget +pttl";

/// The rights for clearing a swarm.
const CLEAR: &str = "+fcall +time +mget +set +del";

/// Creates the user `limited` with these rights alone, and returns the settings of a swarm for it.
fn user(server: &Server, rights: &str) -> Settings {
    server.ask::<()>(&format!("ACL SETUSER limited reset on >pw ~{{unstuck:s}}:* {rights}"));
    let url = server.url("s").replace("://", "://limited:pw@");
    crate::server::settings(&url)
}

/// Checks that a user can work with these rights, and not without one of them.
fn check(server: &Server, rights: &str, work: impl Fn(&Settings) -> Result<(), String>) {
    assert_eq!(work(&user(server, rights)), Ok(()), "{rights}");
    for missing in rights.split(' ') {
        let others: Vec<_> = rights.split(' ').filter(|right| *right != missing).collect();
        let error = work(&user(server, &others.join(" "))).expect_err(missing);
        assert!(error.contains("refuses: "), "{missing}: {error}");
    }
}

/// Reports calls until they are hot.
fn count(settings: &Settings) -> Result<(), String> {
    let store = RedisStore::open(settings.clone());
    for worker in 0..4 {
        let _ = store.record(&observation(worker, 1));
    }
    let health = store.health();
    assert!(health.answered == 4 || health.last_error.is_some(), "{health:?}");
    health.last_error.map_or(Ok(()), Err)
}

fn watch(settings: &Settings) -> Result<(), String> {
    let hottest = Watch::open(settings).and_then(|mut watch| watch.hottest(9));
    assert_eq!(hottest.map_err(|error| error.to_string())?.len(), 1);
    Ok(())
}

fn clear(settings: &Settings) -> Result<(), String> {
    Watch::open(settings).and_then(|mut watch| watch.clear()).map_err(|error| error.to_string())
}

#[test]
fn a_worker_that_loads_the_functions() {
    let server = Server::start();
    check(&server, &format!("{COUNT} {LOAD}"), |settings| {
        server.ask::<()>("FUNCTION FLUSH");
        server.ask::<()>("FLUSHALL");
        count(settings)
    });
}

#[test]
fn workers_and_observers_with_functions_that_an_administrator_loaded() {
    let server = Server::start();
    let mut load = redis::cmd("FUNCTION");
    load.arg("LOAD").arg(LIBRARY).exec(&mut server.connection()).expect("it may");
    check(&server, COUNT, |settings| {
        server.ask::<()>("FLUSHALL");
        count(settings)
    });
    count(&user(&server, COUNT)).expect("it may");
    check(&server, WATCH, watch);
    check(&server, CLEAR, |settings| {
        server.ask::<()>("FLUSHALL");
        clear(settings)
    });
}

#[test]
fn the_readme_lists_these_rights() {
    let readme = include_str!("../../README.md");
    for rights in [COUNT, LOAD, WATCH, CLEAR] {
        assert!(readme.contains(&format!("| `{}` |", rights.replace('|', "\\|"))), "{rights}");
    }
}
