//! Workers that share nothing but the server: processes of their own.

use std::process::{Child, Command, Stdio};

use unstuck_swarm::Rule;
use unstuck_swarm::redis::{RedisStore, Watch};

use crate::counts::{observation, tell_all};
use crate::server::{Server, settings, until};

/// What says to a process that it is a worker, which one, and of what swarm.
const WORKER: &str = "UNSTUCK_TEST_WORKER";

const PROCESSES: u64 = 8;
const CALLS: u64 = 10_000;

/// How many different calls they make.
const DIFFERENT: u64 = 16;

/// The work of a process that was started as a worker; the others have none.
#[test]
fn a_worker_tells_of_all_its_calls() {
    let Ok(word) = std::env::var(WORKER) else { return };
    let (number, url) = word.split_once(' ').expect("it is a number and an address");
    let number: u64 = number.parse().expect("it is a number");
    let board = RedisStore::open(settings(url));
    tell_all(&board, (0..CALLS).map(|call| observation(number, call % DIFFERENT)));
    until(|| board.health().answered == CALLS);
    assert_eq!(board.health().last_error, None);
}

fn worker(number: u64, url: &str) -> Child {
    let own = std::env::current_exe().expect("it runs");
    Command::new(own)
        .args(["--exact", "processes::a_worker_tells_of_all_its_calls"])
        .env(WORKER, format!("{number} {url}"))
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts")
}

#[test]
fn no_call_of_eight_processes_is_lost_or_counted_twice() {
    let Some(server) = Server::start() else { return };
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
