//! Workers that are tasks of one runtime.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use unstuck_swarm::Verdict;
use unstuck_swarm::redis::RedisStore;

use crate::counts::{counts, observation};
use crate::liar::{Liar, Lie};
use crate::server::{Server, settings};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("it can be made")
}

#[test]
fn tasks_share_a_connection_and_each_gets_its_own_count() {
    let server = Server::start();
    let store = std::sync::Arc::new(server.store("s"));
    let mut verdicts = runtime().block_on(async {
        let mut tasks = JoinSet::new();
        for worker in 0..100 {
            let store = store.clone();
            tasks.spawn(
                async move { store.record_async(&observation(worker % 5, 1), "bash").await },
            );
        }
        tasks.join_all().await
    });
    verdicts.sort_by_key(|verdict| counts(*verdict));
    let calls: Vec<_> = verdicts.iter().map(|verdict| counts(*verdict).0).collect();
    assert_eq!(calls, [&[0][..], &(2..=100).collect::<Vec<_>>()].concat());
    assert_eq!(counts(verdicts[99]).1, 5);
    let clients: String = server.ask("CLIENT LIST");
    assert_eq!(clients.lines().count(), 2, "the store and this: {clients}");
}

#[test]
fn a_task_waits_at_most_its_deadline_and_blocks_no_other() {
    let liar = Liar::start(Lie::Nothing);
    // Before the time-out of the connection, which also ends the wait.
    let settings = settings(&liar.url()).deadline(Duration::from_millis(500));
    let store = std::sync::Arc::new(RedisStore::open(settings.expect("it is usual")));
    runtime().block_on(async {
        let store = store.clone();
        let waits = tokio::spawn(async move { store.record_async(&observation(1, 1), "").await });
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(!waits.is_finished(), "another task runs in the meantime");
        assert_eq!(waits.await.ok(), Some(Verdict::PROCEED));
    });
    assert_eq!(store.health().late, 1);
}
