//! Counts of calls and workers, and their expiry.

use std::collections::{HashMap, HashSet};

use unstuck_swarm::redis::RedisStore;
use unstuck_swarm::{
    Action, Allowance, Digest, Finding, Key, Observation, Outcome, Rule, SwarmStore as _, Tool,
    Verdict, Window, Worker,
};

use crate::server::{SECRET, Server, settings, settings_of, talkative, until, words};

pub(crate) fn observation(worker: u64, call: u64) -> Observation {
    let call = Digest::of(&call.to_le_bytes());
    Observation::new(Worker::new(worker), Tool::named("bash"), call)
}

/// Returns the calls and the workers of a verdict.
pub(crate) fn counts(verdict: Verdict) -> (u32, u32) {
    verdict.finding.map_or((0, 0), |Finding { calls, workers, .. }| (calls, workers))
}

/// Records all observations without waiting for each, and at most as many at a time as the queue has room for.
pub(crate) fn record_all(store: &RedisStore, observations: impl Iterator<Item = Observation>) {
    let before = store.health().answered;
    for (sent, observation) in (before..).zip(observations) {
        until(|| sent - store.health().answered < 2_048);
        store.record_detached(&observation, "bash");
    }
}

#[test]
fn a_loop_climbs_the_ladder_of_its_rule() {
    let server = Server::start();
    let rule = Rule::default().calls(3).workers(2).strongest(Action::Block);
    let store = RedisStore::open(server.settings("s").rule(rule).expect("it can work"));
    let actions: Vec<_> =
        (0..10).map(|call| store.record(&observation(call % 2, 1)).action).collect();
    let (p, n, w, b) = (Action::Proceed, Action::Nudge, Action::Warn, Action::Block);
    assert_eq!(actions, [p, p, n, n, n, w, w, w, b, b]);
    let call = observation(0, 1).call;
    assert_eq!((store.look(call).action, store.look(Digest::new(0)).action), (b, p));
    assert_eq!(store.health().last_error, None);
}

#[test]
fn a_finding_has_the_outcome() {
    let server = Server::start();
    let store = server.store("s");
    let plain = observation(1, 1);
    let answer = Digest::of(b"no such file");
    let cases = [
        (plain, Outcome::Unknown, 75),
        (plain.ok(answer), Outcome::Worked, 100),
        (plain.failed(answer), Outcome::Failed, 100),
    ];
    for (observation, outcome, confidence) in cases {
        assert_eq!(store.record(&observation).finding, None, "{outcome:?} has been counted before");
        let finding = store.record(&observation).finding.expect("two calls are a loop");
        assert_eq!((finding.outcome, finding.confidence), (outcome, confidence));
        assert_eq!((finding.calls, finding.workers, finding.missed), (2, 1, 0));
    }
}

/// Compares the counts of random calls with a naive model.
#[test]
fn random_observations_are_counted_as_by_hand() {
    let server = Server::start();
    let once = Tool::named("read_file");
    let rule = talkative().tool(once, Allowance::Once).worked(Allowance::Any);
    let store = RedisStore::open(server.settings("s").rule(rule).expect("it can work"));
    let mut calls: HashMap<Key, (u32, HashSet<Worker>)> = HashMap::new();
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..3_000 {
        let mut it = observation(random.u64(..20), random.u64(..12));
        it.tool = random.choice([once, it.tool]).expect("there are two");
        it.call = it.call.mix(Digest::new(u64::from(it.tool == once)));
        let result = Digest::new(random.u64(..2));
        it = random.choice([it, it.failed(result), it.ok(result)]).expect("there are three");
        let reply = counts(store.record(&it));
        if it.tool != once && it.result.is_some_and(|result| !result.failed) {
            assert_eq!(reply, (0, 0), "it is allowed");
            continue;
        }
        let (made, workers) = calls.entry(it.key()).or_default();
        *made += 1;
        workers.insert(it.worker);
        let distinct = u32::try_from(workers.len()).expect("they are few");
        let counted = if it.tool == once { *made - distinct } else { *made };
        assert_eq!(reply, if counted < 2 { (0, 0) } else { (*made, distinct) });
    }
    assert_eq!(store.health().last_error, None);
}

#[test]
fn a_call_counts_for_half_the_span_at_least_and_for_all_of_it_at_most() {
    let server = Server::start();
    let rule = talkative().window(Window::Time { span: 600 });
    let store = RedisStore::open(server.settings("s").rule(rule).expect("it can work"));
    let mut connection = server.connection();
    let mut generation = || {
        let (seconds, micros): (u64, u64) =
            words("TIME").query(&mut connection).expect("it has a clock");
        (seconds * 1000 + micros / 1000) / 300
    };
    // The counted calls, with the generation before and after the call.
    let mut record = |worker| {
        let before = generation();
        let reply = counts(store.record(&observation(worker, 1)));
        (reply, before, generation())
    };
    let mut all = Vec::new();
    until(|| {
        all.push(record(all.len() as u64 % 7));
        all.last().expect("there is one").1 >= all[0].1 + 3
    });
    for (index, (reply, before, after)) in all.iter().enumerate().skip(1) {
        let counted_from = |first: u64| {
            let calls = all[..=index].iter().filter(|(_, _, generation)| *generation >= first);
            u32::try_from(calls.count()).expect("they are few")
        };
        let range = counted_from(after - 1).min(1)..=counted_from(before - 1);
        let least = all[..=index].iter().filter(|(_, generation, _)| *generation + 1 >= *after);
        let least = u32::try_from(least.count()).expect("they are few");
        let reply = reply.0.max(1);
        assert!(range.contains(&reply) && reply >= least, "{reply} of {range:?}, {least} at least");
    }
}

