//! A server that fails: workers go on, none waits longer than it said, and detection resumes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use unstuck_swarm::SwarmStore as _;
use unstuck_swarm::redis::RedisStore;

use crate::counts::observation;
use crate::server::{PATIENCE, Server, settings, until};

/// How long workers wait in these tests.
const DEADLINE: Duration = Duration::from_millis(10);

/// A board whose workers wait as long as they would anywhere.
pub(crate) fn hasty(url: &str) -> RedisStore {
    RedisStore::open(settings(url).deadline(DEADLINE).expect("it is usual"))
}

/// How long each record took of four workers who go on calling while `run` runs.
pub(crate) fn while_calling(board: &RedisStore, what: &str, run: impl FnOnce()) {
    let over = AtomicBool::new(false);
    let mut took: Vec<Duration> = thread::scope(|scope| {
        let workers = [1, 2, 3, 4].map(|worker| {
            scope.spawn({
                let over = &over;
                move || calls(board, worker, over)
            })
        });
        run();
        over.store(true, Ordering::Relaxed);
        workers.into_iter().flat_map(|worker| worker.join().expect("no worker fails")).collect()
    });
    took.sort_unstable();
    let part = |parts: usize| took[(took.len() - 1) * parts / 1000];
    let health = board.health();
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

/// One worker's calls, some of which others make, too, about a thousand a second.
fn calls(board: &RedisStore, worker: u64, over: &AtomicBool) -> Vec<Duration> {
    let mut took = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let call = observation(worker, took.len() as u64 % 50);
        let start = Instant::now();
        let _ = board.record(&call);
        took.push(start.elapsed());
        thread::park_timeout(Duration::from_millis(1));
    }
    took
}

/// Looks until a call that was never made before is found to be a loop.
pub(crate) fn finds(board: &RedisStore, call: u64) {
    until(|| board.record(&observation(1, call)).rung > 0);
}

/// Lets time pass while workers call.
pub(crate) fn pass(time: Duration) {
    let start = Instant::now();
    assert!(time < PATIENCE);
    while start.elapsed() < time {
        thread::park_timeout(time / 10);
    }
}

#[test]
fn a_server_that_is_killed_and_comes_back_is_told_again() {
    let Some(mut server) = Server::start() else { return };
    let board = hasty(&server.url("s"));
    finds(&board, 1_000);
    while_calling(&board, "killed", || {
        server.kill();
        pass(Duration::from_millis(700));
        server.revive();
        pass(Duration::from_millis(300));
    });
    let health = board.health();
    assert!(health.failed > 0 && health.last_error.is_some(), "{health:?}");
    finds(&board, 1_001);
}

#[test]
fn a_server_that_pauses_holds_nobody_up() {
    let Some(server) = Server::start() else { return };
    let board = hasty(&server.url("s"));
    finds(&board, 1_000);
    while_calling(&board, "paused", || {
        server.signal("STOP");
        pass(Duration::from_secs(2));
        server.signal("CONT");
    });
    assert!(board.health().late > 0);
    finds(&board, 1_001);
}

#[test]
fn a_server_without_memory_refuses_and_is_asked_again() {
    let Some(server) = Server::with(&["--maxmemory-policy", "noeviction"]) else { return };
    let board = hasty(&server.url("s"));
    finds(&board, 1_000);
    while_calling(&board, "out of memory", || {
        server.ask::<()>("CONFIG SET maxmemory 1mb");
        pass(Duration::from_millis(300));
    });
    let error = board.health().last_error.expect("it was refused");
    assert!(error.contains("OOM"), "{error}");
    server.ask::<()>("CONFIG SET maxmemory 0");
    finds(&board, 1_001);
}

#[test]
fn a_server_that_forgets_the_functions_is_given_them_again() {
    let Some(server) = Server::start() else { return };
    let board = server.board("s");
    for call in 0..3 {
        assert_eq!(board.record(&observation(1, call)).rung, 0);
        server.ask::<()>("FUNCTION FLUSH");
        assert_eq!(board.record(&observation(1, call)).rung, 1, "no call is lost");
    }
    assert_eq!(board.health().failed, 0);
}

#[test]
fn a_user_who_may_not_is_told_so() {
    let Some(server) = Server::start() else { return };
    server.ask::<()>("ACL SETUSER weak on >pw ~* +@all -fcall -function");
    let board = hasty(&server.url("s").replace("://", "://weak:pw@"));
    until(|| {
        let _ = board.record(&observation(1, 1));
        board.health().last_error.is_some_and(|error| error.contains("NOPERM"))
    });
    server.ask::<()>("ACL SETUSER weak +@all");
    finds(&board, 2);
}

#[test]
fn a_replica_is_left_for_another_server() {
    let (Some(first), Some(second)) = (Server::start(), Server::start()) else { return };
    first.ask::<()>(&format!("REPLICAOF 127.0.0.1 {}", second.port()));
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", first.port(), second.port());
    let board = RedisStore::open(settings(&format!("redis://{hosts}/?swarm=s")));
    finds(&board, 1);
    assert_eq!(second.ask::<Vec<String>>("KEYS *").len(), 2);
}

#[test]
fn where_nobody_is_the_next_server_is_asked() {
    let Some(server) = Server::start() else { return };
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", crate::server::free_port(), server.port());
    let board = RedisStore::open(settings(&format!("redis://{hosts}/?swarm=s")));
    finds(&board, 1);
}

#[test]
fn a_reply_that_comes_late_is_known_to_who_asks_next() {
    let Some(server) = Server::start() else { return };
    let board = hasty(&server.url("s"));
    finds(&board, 1_000);
    let call = observation(1, 1);
    server.signal("STOP");
    assert_eq!([board.record(&call).rung, board.record(&call).rung], [0, 0]);
    assert_eq!(board.look(call.call).rung, 0);
    server.signal("CONT");
    until(|| board.look(call.call).rung == 1);
}

#[test]
fn what_was_told_before_the_end_is_counted() {
    let Some(server) = Server::start() else { return };
    let board = server.board("s");
    for worker in 0..1_000 {
        board.record_detached(&observation(worker % 7, 1), "");
    }
    drop(board);
    let finding = server.board("s").record(&observation(0, 1)).finding.expect("it is a loop");
    assert_eq!((finding.calls, finding.workers), (1_001, 7));
}
