//! Codex rollouts: one small case for each trap that real files set.

use std::fmt::Write;

use crate::reading::{Reading, reading};
use unstuck_trace::Format;

/// A line in short: its kind and its payload.
type Line<'a> = (&'a str, &'a str);

/// Reads a rollout.
fn rollout(lines: &[Line<'_>]) -> Reading {
    let mut input = String::new();
    for (kind, payload) in lines {
        let kind = match *kind {
            "item" => "response_item",
            "event" => "event_msg",
            kind => kind,
        };
        writeln!(input, r#"{{"timestamp":"t","type":"{kind}","payload":{payload}}}"#)
            .expect("a string");
    }
    reading(input.as_bytes(), None)
}

fn call(id: &str, command: &str) -> String {
    format!(
        "{{\"type\":\"function_call\",\"name\":\"exec_command\",\"call_id\":\"{id}\",\
         \"arguments\":\"{{\\\"cmd\\\":\\\"{command}\\\"}}\"}}"
    )
}

fn output(id: &str, text: &str) -> String {
    format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"{text}"}}"#)
}

fn message(role: &str, text: &str) -> String {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    format!(
        "{{\"type\":\"message\",\"role\":\"{role}\",\
         \"content\":[{{\"type\":\"{kind}\",\"text\":\"{text}\"}}]}}"
    )
}

