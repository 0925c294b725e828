//! Failures of a server: workers go on, none waits longer than its deadline, and detection resumes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use unstuck_swarm::SwarmStore as _;
use unstuck_swarm::redis::RedisStore;

use crate::counts::observation;
use crate::server::{PATIENCE, Server, settings, until};

/// The deadline of workers in these tests.
pub(crate) const DEADLINE: Duration = Duration::from_millis(10);

/// The number of different calls of a worker.
pub(crate) const DIFFERENT: u64 = 50;

/// Opens a store with a usual deadline.
pub(crate) fn hasty(url: &str) -> RedisStore {
    RedisStore::open(settings(url).deadline(DEADLINE).expect("it is usual"))
}

/// Returns the duration of each record of four workers that call while `run` runs.
pub(crate) fn while_calling(store: &RedisStore, what: &str, run: impl FnOnce()) {
    let over = AtomicBool::new(false);
    let mut took: Vec<Duration> = thread::scope(|scope| {
        let workers = [1, 2, 3, 4].map(|worker| {
            scope.spawn({
                let over = &over;
                move || calls(store, worker, Duration::from_millis(1), over)
            })
        });
        let end = End(&over);
        run();
        drop(end);
        workers.into_iter().flat_map(|worker| worker.join().expect("no worker fails")).collect()
    });
    took.sort_unstable();
    let part = |parts: usize| took[(took.len() - 1) * parts / 1000];
    let health = store.health();
    println!(
        "{what}: {} records, p50 {:?}, p99 {:?}, p99.9 {:?}, max {:?}; {health:?}",
        took.len(),
        part(500),
        part(990),
        part(999),
        part(1000),
    );
    assert!(part(1000) < 100 * DEADLINE, "a worker waited {:?}", part(1000));
}

/// Ends the workers, also if the test fails meanwhile.
pub(crate) struct End<'o>(pub(crate) &'o AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Makes the calls of one worker, with a pause after each. Other workers make some of them, too. Returns how long each
/// took.
pub(crate) fn calls(
    store: &RedisStore,
    worker: u64,
    pause: Duration,
    over: &AtomicBool,
) -> Vec<Duration> {
    let mut took = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let call = observation(worker, took.len() as u64 % DIFFERENT);
        let start = Instant::now();
        let _ = store.record(&call);
        took.push(start.elapsed());
        thread::park_timeout(pause);
    }
    took
}

/// Waits until a new call is found to be a loop.
pub(crate) fn finds(store: &RedisStore, call: u64) {
    until(|| store.record(&observation(1, call)).rung > 0);
}

/// Waits while workers call.
pub(crate) fn pass(time: Duration) {
    let start = Instant::now();
    assert!(time < PATIENCE);
    while start.elapsed() < time {
        thread::park_timeout(time / 10);
    }
}

#[test]
fn calls_are_sent_again_to_a_server_that_was_killed_and_restarted() {
    let mut server = Server::start();
    let store = hasty(&server.url("s"));
    finds(&store, 1_000);
    while_calling(&store, "killed", || {
        server.kill();
        pass(Duration::from_millis(700));
        server.revive();
        pass(Duration::from_millis(300));
    });
    let health = store.health();
    assert!(health.failed > 0 && health.last_error.is_some(), "{health:?}");
    finds(&store, 1_001);
}

#[test]
fn a_server_that_pauses_delays_no_worker() {
    let server = Server::start();
    let store = hasty(&server.url("s"));
    finds(&store, 1_000);
    while_calling(&store, "paused", || {
        server.signal("STOP");
        pass(Duration::from_secs(2));
        server.signal("CONT");
    });
    assert!(store.health().late > 0);
    finds(&store, 1_001);
}

#[test]
fn a_server_without_memory_refuses_and_is_asked_again() {
    let server = Server::with(&["--maxmemory-policy", "noeviction"]);
    let store = hasty(&server.url("s"));
    finds(&store, 1_000);
    while_calling(&store, "out of memory", || {
        server.ask::<()>("CONFIG SET maxmemory 1mb");
        pass(Duration::from_millis(300));
    });
    let error = store.health().last_error.expect("it was refused");
    assert!(error.contains("OOM"), "{error}");
    server.ask::<()>("CONFIG SET maxmemory 0");
    finds(&store, 1_001);
}

#[test]
fn functions_are_loaded_again_if_the_server_lost_them() {
    let server = Server::start();
    let store = server.store("s");
    for call in 0..3 {
        assert_eq!(store.record(&observation(1, call)).rung, 0);
        server.ask::<()>("FUNCTION FLUSH");
        assert_eq!(store.record(&observation(1, call)).rung, 1, "no call is lost");
    }
    assert_eq!(store.health().failed, 0);
}

#[test]
fn a_user_without_permission_gets_an_error() {
    let server = Server::start();
    server.ask::<()>("ACL SETUSER weak on >pw ~* +@all -fcall -function");
    let store = hasty(&server.url("s").replace("://", "://weak:pw@"));
    until(|| {
        let _ = store.record(&observation(1, 1));
        store.health().last_error.is_some_and(|error| error.contains("NOPERM"))
    });
    server.ask::<()>("ACL SETUSER weak +@all");
    finds(&store, 2);
}

#[test]
fn a_replica_is_left_for_another_server() {
    let (first, second) = (Server::start(), Server::start());
    first.ask::<()>(&format!("REPLICAOF 127.0.0.1 {}", second.port()));
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", first.port(), second.port());
    let store = RedisStore::open(settings(&format!("redis://{hosts}/?swarm=s")));
    finds(&store, 1);
    assert_eq!(second.ask::<Vec<String>>("KEYS *").len(), 2);
}

#[test]
fn a_server_that_accepts_connections_and_never_replies_is_left_for_another() {
    let (first, second) = (Server::start(), Server::start());
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", first.port(), second.port());
    let store = hasty(&format!("redis://{hosts}/?swarm=s"));
    finds(&store, 1);
    first.signal("STOP");
    finds(&store, 2);
    assert_eq!(second.ask::<Vec<String>>("KEYS *").len(), 2);
}

#[test]
fn the_next_server_is_asked_if_one_is_missing() {
    let server = Server::start();
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", crate::server::free_port(), server.port());
    let store = RedisStore::open(settings(&format!("redis://{hosts}/?swarm=s")));
    finds(&store, 1);
}

#[test]
fn a_late_reply_is_known_at_the_next_call() {
    let server = Server::start();
    let store = hasty(&server.url("s"));
    finds(&store, 1_000);
    let call = observation(1, 1);
    server.signal("STOP");
    assert_eq!([store.record(&call).rung, store.record(&call).rung], [0, 0]);
    assert_eq!(store.look(call.call).rung, 0);
    server.signal("CONT");
    until(|| store.look(call.call).rung == 1);
}

#[test]
fn queued_calls_are_sent_before_the_store_ends() {
    let server = Server::start();
    let store = server.store("s");
    for worker in 0..1_000 {
        store.record_detached(&observation(worker % 7, 1), "");
    }
    drop(store);
    let finding = server.store("s").record(&observation(0, 1)).finding.expect("it is a loop");
    assert_eq!((finding.calls, finding.workers), (1_001, 7));
}
