//! `unstuck watch`: requests in; answers, findings and files out.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::harness::{Folder, Ran, program, record, scan, unstuck};

/// The longest wait for an answer. No test waits as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The secret of the webhooks.
pub(crate) const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// A running receiver.
struct Watching {
    child: Child,
    errors: BufReader<ChildStderr>,
    port: u16,
}

/// The answer to a request.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Watching {
    /// Starts the program on a free port, with the clock of the spans and these options.
    fn start(options: &[&str]) -> Self {
        let mut command = program();
        command.args(["watch", "--otlp", "127.0.0.1:0", "--clock", "spans", "--settle", "0"]);
        command.args(options).env("UNSTUCK_WEBHOOK_SECRET", SECRET);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a program that starts");
        let mut errors = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut seen = String::new();
        let port = loop {
            let begin = seen.len();
            assert!(errors.read_line(&mut seen).expect("UTF-8") > 0, "no address: {seen}");
            if let Some((_, address)) =
                seen[begin..].split_once("receives spans at http://127.0.0.1:")
            {
                break address
                    .split('/')
                    .next()
                    .and_then(|port| port.parse().ok())
                    .expect("a port");
            }
        };
        Self { child, errors, port }
    }

    /// Sends bytes as they are and reads the answer to its end.
    fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        // The server may answer before it has read everything.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::of(&answer)
    }

    fn request(&self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let headers = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers: String = headers.collect();
        let head = format!(
            "{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
            body.len()
        );
        self.send(&[head.as_bytes(), body].concat())
    }

    /// Sends spans, which have to be taken in.
    fn export(&self, request: &Value) {
        let answer = self.post("application/json", request.to_string().as_bytes());
        assert_eq!((answer.status, &*answer.body), (200, &b"{}"[..]), "{answer:?}");
    }

    fn post(&self, kind: &str, body: &[u8]) -> Answer {
        self.request("POST /v1/traces", &[("Content-Type", kind)], body)
    }

    fn metrics(&self) -> String {
        let answer = self.request("GET /metrics", &[], b"");
        assert_eq!(answer.status, 200);
        String::from_utf8(answer.body).expect("UTF-8")
    }

    /// Ends the program by a signal and returns what it printed since its start.
    fn end(mut self) -> Ran {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).expect("a running program");
        let mut err = String::new();
        self.errors.read_to_string(&mut err).expect("UTF-8");
        let mut ran = Ran::of(self.child.wait_with_output().expect("a program that ends"));
        ran.err = err;
        ran
    }

    /// Kills the program at once.
    fn kill(mut self) {
        self.child.kill().expect("a running program");
        self.child.wait().expect("a program that ended");
    }
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("an answer");
        let head = String::from_utf8(bytes[..end].to_vec()).expect("UTF-8");
        let status =
            head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Self { status, head, body: bytes[end + 4..].to_vec() }
    }
}

/// Returns a request with one call of each session at the second `n`. The first `stuck` sessions repeat theirs.
fn request(sessions: u64, stuck: u64, n: u64) -> Value {
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let span = |session: u64| {
        let begin = n * 1_000_000_000;
        let args = if session < stuck { 0 } else { n };
        json!({
            "traceId": format!("{:032x}", session + 1), "spanId": format!("{:016x}", n + 1),
            "name": "execute_tool make",
            "startTimeUnixNano": begin.to_string(), "endTimeUnixNano": (begin + 1000).to_string(),
            "attributes": [
                text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", "make"),
                text("gen_ai.conversation.id", &format!("session-{session}")),
                text("gen_ai.tool.call.arguments", &format!("{{\"target\":\"goal-{args}\"}}")),
                text("gen_ai.tool.call.result", &format!("no rule to make goal-{args}")),
            ],
        })
    };
    let spans: Vec<_> = (0..sessions).map(span).collect();
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
}

/// Returns the findings in a file, and checks that no id occurs twice.
fn findings(path: &Path) -> Vec<Value> {
    let lines = crate::harness::listed(path);
    let ids: std::collections::BTreeSet<_> =
        lines.iter().map(|line| line["id"].to_string()).collect();
    assert_eq!(ids.len(), lines.len());
    lines
}