#[test]
fn a_rollout_is_a_session_of_turns() {
    let (a, b, c) = (call("1", "a"), call("2", "b"), call("3", "c"));
    let lines = [
        ("session_meta", r#"{"id":"s","cwd":"/x","source":"cli"}"#),
        ("item", &message("developer", "Be brief.")),
        ("item", &message("user", "<environment_context>x</environment_context>")),
        ("item", &message("user", "Go")),
        ("event", r#"{"type":"user_message","message":"Go"}"#),
        ("item", r#"{"type":"reasoning","summary":[]}"#),
        ("event", r#"{"type":"agent_message","message":"Both."}"#),
        ("item", &message("assistant", "Both.")),
        ("item", &a),
        ("item", &b),
        ("item", &output("2", "two")),
        ("item", &output("1", "one")),
        ("item", &c),
        ("item", r#"{"type":"web_search_call","id":"w","status":"completed","action":{}}"#),
        ("item", &output("3", "three")),
        ("item", &message("assistant", "Done.")),
    ];
    let reading = rollout(&lines);
    let expected = [
        "main System: Be brief.",
        "main User: Go",
        "main Assistant: Both.",
        r#"#0 main/1 exec_command {"cmd":"a"}"#,
        r#"#1 main/1 exec_command {"cmd":"b"}"#,
        "#1 main -> \"two\"",
        "#0 main -> \"one\"",
        r#"#2 main/2 exec_command {"cmd":"c"}"#,
        "#2 main -> \"three\"",
        "main Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.session.as_deref()), (Format::CODEX, Some("s")));
    assert_eq!(trace.errors, None, "the file reports no end of a call");
}

#[test]
fn arguments_come_in_every_state() {
    let table = [
        (r#""type":"function_call","arguments":"{\"a\": 1}""#, "{\"a\": 1}"),
        (r#""type":"function_call","arguments":"{\"a\": ""#, r#"text "{\"a\": ""#),
        (r#""type":"function_call","arguments":null"#, "null"),
        (r#""type":"function_call""#, "null"),
        (r#""type":"custom_tool_call","input":"*** Begin""#, "text \"*** Begin\""),
        (r#""type":"custom_tool_call","input":"{\"command\":[\"ls\"]}""#, r#"{"command":["ls"]}"#),
        (
            r#""type":"function_call","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}""#,
            r#"{"command":["bash","-lc","ls"]}"#,
        ),
    ];
    for (fields, expected) in table {
        let reading = rollout(&[("item", &format!(r#"{{"name":"f","call_id":"1",{fields}}}"#))]);
        assert_eq!(reading.events, [format!("#0 main/1 f {expected}")]);
    }
    let shell = r#"{"type":"local_shell_call","call_id":"1","action":{"command":["ls"]}}"#;
    assert_eq!(rollout(&[("item", shell)]).events, [r#"#0 main/1 local_shell {"command":["ls"]}"#]);
}

#[test]
fn the_event_of_an_end_may_come_before_or_after_the_result() {
    let end = |id: &str, code: u8| {
        format!(
            "{{\"type\":\"exec_command_end\",\"call_id\":\"{id}\",\"exit_code\":{code},\
             \"aggregated_output\":\"x\"}}"
        )
    };
    let item =
        r#"{"type":"item_completed","item":{"type":"CommandExecution","id":"1","exit_code":2}}"#;
    let (failed, passed) = (end("1", 1), end("1", 0));
    let (open, back) = (call("1", "a"), output("1", "x"));
    let known = output("1", "Exit code: 1\\nWall time: 1 seconds\\nOutput:\\n");
    let done = r#"{"type":"task_complete"}"#;
    let none: [Line<'_>; 2] = [("item", &open), ("item", &back)];
    let cases: [(&[Line<'_>], usize, Option<usize>); 9] = [
        (&none, 0, None),
        (&[none[0], ("event", &failed), none[1]], 1, Some(1)),
        (&[none[0], ("event", &passed), none[1]], 0, Some(0)),
        (&[none[0], ("event", item), ("event", &failed), none[1]], 1, Some(1)),
        (&[none[0], none[1], ("event", done), ("event", item)], 0, Some(1)),
        (&[none[0], none[1], ("event", item), ("event", &failed)], 0, Some(1)),
        (&[none[0], ("item", &known), ("event", &failed)], 1, Some(1)),
        (&[none[0], ("item", &known), ("event", &failed), none[0], none[1]], 1, Some(1)),
        (&[("event", &failed), none[0], none[1]], 0, Some(0)),
    ];
    for (lines, flagged, errors) in cases {
        let reading = rollout(lines);
        let count = reading.events.iter().filter(|event| event.contains("-> failed")).count();
        assert_eq!(count, flagged, "{lines:?}");
        assert_eq!(reading.end.map(|trace| trace.errors), Ok(errors), "{lines:?}");
    }
}

#[test]
fn ids_recur_and_results_are_paired_in_order() {
    let reading = rollout(&[
        ("item", &output("1", "orphan")),
        ("item", &call("1", "a")),
        ("item", &call("1", "b")),
        ("item", &output("1", "a")),
        ("item", &output("1", "b")),
        ("item", &output("1", "c")),
    ]);
    let results: Vec<_> = reading.events.iter().filter(|event| event.contains("->")).collect();
    assert_eq!(results, ["#0 main -> \"a\"", "#1 main -> \"b\""]);
}

#[test]
fn copies_of_the_conversation_are_no_calls() {
    let copy = format!(r#"{{"message":"","replacement_history":[{}]}}"#, call("1", "a"));
    let reading = rollout(&[
        ("item", &call("1", "a")),
        ("compacted", &copy),
        ("world_state", &copy),
        ("event", &copy),
        ("new_kind", &call("2", "b")),
    ]);
    assert_eq!(reading.events, [r#"#0 main/1 exec_command {"cmd":"a"}"#]);
}

#[test]
fn a_thread_with_a_parent_is_a_worker() {
    let table = [
        (r#"{"id":"t","session_id":"s"}"#, "main", "s"),
        (r#"{"id":"t","session_id":"s","parent_thread_id":"p"}"#, "t", "s"),
        (r#"{"id":"t","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p"}}}}"#, "t", "p"),
        (r#"{"id":"t","source":{"subagent":"review"}}"#, "t", "t"),
        (r#"{"id":"t","forked_from_id":"f","source":"cli"}"#, "main", "t"),
    ];
    for (meta, worker, session) in table {
        let later = r#"{"id":"f","session_id":"f","parent_thread_id":"g"}"#;
        let reading = rollout(&[
            ("session_meta", meta),
            ("session_meta", later),
            ("item", &call("1", "a")),
            ("item", &output("1", "x")),
        ]);
        let expected = [
            format!(r#"#0 {worker}/1 exec_command {{"cmd":"a"}}"#),
            format!("#0 {worker} -> \"x\""),
        ];
        assert_eq!(reading.events, expected);
        let trace = reading.end.expect("a trace");
        assert_eq!((trace.session.as_deref(), trace.workers), (Some(session), 1));
    }
}

#[test]
fn the_oldest_rollouts_have_bare_items() {
    let items = [call("1", "a"), output("1", "x"), message("assistant", "Done.")];
    let input = format!(
        "{{\"id\":\"s\",\"timestamp\":\"t\",\"instructions\":null}}\n{{\"record_type\":\"state\"}}\n{}\n",
        items.join("\n")
    );
    let reading = reading(input.as_bytes(), None);
    let expected =
        [r#"#0 main/1 exec_command {"cmd":"a"}"#, "#0 main -> \"x\"", "main Assistant only: Done."];
    assert_eq!(reading.events, expected);
    assert_eq!(reading.end.map(|trace| trace.session), Ok(Some("s".to_owned())));
}

#[test]
fn lines_of_other_programs_are_no_calls() {
    let reading = rollout(&[
        ("item", r#"{"type":"tool_call","function":{"name":"x"},"arguments":{}}"#),
        ("item", r#"{"type":"tool_result","name":"x","result":{}}"#),
        ("item", r#"{"type":"function_call","call_id":"1"}"#),
        ("item", "[]"),
        ("item", "null"),
    ]);
    assert_eq!(reading.events.len(), 0);
    assert_eq!(reading.problems(), ["line 3: a function call needs the field `name`"]);
}
