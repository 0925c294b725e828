//! `unstuck mcp`: any bytes, long lines, signals, and clients that leave. `console/mcp.unix.txt` has the notes and
//! refusals.

use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Output};
use std::thread;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Folder, Ran, piped, program};

/// A line that does not concern the proxy.
const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n";

/// Returns the same call each time.
fn call(id: u32) -> String {
    line(&json!({ "id": id, "method": "tools/call", "params": { "name": "lookup" } }))
}

fn line(message: &Value) -> String {
    format!("{message}\n")
}

/// Runs the proxy with `cat` as server, which sends back what it gets, until it ends.
fn echoed(input: &[u8]) -> Output {
    let mut child = piped(program().args(["mcp", "--", "cat"]));
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("a program that ends");
    writer.join().expect("a writer that ends");
    output
}

/// The server writes long lines while the proxy answers calls.
#[test]
fn lines_of_two_writers_do_not_mix() {
    let folder = Folder::new();
    let long = line(&json!({ "id": "s", "result": "x".repeat(100_000) }));
    folder.file("long", &long);
    let script = r#"
        for id in 1 2; do read -r _; echo "{\"id\":$id,\"result\":{\"isError\":true,\"content\":[]}}"; done
        for _ in $(seq 100); do cat long; done
        cat >/dev/null"#;
    let calls = format!("{}<\n{}<\n{}", call(1), call(2), (3..=60).map(call).collect::<String>());
    let mut command = program();
    command.args(["mcp", "--preset", "repeat", "--", "sh", "-c", script]);
    let ran = Ran::by_talking(command.current_dir(folder.path()), &calls);
    let (shouts, answers): (Vec<_>, Vec<_>) =
        ran.out.lines().partition(|line| *line == long.trim_end());
    assert_eq!(shouts.len(), 100);
    let ids = answers.iter().map(|line| {
        let answer: Value = serde_json::from_str(line).expect("a line of its own");
        answer["id"].as_u64().expect("the id of a call")
    });
    assert!(ids.eq(1..=60));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn traffic_without_loops_passes_byte_for_byte(
        pieces in vec(prop_oneof![
            vec(any::<u8>(), 0..20),
            "[\\[\\]{}\",:0-9a-z \r\n]{0,30}".prop_map(String::into_bytes),
            Just(b"\r\n".to_vec()),
            Just(b"\n".to_vec()),
            Just(PING.as_bytes().to_vec()),
            any::<u32>().prop_map(|id| line(&json!({ "id": id, "method": "tools/call",
                "params": { "name": format!("t{id}") } })).into_bytes()),
            any::<u32>().prop_map(|id| line(&json!({ "id": id, "result": { "content": [] } })).into_bytes()),
            // The server echoes the client, so it requests lists and gets its own responses.
            Just(line(&json!({ "id": 1, "method": "tools/list" })).into_bytes()),
            (any::<bool>(), vec("[a-z]{0,3}", 0..3)).prop_map(|(read_only, names)| {
                let tools = names.iter().map(|name| json!({ "name": name,
                    "annotations": { "readOnlyHint": read_only },
                    "_meta": { "unstuck/key": names } })).collect::<Vec<_>>();
                line(&json!({ "id": 1, "result": { "tools": tools } })).into_bytes()
            }),
            Just(b"{\"method\":\"notifications/tools/list_changed\"}\n".to_vec()),
        ], 0..12),
    ) {
        let input = pieces.concat();
        let output = echoed(&input);
        prop_assert_eq!(&output.stdout, &input);
        prop_assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    }
}

#[test]
fn a_line_beyond_the_limit_passes() {
    let mut input = call(1).into_bytes();
    let long = vec![b'['; (64 << 20) + 70_000];
    input.extend(&long);
    input.push(b'\n');
    input.extend(PING.as_bytes());
    let output = echoed(&input);
    assert!(output.stdout == input, "{} of {} bytes", output.stdout.len(), input.len());
}

#[test]
fn a_signal_reaches_the_server() {
    let script = "trap 'echo asked; exit 9' TERM; echo ready; while :; do read -r line; done";
    let mut proxy = piped(program().args(["mcp", "--", "sh", "-c", script]));
    let mut stdout = proxy.stdout.take().expect("a pipe");
    let mut ready = [0; 6];
    stdout.read_exact(&mut ready).expect("a line");
    assert_eq!(&ready, b"ready\n");
    ask_to_end(&proxy);
    // The shell handles the signal once it has read a line.
    let _ = proxy.stdin.take().expect("a pipe").write_all(b"\n");
    let mut output = String::new();
    stdout.read_to_string(&mut output).expect("UTF-8");
    assert_eq!((output.as_str(), proxy.wait().expect("an end").code()), ("asked\n", Some(9)));
}

#[test]
fn a_signal_without_a_server_ends_the_proxy() {
    let folder = Folder::new();
    // A child of the server holds the output open, and prints a line when the server is gone.
    let script = "mkfifo pipe; exec 4<&0; (exec < pipe; read -r line; echo ready; exec cat <&4) & \
                  exec 3> pipe; exit 5";
    let mut command = program();
    command.current_dir(folder.path()).args(["mcp", "--", "sh", "-c", script]);
    let mut proxy = piped(&mut command);
    let mut ready = [0; 6];
    proxy.stdout.as_mut().expect("a pipe").read_exact(&mut ready).expect("a line");
    assert_eq!(&ready, b"ready\n");
    // The first signal may arrive while the server is still ending.
    let asked = (0..1_000).find_map(|_| {
        ask_to_end(&proxy);
        proxy.try_wait().expect("a process")
    });
    let code = asked.map(|status| (status.code(), status.signal()));
    assert_eq!(code, Some((None, Some(15))));
}

/// Sends the signal that a client sends to a slow server.
fn ask_to_end(proxy: &Child) {
    let asked = Command::new("kill").arg(proxy.id().to_string()).status();
    assert!(asked.expect("a program that starts").success());
}

#[test]
fn a_client_that_closes_ends_the_proxy_quietly() {
    let mut proxy = piped(program().args(["mcp", "--", "sh", "-c", "yes; exit 3"]));
    drop((proxy.stdin.take(), proxy.stdout.take()));
    let output = proxy.wait_with_output().expect("a program that ends");
    assert_eq!(output.status.code(), Some(3));
    let err = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!err.contains("unstuck") && !err.contains("panicked"), "{err}");
}