#[test]
fn each_request_has_its_status() {
    let watching = Watching::start(&["--max-body", "1"]);
    let (json, protobuf) = ("application/json", "application/x-protobuf");
    let long = vec![b' '; (1 << 20) + 1];
    let good = request(1, 0, 1).to_string();
    let (gzip, zstd) = (("Content-Encoding", "gzip"), ("Content-Encoding", "zstd"));
    for (line, headers, body, status) in [
        ("POST /v1/traces", vec![("Content-Type", json)], good.as_bytes(), 200),
        ("POST /v1/traces", vec![("Content-Type", json)], b"{}", 200),
        ("POST /v1/traces", vec![("Content-Type", protobuf)], b"", 200),
        ("POST /v1/logs", vec![("Content-Type", protobuf)], b"anything", 200),
        ("POST /v1/metrics", vec![("Content-Type", json)], b"{}", 200),
        ("GET /healthz", vec![], b"", 200),
        ("GET /readyz", vec![], b"", 200),
        ("POST /v1/traces", vec![("Content-Type", json)], b"{", 400),
        ("POST /v1/traces", vec![("Content-Type", json)], b"[1]", 400),
        ("POST /v1/traces", vec![("Content-Type", protobuf)], good.as_bytes(), 400),
        ("POST /v1/traces", vec![("Content-Type", json), gzip], good.as_bytes(), 400),
        ("POST /v1/traces", vec![("Content-Type", json)], &long, 413),
        ("POST /v1/traces", vec![("Content-Type", json), zstd], b"", 415),
        ("POST /v1/traces", vec![("Content-Type", "text/plain")], b"", 415),
        ("POST /v1/traces", vec![], b"", 415),
        ("GET /v1/traces", vec![], b"", 405),
        ("POST /metrics", vec![], b"", 405),
        ("GET /", vec![], b"", 404),
        ("POST /v1/other", vec![("Content-Type", json)], b"{}", 404),
    ] {
        let answer = watching.request(line, &headers, body);
        assert_eq!(answer.status, status, "{line} {headers:?}: {answer:?}");
        // An answer has the encoding of its request.
        let is_export = line.starts_with("POST /v1/") && matches!(status, 200 | 400 | 413);
        let kind = headers.first().map_or("", |(_, kind)| kind);
        assert!(!is_export || answer.head.contains(&format!("content-type: {kind}")), "{answer:?}");
    }
    assert_eq!(watching.send(b"no HTTP\r\n\r\n").status, 400);
    let metrics = watching.metrics();
    assert!(
        metrics.contains("unstuck_requests_total{path=\"/v1/traces\",code=\"400\"} 4\n"),
        "{metrics}"
    );
    assert!(
        metrics.contains("unstuck_requests_total{path=\"other\",code=\"404\"} 2\n"),
        "{metrics}"
    );
    assert_eq!(watching.end().exit, 0);
}

