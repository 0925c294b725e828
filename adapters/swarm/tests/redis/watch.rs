//! The view of the observers of a swarm.

use unstuck_swarm::redis::{RedisError, RedisStore, Settings, Watch};
use unstuck_swarm::{Action, Allowance, Digest, Outcome, Rule, SwarmStore as _, Tool};

use crate::counts::{counts, observation};
use crate::server::{SECRET, Server, free_port, settings_of, talkative};

#[test]
fn the_hottest_calls_are_shown_by_their_numbers() {
    let server = Server::start();
    let rule = Rule::default().calls(4).tool(Tool::named("read"), Allowance::Once);
    let settings = server.settings("s").rule(rule).expect("it can work");
    let store = RedisStore::open(settings.clone());
    let failed = observation(0, 1).failed(Digest::of(b"e"));
    let mut read = observation(0, 2).ok(Digest::of(b"r"));
    read.tool = Tool::named("read");
    for (it, tool, calls) in [(failed, "make all;\n`rm`", 8_u64), (read, "read", 7)] {
        for worker in 0..calls {
            let mut it = it;
            it.worker = observation(worker % 3, 0).worker;
            let _ = store.record_named(&it, tool);
        }
    }
    let _ = store.record_named(&observation(0, 3), "seldom");
    let id = store.look(failed.call).finding.expect("it is a loop").loop_id;
    let mut watch = Watch::open(&settings).expect("it can be watched");
    let hot = watch.hottest(9).expect("it answers");
    let seen: Vec<_> = hot
        .iter()
        .map(|hot| (hot.tool.as_str(), hot.calls, hot.workers, hot.outcome, hot.rung, hot.action))
        .collect();
    assert_eq!(
        seen,
        [
            ("make_all___rm_", 8, 3, Outcome::Failed, 2, Action::Warn),
            ("read", 7, 3, Outcome::Worked, 1, Action::Nudge),
        ]
    );
    assert_eq!(hot[0].loop_id, id);
    assert!(hot.iter().all(|hot| hot.last_seen_ms_ago < 600_000));
    // A millisecond later its age is a millisecond more.
    let hottest = watch.hottest(1).expect("it answers");
    assert_eq!(hottest.iter().map(|hot| (hot.loop_id, hot.calls)).collect::<Vec<_>>(), [(id, 8)]);
}

#[test]
fn a_call_that_one_worker_made_often_is_shown_when_another_makes_it() {
    let server = Server::start();
    let settings = server.settings("s").rule(Rule::default()).expect("it can work");
    let store = RedisStore::open(settings.clone());
    let mut watch = Watch::open(&settings).expect("it can be watched");
    for _ in 0..12 {
        let _ = store.record(&observation(0, 1).failed(Digest::of(b"e")));
    }
    assert_eq!(watch.hottest(9).expect("it answers"), []);
    let _ = store.record(&observation(1, 1).failed(Digest::of(b"e")));
    let hottest = watch.hottest(9).expect("it answers");
    assert_eq!(hottest.iter().map(|hot| (hot.calls, hot.rung)).collect::<Vec<_>>(), [(13, 1)]);
}

#[test]
fn a_swarm_that_is_cleared_begins_anew() {
    let server = Server::start();
    let (store, other) = (server.store("s"), server.store("t"));
    let mut watch = Watch::open(&server.settings("s")).expect("it can be watched");
    for round in 0..3 {
        for store in [&store, &other] {
            let _ = store.record(&observation(1, 1));
            let _ = store.record(&observation(1, 1));
        }
        assert_eq!(counts(store.record(&observation(2, 1))), (3, 2));
        assert_eq!(counts(other.record(&observation(2, 1))), (3 * (round + 1), 2));
        assert_eq!(watch.hottest(9).expect("it answers").len(), 1);
        watch.clear().expect("it can be cleared");
        assert_eq!(watch.hottest(9).expect("it answers"), []);
    }
}

#[test]
fn cleared_calls_do_not_come_back_with_the_next_clear() {
    let server = Server::start();
    let store = server.store("s");
    let mut watch = Watch::open(&server.settings("s")).expect("it can be watched");
    for call in 0..200 {
        watch.clear().expect("it can be cleared");
        assert_eq!(counts(store.record(&observation(1, call))), (0, 0));
        for _ in 0..2 {
            watch.clear().expect("it can be cleared");
        }
        assert_eq!(counts(store.record(&observation(1, call))), (0, 0), "clear {call}");
    }
}

#[test]
fn no_more_calls_are_hot_than_there_is_room_for() {
    let server = Server::start();
    let store = server.store("s");
    for call in 0..400 {
        store.record_detached(&observation(1, call), "bash");
    }
    let _ = store.record(&observation(1, 400));
    let kept: Vec<String> = server.ask("KEYS *:hot:*");
    assert_eq!(server.ask::<u32>(&format!("ZCARD {}", kept[0])), 256);
    let mut watch = Watch::open(&server.settings("s")).expect("it can be watched");
    assert_eq!(watch.hottest(999).expect("it answers").len(), 256);
}

#[test]
fn an_observer_without_the_secret_sees_nothing() {
    let server = Server::start();
    let store = server.store("s");
    for _ in 0..9 {
        let _ = store.record(&observation(1, 1));
    }
    let settings = settings_of(&server.url("s"), b"of another swarm");
    let mut watch = Watch::open(&settings).expect("it can be watched");
    assert_eq!(watch.hottest(9).expect("it answers"), []);
    watch.clear().expect("it can be cleared");
    assert_eq!(counts(store.record(&observation(1, 1))), (10, 1), "another's clear");
}

#[test]
fn an_observer_gets_an_error_that_says_why() {
    let url = format!("redis://127.0.0.1:{}/?swarm=s", free_port());
    let settings = Settings::parse(&url, SECRET).expect("it is an address");
    let error = Watch::open(&settings).expect_err("there is no server");
    assert!(matches!(error, RedisError::Unreachable { .. }), "{error}");
    let server = Server::with(&["--requirepass", "hush"]);
    let settings = settings_with(&server, "wrong");
    let error = Watch::open(&settings).expect_err("the password is wrong").to_string();
    assert!(error.contains("127.0.0.1") && error.contains("password"), "{error}");
    assert!(!error.contains("hush") && !error.contains("wrong"), "{error}");
    assert!(Watch::open(&settings_with(&server, "hush")).is_ok());
}

fn settings_with(server: &Server, password: &str) -> Settings {
    let url = server.url("s").replace("://", &format!("://:{password}@"));
    let settings = Settings::parse(&url, SECRET).expect("it is an address");
    settings.rule(talkative()).expect("it can work")
}
