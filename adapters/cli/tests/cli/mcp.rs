//! `unstuck mcp`: forwarding, notes, refusals, and the end of the session.

pub(crate) mod session;

use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Output};
use std::thread;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Folder, program};
use session::{Outcome, PING, Session, call, line, piped};

/// The result of a failing call, with spellings that a rewrite would change.
const FAILS: &str = r#""result": { "isError":true,"content":[{"text":"no such \u0074able","type":"text"}],"n":1.50e+3,"_meta":{} }"#;

/// Runs the proxy with a command as server, with `input` on standard input, until it ends.
fn proxied(words: &[&str], input: &[u8]) -> Output {
    run(program().arg("mcp").arg("--").args(words), input)
}

fn run(command: &mut Command, input: &[u8]) -> Output {
    let mut child = piped(command);
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // The command may not read its input.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("a program that ends");
    writer.join().expect("a writer that ends");
    output
}

/// Returns the text that was added to a response. Everything else must be unchanged.
fn note(response: &str, id: u32) -> String {
    let start = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\": {{ \"isError\":true,\"content\":[{{\"text\":\"no such \\u0074able\",\"type\":\"text\"}},"
    );
    let end = "],\"n\":1.50e+3,\"_meta\":{} }}\n";
    let block = response.strip_prefix(&start).and_then(|rest| rest.strip_suffix(end));
    let block: Value = serde_json::from_str(block.expect(response)).expect("a block");
    assert_eq!(block["type"], "text");
    block["text"].as_str().expect("a text").to_owned()
}

#[test]
fn a_loop_is_noted_and_then_blocked() {
    let mut session = Session::new(&[]);
    session.asked("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}\n");
    session.answered("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n");
    let mut printed = String::new();
    for id in 1..=9 {
        printed += &match session.call(id, FAILS) {
            Outcome::AsIs => "passed".to_owned(),
            Outcome::Noted(response) => note(&response, id),
            Outcome::Refused(response) => response.trim_end().to_owned(),
        };
        printed += "\n";
    }
    let rest = session.end();
    assert_eq!((rest.exit, &*rest.client, &*rest.server), (Some(7), "", ""));
    insta::assert_snapshot!(format!("{printed}\n{}", rest.log));
}

#[test]
fn observing_changes_nothing() {
    let mut session = Session::new(&["--observe"]);
    for id in 1..=12 {
        assert_eq!(session.call(id, FAILS), Outcome::AsIs);
    }
    let log = session.end().log;
    assert!(log.contains("unstuck mcp: would nudge: "), "{log}");
    assert!(log.contains("unstuck mcp: would block: "), "{log}");
    assert!(!log.contains("users") && !log.contains("no such"), "{log}");
}

#[test]
fn at_the_stop_rung_the_model_is_asked_to_end_its_turn() {
    // A proxy cannot end the run.
    let plea = "The call stays refused until the user says something new or a change has worked. \
                Call no more tools: tell the user";
    for (preset, calls) in [("repeat", 3), ("start_over", 5)] {
        let mut session = Session::new(&["--preset", preset]);
        for id in 1..calls {
            assert_eq!(session.call(id, FAILS), Outcome::AsIs, "{preset}");
        }
        let (Outcome::Refused(response) | Outcome::Noted(response)) = session.call(calls, FAILS)
        else {
            panic!("{preset} lets everything pass");
        };
        assert!(response.contains(plea), "{response}");
        session.end();
    }
}

#[test]
fn an_error_of_the_protocol_is_a_failure() {
    let mut session = Session::new(&[]);
    let error = r#""error":{"code":-32602,"message":"unknown","data":{}}"#;
    let outcomes: Vec<_> = (1..=3).map(|id| session.call(id, error)).collect();
    assert_eq!(outcomes[..2], [Outcome::AsIs, Outcome::AsIs]);
    let Outcome::Noted(response) = &outcomes[2] else { panic!("{outcomes:?}") };
    let start =
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"unknown\n\n[unstuck] You "#;
    assert!(response.starts_with(start) && response.ends_with("\",\"data\":{}}}\n"), "{response}");
    session.end();
}