#[test]
fn a_web_page_under_another_name_reads_nothing() {
    let ask = |watching: &Watching, path: &str, host: &str| {
        let head = format!("{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        let kind = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        let end = if path.starts_with("GET") { "\r\n" } else { kind };
        watching.send(format!("{head}{end}").as_bytes())
    };
    let watching = Watching::start(&[]);
    for path in ["GET /metrics", "GET /healthz", "GET /", "POST /v1/traces"] {
        let answer = ask(&watching, path, "attacker.example:4318");
        let body = String::from_utf8_lossy(&answer.body);
        assert_eq!(answer.status, 421, "{path}");
        assert!(body.contains("the Host has to be localhost or an IP address"), "{body}");
        assert!(!body.contains("unstuck_"), "{body}");
    }
    for host in ["localhost:4318", "127.0.0.1", "[::1]:4318"] {
        assert_eq!(ask(&watching, "GET /metrics", host).status, 200, "{host}");
        assert_eq!(ask(&watching, "POST /v1/traces", host).status, 200, "{host}");
    }
    assert_eq!(watching.send(b"GET /healthz HTTP/1.0\r\n\r\n").status, 200);
    assert_eq!(watching.end().exit, 0);
    // A receiver behind a proxy, or in a network of containers, has any name.
    let watching = Watching::start(&["--allow-remote"]);
    assert_eq!(ask(&watching, "POST /v1/traces", "unstuck:4318").status, 200);
    assert_eq!(watching.end().exit, 0);
}

/// Sends the head of a request with a long body in gzip, and this many bytes of the body.
fn begin(watching: &Watching, count: usize) -> TcpStream {
    let head = "POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
                Content-Encoding: gzip\r\nContent-Length: 1048576\r\n\r\n";
    let mut stream = TcpStream::connect(("127.0.0.1", watching.port)).expect("a connection");
    stream.write_all(head.as_bytes()).expect("a head");
    stream.write_all(&vec![0; count]).expect("a part of a body");
    stream
}

#[test]
fn bodies_take_the_memory_of_what_has_arrived() {
    let watching = Watching::start(&["--max-body", "1"]);
    let body = format!("{{}}{}", " ".repeat(100));
    let becomes = |status: u16| {
        (0..10_000).any(|_| watching.post("application/json", body.as_bytes()).status == status)
    };
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    zipped.write_all(body.as_bytes()).expect("memory");
    let zipped = zipped.finish().expect("memory");
    // Clients that only announce a body keep nobody out.
    let idle: Vec<TcpStream> = (0..40).map(|_| begin(&watching, 1)).collect();
    for _ in 0..20 {
        assert_eq!(watching.post("application/json", body.as_bytes()).status, 200);
        let headers = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")];
        assert_eq!(watching.request("POST /v1/traces", &headers, &zipped).status, 200);
    }
    drop(idle);
    let slow: Vec<TcpStream> = (0..8).map(|_| begin(&watching, (1 << 20) - 100)).collect();
    let next = begin(&watching, 750);
    assert!(becomes(503), "the memory is full once all of it has arrived");
    drop((slow, next));
    assert!(becomes(200), "the memory is free again");
    assert_eq!(watching.end().exit, 0);
}

#[test]
fn spans_without_an_id_are_rejected_and_the_others_are_taken_in() {
    let watching = Watching::start(&[]);
    let mut of_json = request(2, 0, 1);
    of_json["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = json!("12");
    let answer = watching.post("application/json", of_json.to_string().as_bytes());
    let body: Value = serde_json::from_slice(&answer.body).expect("JSON");
    assert_eq!((answer.status, &body["partialSuccess"]["rejectedSpans"]), (200, &json!("1")));
    // A request with a span without an id: resource_spans, scope_spans, spans, name.
    let of_protobuf = b"\x0a\x07\x12\x05\x12\x03\x2a\x01n";
    let answer = watching.post("application/x-protobuf", of_protobuf);
    // partial_success with rejected_spans = 1 and a message.
    assert!(answer.status == 200 && answer.body.starts_with(b"\x0a"), "{answer:?}");
    assert_eq!(answer.body.get(2..4), Some(&[0x08, 1][..]));
    let metrics = watching.metrics();
    assert!(metrics.contains("unstuck_spans_dropped_total{reason=\"broken\"} 2\n"), "{metrics}");
    assert!(metrics.contains("unstuck_spans_total 1\n"), "{metrics}");
    assert_eq!(watching.end().exit, 0);
}

#[test]
fn findings_are_those_of_a_scan() {
    let folder = Folder::new();
    let watching = Watching::start(&["--preset", "graduated"]);
    let mut lines = String::new();
    for n in 1..20 {
        watching.export(&request(1, 1, n));
        // The same call in a native trace.
        lines += &record("make", "{\"target\":\"goal-0\"}", "no rule to make goal-0", false);
    }
    let ran = watching.end();
    assert_eq!(ran.exit, 0);
    let options = ["--preset", "graduated", "--format", "jsonl"];
    let scanned = scan(&folder.file("calls.jsonl", lines), &options).only_line();
    let members = ["rule", "kind", "action", "loop", "first_call", "at_call", "last_call"];
    let part = |finding: &Value| members.map(|member| finding[member].clone());
    let scanned = scanned["findings"].as_array().expect("a list");
    assert!(scanned.len() > 1);
    assert_eq!(
        ran.lines().iter().map(part).collect::<Vec<_>>(),
        scanned.iter().map(part).collect::<Vec<_>>()
    );
    // A receiver blocks and stops nothing.
    assert!(scanned.iter().any(|finding| finding["message"].to_string().contains("The run ends")));
    assert!(!ran.out.contains("The run ends") && !ran.out.contains("stopped"), "{}", ran.out);
    let fact = |finding: &Value| {
        let message = finding["message"].as_str().expect("a message").to_owned();
        message.split_inclusive(". ").next().map(str::to_owned)
    };
    assert_eq!(
        ran.lines().iter().map(fact).collect::<Vec<_>>(),
        scanned.iter().map(fact).collect::<Vec<_>>()
    );
    let first = &ran.lines()[0];
    assert_eq!(
        (&first["session"], &first["trace_id"]),
        (&json!("session-0"), &json!(format!("{:032x}", 1)))
    );
    assert!(!ran.out.contains("goal-"), "no arguments and results: {}", ran.out);
}

#[test]
fn arguments_leave_only_on_request_and_without_secrets() {
    let watching = Watching::start(&["--include-args", "full"]);
    for n in 1..5 {
        let mut request = request(1, 1, n);
        let span = &mut request["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        span["attributes"][3]["value"]["stringValue"] =
            json!("{\"command\":\"make password=hunter2\"}");
        watching.export(&request);
    }
    let ran = watching.end();
    assert!(ran.out.contains("\"text\":\"{\\\"command\\\":\\\"make password=•••"), "{}", ran.out);
    assert!(ran.out.contains("no rule to make goal-0") && !ran.out.contains("hunter2"));
}

#[test]
fn a_kill_at_any_moment_loses_no_finding_and_makes_none_twice() {
    let folder = Folder::new();
    let run = |name: &str, kills: &[u64]| {
        let (state, file) = (folder.path().join(name), folder.path().join(format!("{name}.jsonl")));
        let paths = [&state, &file].map(|path| path.to_str().expect("UTF-8"));
        let options = ["--state", paths[0], "--findings", paths[1]];
        let mut watching = Watching::start(&options);
        for n in 1..30 {
            watching.export(&request(6, 3, n));
            if kills.contains(&n) {
                watching.kill();
                watching = Watching::start(&options);
            }
            if n % 10 == 0 {
                // A client that got no answer sends its spans again.
                watching.export(&request(6, 3, n));
                assert_eq!(watching.end().exit, 0);
                watching = Watching::start(&options);
            }
        }
        // The later spans end the sessions before.
        watching.export(&request(1, 0, 1_000_000));
        watching.export(&request(1, 0, 2_000_000));
        assert_eq!(watching.end().exit, 0);
        findings(&file)
    };
    let whole = run("whole", &[]);
    assert!(whole.len() > 5, "{whole:?}");
    assert_eq!(run("killed", &[1, 2, 3, 4, 5, 9, 10, 11, 17, 25, 29]), whole);
}

#[test]
fn a_hangup_opens_a_rotated_file_again() {
    let folder = Folder::new();
    let (file, rotated) = (folder.path().join("findings.jsonl"), folder.path().join("old.jsonl"));
    let watching = Watching::start(&["--findings", file.to_str().expect("UTF-8")]);
    let pass = |from: u64| {
        for n in from..from + 4 {
            watching.export(&request(1, 1, n));
        }
    };
    pass(1);
    fs::rename(&file, &rotated).expect("a file that is rotated");
    kill_process(Pid::from_child(&watching.child), Signal::HUP).expect("a running program");
    let is_there = |_| watching.metrics().is_empty() || file.exists();
    assert!((0..10_000).any(is_there), "no new file");
    pass(5);
    assert_eq!(watching.end().exit, 0);
    let (before, after) = (findings(&rotated), findings(&file));
    assert!(!before.is_empty() && !after.is_empty(), "{before:?} {after:?}");
    assert!(after.iter().all(|line| !before.contains(line)));
}

#[test]
fn a_hangup_ends_a_receiver_that_writes_to_its_terminal() {
    // Under `nohup`, the program would inherit that the signal is ignored. What is handled here is the default there.
    signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::default()).expect("a handler");
    let mut watching = Watching::start(&[]);
    kill_process(Pid::from_child(&watching.child), Signal::HUP).expect("a running program");
    let status = watching.child.wait().expect("a program that ends");
    assert_eq!(status.signal(), Some(Signal::HUP.as_raw()));
}

#[test]
fn a_connection_too_many_is_told_to_come_again() {
    let watching = Watching::start(&[]);
    let idle: Vec<TcpStream> = (0..256).map(|_| begin(&watching, 0)).collect();
    let answer = watching.send(b"");
    assert_eq!(answer.status, 503);
    assert!(answer.head.contains("Retry-After: "), "{answer:?}");
    drop(idle);
    assert_eq!(watching.end().exit, 0);
}

#[test]
fn a_state_of_another_policy_or_process_is_reported() {
    let folder = Folder::new();
    let state = folder.path().join("state");
    let state = state.to_str().expect("UTF-8");
    let watching = Watching::start(&["--state", state]);
    watching.export(&request(1, 1, 1));
    let second = unstuck(["watch", "--otlp", "127.0.0.1:0", "--state", state]);
    assert_eq!(second.exit, 4);
    assert!(second.err.contains("another process uses this folder"), "{}", second.err);
    assert_eq!(watching.end().exit, 0);
    let mut command = program();
    command.args(["watch", "--otlp", "127.0.0.1:0", "--preset", "nudge", "--state", state]);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("a program that starts");
    let mut line = String::new();
    let mut errors = BufReader::new(child.stderr.take().expect("a pipe"));
    errors.read_line(&mut line).expect("UTF-8");
    assert!(
        line.contains("the policy has changed, so running sessions begin anew; 0 sessions"),
        "{line}"
    );
    child.kill().expect("a running program");
    child.wait().expect("a program that ended");
}

#[test]
fn a_port_that_is_taken_is_4() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    assert_eq!(unstuck(["watch", "--otlp", &address]).exit, 4);
}

/// Answers requests in order with these statuses, and returns them whole.
pub(crate) fn server(statuses: Vec<u16>) -> (u16, thread::JoinHandle<Vec<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let answer = move |status: u16| {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
        while !is_whole(&bytes) {
            let count = stream.read(&mut piece).expect("a request");
            bytes.extend(&piece[..count]);
            assert!(count > 0, "the request breaks off");
        }
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nRetry-After: 0\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("an answer");
        let _ = stream.shutdown(Shutdown::Both);
        bytes
    };
    (port, thread::spawn(move || statuses.into_iter().map(answer).collect()))
}

/// Returns whether a request has all of its body.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    length.is_some_and(|length| bytes.len() - end - 4 == length.parse::<usize>().expect("a length"))
}

