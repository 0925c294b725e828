//! Sessions that repeat the same call together, and the commands that show the swarm.

mod server;

use std::fs;
use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use unstuck_swarm::redis::{RedisStore, Settings};
use unstuck_swarm::{Digest, Observation, Tool, Worker};

use self::server::Server;
use crate::harness::{Folder, Ran, program, program_at};
use crate::hook::{Hooks, Wire, answered};

const SECRET: &str = "UNSTUCK_SWARM_SECRET";

/// The secret of all swarms in these tests.
const HUSH: &str = "000102030405060708090a0b0c0d0e0f";

/// Returns the events of a session for a failing call: before and after it.
fn failing(session: &str) -> [Value; 2] {
    let wire = Wire("claude-code");
    let call = json!({
        "tool_name": "run", "tool_input": { "command": "npm ci" }, "tool_use_id": "1",
        "error": "403 Forbidden",
    });
    let [before, after] = ["PreToolUse", "PostToolUseFailure"];
    [before, after].map(|name| {
        let mut event = wire.event(name, name, &call);
        event["session_id"] = session.into();
        event
    })
}

/// Returns the answers to one such call of a session, before and after it.
fn answers(hooks: &Hooks, session: &str) -> [String; 2] {
    failing(session).map(|event| {
        let mut command = hooks.command();
        answered(command.env(SECRET, HUSH), event.to_string().as_bytes())
    })
}

fn watch(arguments: &[&str]) -> Ran {
    Ran::by(program().arg("swarm").args(arguments).env(SECRET, HUSH))
}

/// Reports `calls` calls of `tool` by `workers` workers to a swarm.
fn fill(url: &str, tool: &str, calls: usize, workers: usize) {
    let settings = Settings::parse(url, HUSH.as_bytes()).expect("a swarm");
    let settings = settings.deadline(Duration::from_secs(1)).expect("a deadline");
    let board = RedisStore::open(settings);
    for n in 0..calls {
        let worker = Worker::named(&(n % workers).to_string());
        let call = Observation::new(worker, Tool::named(tool), Digest::of(tool.as_bytes()));
        let _ = board.record_named(&call.failed(Digest::of(b"no")), tool);
    }
    assert_eq!(board.health().answered, u64::try_from(calls).expect("a few"), "{board:?}");
}

#[test]
fn sessions_that_are_stuck_together_get_a_note() {
    let server = Server::start();
    let url = server.url("nightly");
    let hooks = Hooks::of("claude-code").with(&["--swarm", &url]);
    // Each session makes the call once, so none is stuck alone. On a busy machine an answer may
    // come too late, and then the next session asks.
    let mut sessions = (0..100).map(|n| {
        let _ = fs::remove_file(hooks.folder().join("swarm.rest"));
        (n, answers(&hooks, &n.to_string()))
    });
    let first = sessions.find(|(_, said)| said.iter().any(|said| !said.is_empty()));
    let (n, [before, after]) = first.expect("a session that gets a note");
    assert!(n >= 9 && before.is_empty(), "{n}: {before}");
    assert!(after.contains("workers have made the same `run` call 1"), "{after}");
    let mut status = program();
    status.arg("status").env("XDG_STATE_HOME", hooks.folder().parent().expect("a folder"));
    let status = Ran::by(&mut status).out;
    assert!(status.contains(" workers, failing alike: nudge"), "{status}");
}