#[test]
fn a_successful_call_is_noted_and_neither_blocked_nor_threatened() {
    let mut session = Session::new(&[]);
    let fine = r#""result":{"content":[{"type":"text","text":"No errors in 14 files."}]}"#;
    let mut noted = 0;
    for id in 1..=20 {
        // For example after an edit by a tool of another server.
        match session.call(id, fine) {
            Outcome::AsIs => {}
            Outcome::Noted(response) => {
                noted += 1;
                let threat = ["stopped", "blocked"].iter().find(|word| response.contains(**word));
                assert_eq!(threat, None, "{response}");
            }
            Outcome::Refused(response) => panic!("the call {id}: {response}"),
        }
    }
    assert!(noted > 0, "the loop is noted");
    session.end();
}

/// Calls a tool whose results are structured, until there is a note. Returns the list of tools as the
/// client gets it, and the structured result with the note.
fn structured(options: &[&str], schema: &str) -> (String, Option<Value>) {
    let mut session = Session::new(options);
    session.asked("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/list\"}\n");
    let list = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{{\"tools\":[{{\"name\":\"lookup\"{schema}}}]}}}}\n"
    );
    session.server_says(&list);
    let listed = session.client_hears();
    let fine = r#""result":{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":1}}"#;
    let noted = (1..=9).find_map(|id| match session.call(id, fine) {
        Outcome::Noted(response) => serde_json::from_str::<Value>(&response).ok(),
        _ => None,
    });
    session.end();
    (listed, noted.map(|noted| noted["result"]["structuredContent"].clone()))
}

#[test]
fn a_structured_result_has_the_note_if_its_schema_allows_it() {
    let closed = r#","outputSchema":{"type":"object","properties":{"n":{"type":"number"}},"required":["n"],"additionalProperties":false}"#;
    let (listed, noted) = structured(&[], closed);
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    let schema = &listed["result"]["tools"][0]["outputSchema"];
    let noted = noted.expect("a note");
    let properties = schema["properties"].as_object().expect("properties");
    assert!(noted.as_object().expect("an object").keys().all(|name| properties.contains_key(name)));
    assert_eq!(schema["required"], json!(["n"]), "the note is optional");
    assert_eq!(noted["n"], 1);
    assert!(noted["unstuck_note"].as_str().is_some_and(|note| note.starts_with("[unstuck] ")));
    for open in ["", r#","outputSchema":{"type":"object"}"#] {
        let (listed, noted) = structured(&[], open);
        assert!(listed.contains(&format!("\"lookup\"{open}}}")), "the list is unchanged: {listed}");
        assert!(noted.is_some_and(|noted| noted["unstuck_note"].is_string()), "{open}");
    }
    // The rest of this schema could forbid any other member.
    let (listed, noted) = structured(&[], r#","outputSchema":{"$ref":"x"}"#);
    assert!(!listed.contains("unstuck"), "{listed}");
    assert_eq!(noted, Some(json!({ "n": 1 })));
    let (listed, noted) = structured(&["--observe"], closed);
    assert!(noted.is_none() && !listed.contains("unstuck"), "{listed}");
}

#[test]
fn results_that_differ_are_no_loop() {
    let mut session = Session::new(&[]);
    for id in 1..=9 {
        let image = format!(
            r#""result":{{"content":[{{"type":"image","data":"{}"}}]}}"#,
            "A".repeat(id as usize)
        );
        assert_eq!(session.call(id, &image), Outcome::AsIs);
        // A request for user input is not a result.
        let question = r#""result":{"resultType":"input_required","inputRequests":{}}"#;
        assert_eq!(session.call(id, question), Outcome::AsIs);
    }
    session.end();
}

#[test]
fn parallel_calls_are_distinguished_by_their_ids() {
    let mut session = Session::new(&[]);
    // The ids of the server's own requests are independent of the client's.
    let request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n";
    let answer = |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{FAILS}}}\n");
    let mut noted = 0;
    for _ in 0..3 {
        for id in 1..=3 {
            let name = format!("lookup{id}");
            let params = json!({ "name": name });
            session.asked(&line(&json!({ "id": id, "method": "tools/call", "params": params })));
        }
        session.answered(request);
        session.asked("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
        for id in [3, 1, 2] {
            session.server_says(answer(id));
            let response = session.client_hears();
            if response != answer(id) {
                noted += 1;
                assert!(!note(&response, id).is_empty());
            }
        }
    }
    assert!(noted > 0, "three calls in turns are a loop");
    session.end();
}

#[test]
fn a_cancelled_call_does_not_count() {
    let mut session = Session::new(&[]);
    for id in 1..=9 {
        session.asked(&call(id));
        let params = json!({ "requestId": id, "reason": "too slow" });
        session.asked(&line(&json!({ "method": "notifications/cancelled", "params": params })));
        // The response may already be on its way when the server gets the cancellation.
        session.answered(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{FAILS}}}\n"));
    }
    assert_eq!(session.call(10, FAILS), Outcome::AsIs);
    session.end();
}