#[test]
fn calls_that_are_no_longer_made_expire_on_the_server() {
    let server = Server::start();
    let rule = talkative().window(Window::Time { span: 300 });
    let store = RedisStore::open(server.settings("s").rule(rule).expect("it can work"));
    for call in 0..50 {
        let _ = store.record(&observation(1, call / 2));
    }
    let mut connection = server.connection();
    let mut size = || words("DBSIZE").query::<u64>(&mut connection).expect("it has a size");
    assert!(size() > 0);
    until(|| size() == 0);
}

#[test]
fn every_key_expires_no_sooner_than_the_window_ends() {
    let server = Server::start();
    let store = server.store("s");
    for _ in 0..4 {
        let _ = store.record(&observation(1, 1));
    }
    let keys: Vec<String> = server.ask("KEYS *");
    assert_eq!(keys.len(), 2, "{keys:?}");
    for key in keys {
        let lives: i64 = server.ask(&format!("PTTL {key}"));
        // A hot call is shown until it is sure to be added again.
        let span = if key.contains(":hot:") { 7_200_000 } else { 3_600_000 };
        assert!((span - 100_000..=span).contains(&lives), "{key} lives {lives}");
    }
}

#[test]
fn the_first_call_of_each_worker_is_free() {
    let server = Server::start();
    let rule = talkative().calls(4).tool(Tool::named("bash"), Allowance::Once);
    let store = RedisStore::open(server.settings("s").rule(rule).expect("it can work"));
    for worker in 0..200 {
        assert_eq!(counts(store.record(&observation(worker, 1))), (0, 0), "worker {worker}");
    }
    for worker in 0..12 {
        assert_eq!(store.record(&observation(worker, 2)).rung, 0);
    }
    let rungs: Vec<_> = (0..5).map(|_| store.record(&observation(0, 2)).rung).collect();
    assert_eq!(rungs, [0, 0, 0, 1, 1]);
}

#[test]
fn swarms_and_secrets_do_not_see_each_other() {
    let server = Server::start();
    let other = settings_of(&server.url("s"), b"of another swarm");
    let stores = [server.settings("s"), server.settings("t"), other].map(RedisStore::open);
    for calls in [0, 2, 3] {
        for store in &stores {
            assert_eq!(counts(store.record(&observation(1, 1))), (calls, u32::from(calls > 0)));
        }
    }
}

#[test]
fn the_server_has_no_digest_of_a_call_or_a_worker() {
    let server = Server::start();
    let store = server.store("s");
    let names = ["w1", "w2", "w3"].map(Worker::named);
    let call = Digest::of(b"curl http://example.org/?password=hush");
    let calls = names.map(|worker| Observation::new(worker, Tool::named("bash"), call));
    for it in calls.iter().cycle().take(9) {
        let _ = store.record_named(&it.failed(Digest::of(b"hush")), "bash -c 'hush'");
    }
    let held = dump(&server);
    let key = calls[0].failed(Digest::of(b"hush")).key().digest();
    let digests = names.map(Worker::digest).into_iter().chain([call, key, Digest::of(b"hush")]);
    for bits in digests.map(Digest::bits) {
        for part in [bits.to_le_bytes(), bits.to_be_bytes()] {
            assert!(!held.windows(4).any(|bytes| part.windows(4).any(|own| own == bytes)));
        }
        let text = format!("{bits:016x}");
        assert!(!held.windows(16).any(|bytes| bytes == text.as_bytes()));
    }
    for word in [&b"w1"[..], b"hush'", b"' ", SECRET, b"curl", b"password"] {
        assert!(!held.windows(word.len()).any(|bytes| bytes == word), "{}", word.escape_ascii());
    }
}

/// Returns all keys and all values.
fn dump(server: &Server) -> Vec<u8> {
    let mut held = Vec::new();
    let mut connection = server.connection();
    for key in server.ask::<Vec<String>>("KEYS *") {
        held.extend_from_slice(key.as_bytes());
        let kind: String = server.ask(&format!("TYPE {key}"));
        let read = if kind == "zset" { "ZRANGE {} 0 -1 WITHSCORES" } else { "GET {}" };
        let read = words(&read.replace("{}", &key));
        match read.query(&mut connection).expect("it can be read") {
            redis::Value::Array(parts) => held.extend(parts.iter().flat_map(|part| match part {
                redis::Value::BulkString(bytes) => bytes.clone(),
                other => format!("{other:?}").into_bytes(),
            })),
            redis::Value::BulkString(bytes) => held.extend(bytes),
            other => held.extend(format!("{other:?}").into_bytes()),
        }
    }
    assert!(!held.is_empty());
    held
}

#[test]
fn a_board_on_a_socket_counts() {
    let folder = tempfile::tempdir().expect("there is room");
    let socket = folder.path().join("redis.sock").display().to_string();
    let _server = Server::with(&["--unixsocket", &socket]);
    let store = RedisStore::open(settings(&format!("redis+unix://{socket}?swarm=s")));
    let _ = store.record(&observation(1, 1));
    assert_eq!(counts(store.record(&observation(2, 1))), (2, 2));
}
