//! The number of workers: exact for a few, estimated for many.

use std::time::Duration;

use unstuck_swarm::redis::{RedisStore, Settings};
use unstuck_swarm::{Digest, SwarmStore as _};

use crate::counts::{counts, observation, record_all};
use crate::server::Server;

/// Lets each of `workers` workers call twice, and returns the number that the server reports at the end.
fn counted_workers(store: &RedisStore, call: u64, workers: u32) -> u32 {
    let first = call * 10_000;
    let all = first..first + u64::from(workers);
    record_all(store, all.clone().chain(all).map(|worker| observation(worker, call)));
    counts(store.record(&observation(first, call))).1
}

#[test]
fn workers_are_exact_up_to_sixty_four() {
    let server = Server::start();
    let store = server.store("s");
    for worker in 0..64_u32 {
        for again in 1..=2 {
            let (calls, workers) = counts(store.record(&observation(worker.into(), 1)));
            let expected = worker * 2 + again;
            let exact = if expected == 1 { (0, 0) } else { (expected, worker + 1) };
            assert_eq!((calls, workers), exact);
        }
    }
    let (calls, workers) = counts(store.record(&observation(64, 1)));
    assert_eq!(calls, 129);
    assert!((40..=110).contains(&workers), "{workers} instead of 65");
}

/// With a standard error of one part in eight; the swarm's secret fixes the hashes, and so the errors.
#[test]
fn the_number_of_many_workers_is_about_right() {
    let server = Server::start();
    let store = server.store("s");
    let mut squares = 0.0;
    let sizes: [u32; 8] = [65, 100, 200, 500, 1_000, 1_000, 2_000, 3_000];
    for (call, size) in (0..).zip(sizes) {
        let estimate = counted_workers(&store, call, size);
        let error = f64::from(estimate) / f64::from(size) - 1.0;
        println!("{size} workers are counted as {estimate}: {:+.1} %", error * 100.0);
        assert!(error.abs() < 0.5, "{estimate} of {size}");
        squares += error * error;
    }
    let error = (squares / 8.0_f64).sqrt();
    assert!(error < 0.25, "the error is {error}");
}

#[test]
fn a_worker_that_calls_again_is_counted_once() {
    let server = Server::start();
    let store = server.store("s");
    let estimate = counted_workers(&store, 0, 400);
    for worker in (0..400).rev() {
        assert_eq!(counts(store.record(&observation(worker, 0))).1, estimate);
    }
}

/// With this secret the estimate is far too low at 1,100 workers.
#[test]
fn many_workers_who_read_the_same_once_are_not_accused() {
    let server = Server::start();
    let settings =
        Settings::parse(&server.url("s"), b"of this swarm, number 1047").expect("it is one");
    let store = RedisStore::open(settings.deadline(Duration::from_secs(1)).expect("it is allowed"));
    let read = |worker| observation(worker, 1).ok(Digest::of(b"text"));
    for hundred in 0..15 {
        record_all(&store, (0..99).map(|worker| read(hundred * 100 + worker)));
        let verdict = store.record(&read(hundred * 100 + 99));
        assert_eq!(verdict.finding, None, "{hundred} hundred");
    }
    assert_eq!(store.health().answered, 1_500);
}