#[test]
fn a_new_initialize_is_a_new_agent() {
    let mut session = Session::new(&[]);
    for id in 1..=9 {
        if id % 2 == 1 {
            session.asked("{\"id\":0,\"method\":\"initialize\",\"params\":{}}\n");
        }
        assert_eq!(session.call(id, FAILS), Outcome::AsIs);
    }
    session.end();
}

#[test]
fn a_refusal_has_a_type_if_the_protocol_version_has_types() {
    for (asked, agreed, is_typed) in [
        ("2025-06-18", "2025-06-18", false),
        ("2026-07-28", "2025-11-25", false),
        ("2026-07-28", "2026-07-28", true),
        ("2027-01-01", "2027-01-01", true),
    ] {
        let mut session = Session::new(&["--preset", "repeat"]);
        let params = json!({ "protocolVersion": asked, "capabilities": {} });
        session.asked(&line(&json!({ "id": "i", "method": "initialize", "params": params })));
        let result = json!({ "protocolVersion": agreed, "capabilities": {} });
        session.answered(&line(&json!({ "id": "i", "result": result })));
        let refused = (1..=9).find_map(|id| match session.call(id, FAILS) {
            Outcome::Refused(response) => Some(response),
            _ => None,
        });
        let refused: Value = serde_json::from_str(&refused.expect("a refusal")).expect("JSON");
        let kind = refused["result"].get("resultType");
        assert_eq!(kind, is_typed.then_some(&json!("complete")), "{asked} {agreed}");
        session.end();
    }
}