#[test]
fn a_call_of_this_machine_is_shown_with_its_arguments() {
    let server = Server::start();
    let url = server.url("nightly");
    let hooks = Hooks::of("claude-code").with(&["--swarm", &url]);
    for session in 0..12 {
        let _ = fs::remove_file(hooks.folder().join("swarm.rest"));
        answers(&hooks, &session.to_string());
    }
    let home = Folder::new();
    let watched = || {
        let mut command = program_at(home.path());
        let words = ["swarm", "watch", "--swarm", &url, "--once", "--calls", "2"];
        Ran::by(command.args(words).env(SECRET, HUSH)).out
    };
    assert!(!watched().contains("npm ci"), "no session of this machine has the call");
    let use_id = "toolu_1";
    let lines = [
        json!({"type": "user", "uuid": "1", "parentUuid": null, "sessionId": "s", "message": {
            "role": "user", "content": "Install it."}}),
        json!({"type": "assistant", "uuid": "2", "parentUuid": "1", "sessionId": "s", "message": {
            "role": "assistant", "id": "m", "content": [{"type": "tool_use", "id": use_id, "name": "run",
            "input": {"command": "npm ci"}}]}}),
        json!({"type": "user", "uuid": "3", "parentUuid": "2", "sessionId": "s", "message": {
            "role": "user", "content": [{"type": "tool_result", "tool_use_id": use_id, "is_error": true,
            "content": "403 Forbidden"}]}}),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    home.file(".claude/projects/-a/s.jsonl", lines + "\n");
    let shown = watched();
    assert!(shown.contains("\n                  {\"command\":\"npm ci\"}\n"), "{shown}");
}

#[test]
fn without_its_server_or_its_secret_a_session_is_watched_alone() {
    let folder = Folder::new();
    let gone = format!("redis+unix://{}?swarm=a", folder.path().join("gone").display());
    let alone = Hooks::of("claude-code");
    let among = || Hooks::of("claude-code").with(&["--swarm", &gone]);
    let (deaf, dumb) = (among(), among());
    for n in 0..4 {
        for event in failing("s") {
            let mut event = event;
            event["tool_use_id"] = n.to_string().into();
            let payload = event.to_string();
            let said = alone.tell(&payload);
            assert_eq!(said.is_empty(), n != 2 || event["hook_event_name"] == "PreToolUse");
            let mut command = deaf.command();
            assert_eq!(answered(command.env(SECRET, HUSH), payload.as_bytes()), said);
            assert_eq!(dumb.tell(&payload), said);
        }
    }
    assert!(alone.log().is_empty());
    // All hooks know by then that the server does not answer.
    assert!(deaf.folder().join("swarm.rest").exists());
    let (deaf, dumb) = (deaf.log(), dumb.log());
    assert!(deaf[0].contains("claude-code: swarm: "), "{deaf:?}");
    assert_eq!(dumb.len(), 8, "{dumb:?}");
    assert!(dumb[0].contains("swarm: UNSTUCK_SWARM_SECRET is not set"), "{dumb:?}");
}

#[test]
fn a_swarm_is_printed_as_a_table_and_as_lines() {
    let server = Server::start();
    let url = server.url("nightly");
    fill(&url, "npm_ci", 23, 5);
    fill(&url, "read_file", 6, 3);
    let ran = watch(&["watch", "--swarm", &url, "--once"]).quiet(1);
    let (head, rows) = ran.out.split_once('\n').expect("lines");
    let (place, time) = head.split_once("  1 loop  ").expect("a title");
    assert!(place.starts_with("swarm nightly on /") && time.ends_with(" UTC"), "{head}");
    insta::assert_snapshot!("a_swarm_as_a_table", rows);

    let line = |format: &[&str]| {
        watch(&[&["watch", "--swarm", &url, "--once", "--limit", "1"], format].concat())
    };
    let old = line(&["--json"]).only_line();
    let ran = line(&["--format", "jsonl"]);
    assert_eq!(old["loop"], ran.only_line()["loop"], "the old spelling");
    assert_eq!((ran.exit, ran.err.as_str()), (1, ""));
    let mut line = ran.only_line();
    for varies in ["at", "last_call_ms_ago"] {
        assert!(line[varies].is_u64(), "{line}");
        line[varies] = 0.into();
    }
    insta::assert_snapshot!("a_swarm_as_a_line", line);

    let patient = ["watch", "--swarm", &url, "--once", "--calls", "24", "--workers", "3"];
    assert_eq!(watch(&patient).exit, 0, "no loop by that rule");
    let cleared = watch(&["clear", "--swarm", &url]);
    assert_eq!((cleared.exit, &*cleared.out), (0, "nightly: all counts were cleared\n"));
    let ran = watch(&["watch", "--swarm", &url, "--once"]);
    assert!(ran.exit == 0 && ran.out.contains("no call is near a loop"), "{ran:?}");
}

/// Makes a certificate for 127.0.0.1, and one of the authority that signed it.
fn certificates(folder: &Folder) {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "9"];
    let authority = ["-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem"];
    let own =
        ["-subj", "/CN=server", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "own.key"];
    let signed =
        ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=critical,CA:FALSE"];
    for words in [&authority[..], &[&own[..], &signed, &["-out", "own.pem"]].concat()] {
        let mut command = Command::new("openssl");
        command.args(["req", "-x509"]).args(key).args(words).current_dir(folder.path());
        let output =
            command.output().expect("openssl; on Debian, apt-get install openssl brings it");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_server_is_asked_over_tls_with_a_password_from_the_environment() {
    let folder = Folder::new();
    certificates(&folder);
    let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr());
    let port = port.expect("a free port").port().to_string();
    let options = [
        &["--bind", "127.0.0.1", "--tls-port", &port, "--tls-cert-file", "own.pem"][..],
        &["--tls-key-file", "own.key", "--tls-ca-cert-file", "ca.pem", "--tls-auth-clients", "no"],
        &["--requirepass", "open sesame"],
    ];
    let server = Server::with(folder, &options.concat());
    let ask = |url: &str, variables: &[(&str, &str)]| {
        let mut command = program();
        command.args(["swarm", "watch", "--once", "--swarm", url]).current_dir(server.folder());
        command.env(SECRET, HUSH).envs(variables.iter().copied());
        let ran = Ran::by(&mut command);
        assert!(!ran.out.contains("sesame") && !ran.err.contains("sesame"), "{ran:?}");
        ran
    };
    let (trust, password) =
        (("SSL_CERT_FILE", "ca.pem"), ("UNSTUCK_SWARM_PASSWORD", "open sesame"));
    let url = format!("rediss://127.0.0.1:{port}?swarm=nightly");
    let ran = ask(&url, &[trust, password]);
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(ran.out.contains("no call is near a loop"), "{ran:?}");
    // A password in the address still works.
    let ran = ask(&url.replace("//", "//:open%20sesame@"), &[trust]);
    assert_eq!(ran.exit, 0, "{ran:?}");
    // The one of the environment counts.
    let ran = ask(&url.replace("//", "//:other@"), &[trust, password]);
    assert_eq!(ran.exit, 0, "{ran:?}");
    for (url, variables, why) in [
        // The authority is not known.
        (url.clone(), &[password][..], "certificate"),
        // The certificate is not one for this name.
        (url.replace("127.0.0.1", "localhost"), &[trust, password], "certificate"),
        // The server speaks TLS, and the client does not.
        (url.replace("rediss", "redis"), &[password], "cannot be asked"),
        (url.clone(), &[trust], "NOAUTH"),
        (url.clone(), &[trust, ("UNSTUCK_SWARM_PASSWORD", "shut")], "password"),
    ] {
        let ran = ask(&url, variables);
        let said = ran.out.replace('\n', " ");
        assert!(ran.exit == 3 && said.contains(why), "{url}: {ran:?}");
    }
}

#[test]
fn the_doctor_checks_the_swarm_server() {
    let server = Server::start();
    let home = Folder::new();
    let run = |arguments: &[&str], secret: &str| {
        let mut command = program_at(home.path());
        command.env_remove("XDG_STATE_HOME").env_remove("UNSTUCK_STATE_DIR");
        Ran::by(command.args(arguments).env(SECRET, secret).current_dir(home.path())).out
    };
    let url = server.url("nightly");
    let said = run(&["install", "gemini", "--swarm", &url], HUSH);
    assert!(said.contains("hook gemini --swarm"), "{said}");
    let well = run(&["doctor"], HUSH);
    assert!(well.contains("its swarm nightly answers"), "{well}");
    let unset = run(&["doctor"], "");
    assert!(unset.contains("runs without its swarm: "), "{unset}");
    drop(server);
    let gone = run(&["doctor"], HUSH);
    assert!(gone.contains("without its swarm nightly for now"), "{gone}");
    assert!(gone.contains("works"), "{gone}");
}