#[test]
fn findings_are_signed_sent_again_and_forwarded_as_log_records() {
    let (webhook, hooked) = server(vec![503, 200]);
    let (forward, forwarded) = server(vec![200]);
    let (webhook, forward) =
        (format!("http://127.0.0.1:{webhook}/hook"), format!("http://127.0.0.1:{forward}"));
    let watching = Watching::start(&["--webhook", &webhook, "--forward", &forward]);
    for n in 1..5 {
        watching.export(&request(1, 1, n));
    }
    let hooked = hooked.join().expect("two requests");
    let forwarded = forwarded.join().expect("a request");
    let ran = watching.end();
    let finding = &ran.lines()[0];
    let id = finding["id"].as_str().expect("an id");
    for request in &hooked {
        let request = String::from_utf8(request.clone()).expect("UTF-8");
        let (head, body) = request.split_once("\r\n\r\n").expect("a body");
        assert_eq!(serde_json::from_str::<Value>(body).expect("JSON"), *finding);
        assert!(head.starts_with("POST /hook HTTP/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("webhook-id: {id}\r\n")), "{head}");
        assert!(head.contains("webhook-signature: v1,"), "{head}");
    }
    let record = String::from_utf8_lossy(&forwarded[0]);
    assert!(record.starts_with("POST /v1/logs HTTP/1.1\r\n"), "{record}");
    for part in ["unstuck.finding", "gen_ai.conversation.id", "session-0", "unstuck.rule", id] {
        assert!(record.contains(part), "{part} in {record}");
    }
    let span: [u8; 8] = 4_u64.to_be_bytes();
    assert!(forwarded[0].windows(8).any(|eight| eight == span), "the span of the evidence");
}