/// The members of a listed tool that make its calls equal, make them alike by `table` alone, or
/// exempt them.
const LISTS: [(&str, [bool; 2]); 5] = [
    ("", [true, false]),
    (r#","annotations":{"readOnlyHint":true,"destructiveHint":false}"#, [true, false]),
    (r#","_meta":{"openrouter/loopKey":["table"]}"#, [true, true]),
    (r#","_meta":{"unstuck/key":["table"],"openrouter/loopKey":false}"#, [true, true]),
    (r#","_meta":{"openrouter/loopKey":false}"#, [false, false]),
];

/// Lists the server's tool with these members.
fn listed(session: &mut Session, members: &str) {
    session.asked("{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"tools/list\"}\n");
    session.answered(&format!(
        "{{\"id\":\"l\", \"result\":{{\"tools\":[ {{\"name\":\"lookup\"{members}}}],\"n\":1.50}}}}\n"
    ));
}

/// Returns whether the third call of `lookup` with these arguments is refused after two failures.
fn third_is_refused(session: &mut Session, args: impl Fn(u32) -> Value) -> bool {
    (1..=3).any(|id| {
        let params = json!({ "name": "lookup", "arguments": args(id) });
        let asked = line(&json!({ "id": id, "method": "tools/call", "params": params }));
        session.client_says(&asked);
        session.client_says(PING);
        if session.server_hears() == PING {
            session.client_hears();
            return true;
        }
        assert_eq!(session.server_hears(), PING);
        session.answered(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{FAILS}}}\n"));
        false
    })
}

#[test]
fn declarations_of_the_server_take_effect() {
    for (members, refused) in LISTS {
        let vary =
            [|_| json!({ "table": "users" }), |id| json!({ "table": "users", "request": id })];
        for (args, refused) in vary.into_iter().zip(refused) {
            let mut session = Session::new(&["--preset", "repeat"]);
            listed(&mut session, members);
            assert_eq!(third_is_refused(&mut session, args), refused, "{members}");
            session.end();
        }
    }
}

#[test]
fn a_configuration_overrides_the_server() {
    let folder = Folder::new();
    for (table, members, refused) in [
        ("key = \"all\"", r#","_meta":{"unstuck/key":["table"]}"#, false),
        ("key = [\"table\"]", r#","_meta":{"unstuck/key":["request"]}"#, true),
        ("key = [\"table\"]", r#","_meta":{"unstuck/key":false}"#, true),
        ("exempt = true", r#","_meta":{"unstuck/key":["table"]}"#, false),
        ("effect = \"acts\"", r#","_meta":{"unstuck/key":["table"]}"#, true),
    ] {
        let text = format!("preset = \"repeat\"\n[tools.lookup]\n{table}\n");
        let config = folder.file("unstuck.toml", text);
        let mut session = Session::new(&["--config", config.to_str().expect("UTF-8")]);
        listed(&mut session, members);
        let args = |id| json!({ "table": "users", "request": id });
        assert_eq!(third_is_refused(&mut session, args), refused, "{table} {members}");
        session.end();
    }
}

#[test]
fn a_changed_list_is_forgotten_until_it_is_sent_again() {
    let mut session = Session::new(&["--preset", "repeat"]);
    let same = |_| json!({ "table": "users" });
    listed(&mut session, LISTS[4].0);
    assert!(!third_is_refused(&mut session, same));
    session.answered("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n");
    assert!(third_is_refused(&mut session, same));
    listed(&mut session, LISTS[4].0);
    assert!(!third_is_refused(&mut session, same));
    session.end();
}

#[test]
fn false_hints_do_not_block_successful_calls() {
    let mut session = Session::new(&[]);
    listed(&mut session, LISTS[1].0);
    let fine = r#""result":{"content":[{"type":"text","text":"Sent."}]}"#;
    for id in 1..=12 {
        let outcome = session.call(id, fine);
        assert!(!matches!(outcome, Outcome::Refused(_)), "the call {id}: {outcome:?}");
    }
    session.end();
}

#[test]
fn only_blocked_calls_are_removed_from_a_batch() {
    let mut session = Session::new(&["--preset", "repeat"]);
    for id in 1..=2 {
        assert_eq!(session.call(id, FAILS), Outcome::AsIs);
    }
    let (ping, call) = (PING.trim_end(), call(3));
    let call = call.trim_end();
    // White space is preserved.
    session.asked(&format!("[ {ping},\t{ping}]\r\n"));
    session.client_says(format!("[{ping} , {call}, 1, {ping}]\n"));
    assert_eq!(session.server_hears(), format!("[{ping},1,{ping}]\n"));
    let response: Value = serde_json::from_str(&session.client_hears()).expect("JSON");
    assert_eq!((&response["id"], &response["result"]["isError"]), (&json!(3), &json!(true)));
    // The run should have ended: the call stays refused, and other requests are answered.
    session.client_says(format!("[{ping} , {call}]\n"));
    assert_eq!(session.server_hears(), format!("[{ping}]\n"));
    let response: Value = serde_json::from_str(&session.client_hears()).expect("JSON");
    assert_eq!((&response["id"], &response["result"]["isError"]), (&json!(3), &json!(true)));
    session.answered(&format!("[{{\"id\":4,{FAILS}}},{{\"id\":\"p\",\"result\":{{}}}}]\n"));
    session.end();
}

#[test]
fn lines_of_two_writers_do_not_mix() {
    let mut session = Session::new(&["--preset", "repeat"]);
    let long = line(&json!({ "id": "s", "result": "x".repeat(100_000) }));
    let (shout, shouted) = (session.voice(), long.clone());
    let shouting = thread::spawn(move || (0..100).for_each(|_| shout(shouted.as_bytes())));
    let (mut refused, mut response) = (0, String::new());
    for id in 1..=60 {
        if session.reaches(id) {
            session.server_says(format!("{{\"id\":{id},{FAILS}}}\n"));
        } else {
            refused += 1;
        }
        loop {
            let line = session.client_hears();
            response += &line;
            if line != long {
                break;
            }
        }
    }
    shouting.join().expect("a server that says all");
    response += &session.end().client;
    assert!(refused > 0);
    let (shouts, answers): (Vec<_>, Vec<_>) =
        response.lines().partition(|line| *line == long.trim_end());
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
        let output = proxied(&["cat"], &input);
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
    let output = proxied(&["cat"], &input);
    assert!(output.stdout == input, "{} of {} bytes", output.stdout.len(), input.len());
}

#[test]
fn the_exit_code_is_the_servers() {
    for (script, code) in [
        ("exit 0", 0),
        ("exit 1", 1),
        // The server decides about its exit code.
        ("exit 2", 2),
        ("exit 200", 200),
        ("kill -9 $$", 128 + 9),
        ("cat > /dev/null; exit 3", 3),
        ("exec 0<&-; exit 4", 4),
        ("exec 1>&-; cat > /dev/null; exit 5", 5),
        ("head -c 1 > /dev/null; exit 6", 6),
    ] {
        let output = proxied(&["sh", "-c", script], PING.repeat(10_000).as_bytes());
        assert_eq!(output.status.code(), Some(code), "{script}");
        assert_eq!((&*output.stdout, &*output.stderr), (&b""[..], &b""[..]), "{script}");
    }
}

#[test]
fn a_server_that_does_not_start_is_reported() {
    let folder = Folder::new();
    let text = folder.file("text", "not a program");
    for (command, code, why) in [
        ("/nonexistent/server", 127, "not found\n"),
        ("no-such-server", 127, "not found\n"),
        (text.to_str().expect("UTF-8"), 126, "cannot be started: "),
    ] {
        for switch in ["", "off"] {
            let mut proxy = program();
            let output = run(proxy.env("UNSTUCK", switch).args(["mcp", command]), b"");
            assert_eq!(output.status.code(), Some(code), "{command}");
            let err = String::from_utf8(output.stderr).expect("UTF-8");
            let start = format!("error: {command}: {why}");
            assert!(err.starts_with(&start) && err.lines().count() == 1, "{err}");
        }
    }
}

#[test]
fn a_bad_configuration_starts_no_server() {
    let folder = Folder::new();
    let config = folder.file("unstuck.toml", "preset = \"nonsense\"");
    let mut proxy = program();
    let output = run(proxy.args(["mcp", "--config"]).arg(config).args(["echo", "started"]), b"");
    assert_eq!((output.status.code(), &*output.stdout), (Some(4), &b""[..]));
    assert!(String::from_utf8(output.stderr).expect("UTF-8").contains("unstuck.toml:1:"));
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

#[test]
fn switched_off_everything_passes() {
    for (switch, passes) in [("off", true), ("on", false)] {
        let mut session = Session::of(program().env("UNSTUCK", switch).arg("mcp"));
        let passed = (1..=9).all(|id| session.call(id, FAILS) == Outcome::AsIs);
        let rest = session.end();
        assert_eq!((passed, rest.exit), (passes, Some(7)), "{switch}");
    }
}
