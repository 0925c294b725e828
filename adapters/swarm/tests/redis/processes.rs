//! Workers in several processes, which share only the server.

use std::process::{Child, Command, Stdio};

use unstuck_swarm::Rule;
use unstuck_swarm::redis::{RedisStore, Watch};

use crate::counts::{observation, record_all};
use crate::server::{Server, settings, until};

/// The variables that make a process a worker, with its number and its swarm.
const WORKER: &str = "UNSTUCK_TEST_WORKER";

const PROCESSES: u64 = 8;
const CALLS: u64 = 10_000;

/// The number of different calls that they make.
const DIFFERENT: u64 = 16;

/// Does the work of a worker process. In other processes it does nothing.
#[test]
fn a_worker_records_all_its_calls() {
    let Ok(word) = std::env::var(WORKER) else { return };
    let (number, url) = word.split_once(' ').expect("it is a number and an address");
    let number: u64 = number.parse().expect("it is a number");
    let store = RedisStore::open(settings(url));
    record_all(&store, (0..CALLS).map(|call| observation(number, call % DIFFERENT)));
    until(|| store.health().answered == CALLS);
    assert_eq!(store.health().last_error, None);
}

fn worker(number: u64, url: &str) -> Child {
    let own = std::env::current_exe().expect("it runs");
    Command::new(own)
        .args(["--exact", "processes::a_worker_records_all_its_calls"])
        .env(WORKER, format!("{number} {url}"))
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts")
}

#[test]
fn no_call_of_eight_processes_is_lost_or_counted_twice() {
    let server = Server::start();
    let url = server.url("s");
    let workers: Vec<_> = (0..PROCESSES).map(|number| worker(number, &url)).collect();
    for mut worker in workers {
        assert!(worker.wait().expect("it has ended").success());
    }
    let settings = server.settings("s").rule(Rule::default()).expect("it can work");
    let mut watch = Watch::open(&settings).expect("it can be watched");
    let hot = watch.hottest(99).expect("it answers");
    let expected = u32::try_from(PROCESSES * CALLS / DIFFERENT).expect("it is small");
    assert_eq!(hot.len() as u64, DIFFERENT);
    assert!(hot.iter().all(|hot| (hot.calls, hot.workers) == (expected, 8)), "{hot:?}");
}
