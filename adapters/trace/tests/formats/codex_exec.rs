//! The printed lines of `codex exec`: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::{Event, Format, read};

const START: &str = r#"{"type":"thread.started","thread_id":"t"}"#;

fn item(how: &str, id: &str, rest: &str) -> String {
    format!(r#"{{"type":"item.{how}","item":{{"id":"{id}","type":{rest}}}}}"#)
}

fn command(how: &str, id: &str, rest: &str) -> String {
    item(how, id, &format!(r#""command_execution","command":"ls",{rest}"#))
}

#[test]
fn a_started_and_a_completed_item_are_one_call() {
    let begun = r#""aggregated_output":"","exit_code":null,"status":"in_progress""#;
    let lines = [
        START,
        r#"{"type":"turn.started"}"#,
        &item("completed", "0", r#""error","message":"a warning""#),
        &item("completed", "1", r#""reasoning","text":"hm""#),
        &item("started", "2", r#""agent_message","text":"""#),
        &item("completed", "2", r#""agent_message","text":"I look.""#),
        &command("started", "3", begun),
        &command("started", "4", begun),
        &command("completed", "4", r#""aggregated_output":"y","exit_code":1,"status":"failed""#),
        &command("completed", "3", r#""aggregated_output":"x","exit_code":0,"status":"completed""#),
        &item("started", "5", r#""todo_list","items":[]"#),
        &command("started", "6", begun),
        &item("completed", "7", r#""agent_message","text":"Done.""#),
    ];
    let expected = [
        "main Assistant: I look.",
        r#"#0 main/1 command_execution {"command":"ls"}"#,
        r#"#1 main/1 command_execution {"command":"ls"}"#,
        r#"#1 main -> failed "y""#,
        r#"#0 main -> "x""#,
        r#"#2 main/2 command_execution {"command":"ls"}"#,
        "main Assistant only: Done.",
    ];
    let reading = reading(lines.join("\n").as_bytes(), None);
    assert_eq!(reading.events, expected);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.session.as_deref()), (Format::CODEX_EXEC, Some("t")));
}

#[test]
fn every_kind_of_call_has_its_arguments_and_its_result() {
    let table = [
        (
            r#""mcp_tool_call","server":"s","tool":"f","arguments":{"a":1},"result":{"content":[{"type":"text","text":"x"}]},"error":null,"status":"completed""#,
            [r#"#0 main/1 mcp__s__f {"a":1}"#, r#"#0 main -> "x""#],
        ),
        (
            r#""mcp_tool_call","server":"s","tool":"f","arguments":{},"result":null,"error":{"message":"no"},"status":"failed""#,
            ["#0 main/1 mcp__s__f {}", r#"#0 main -> failed "no""#],
        ),
        (
            r#""file_change","changes":[{"path":"a","kind":"add"}],"status":"completed""#,
            [
                r#"#0 main/1 file_change {"changes":[{"path":"a","kind":"add"}]}"#,
                r#"#0 main -> "completed"+0"#,
            ],
        ),
        (
            r#""web_search","query":"q","action":{"type":"search"}"#,
            [r#"#0 main/1 web_search {"query":"q"}"#, r#"#0 main -> ""+0"#],
        ),
        (
            r#""collab_tool_call","tool":"wait","prompt":null,"receiver_thread_ids":["u"],"agents_states":{"u":1},"status":"completed""#,
            [r#"#0 main/1 wait {"to":["u"],"prompt":null}"#, r#"#0 main -> "{\"u\":1}""#],
        ),
    ];
    for (rest, expected) in table {
        let events = reading(item("completed", "1", rest).as_bytes(), None).events;
        assert_eq!(events, expected.map(|event| event.replace("\"+0", "\" +0")), "{rest}");
    }
}

#[test]
fn the_first_versions_name_the_type_otherwise() {
    let lines = [
        START,
        r#"{"type":"item.completed","item":{"id":"0","item_type":"assistant_message","text":"I look."}}"#,
        r#"{"type":"item.completed","item":{"id":"1","item_type":"command_execution","command":"ls","aggregated_output":"x","exit_code":0,"status":"completed"}}"#,
    ];
    let expected = [
        "main Assistant: I look.",
        r#"#0 main/1 command_execution {"command":"ls"}"#,
        r#"#0 main -> "x""#,
    ];
    assert_eq!(reading(lines.join("\n").as_bytes(), None).events, expected);
}

#[test]
fn a_declined_command_is_refused() {
    let line = command("completed", "1", r#""aggregated_output":"no","status":"declined""#);
    let mut refused = Vec::new();
    let trace = read(line.as_bytes(), None, &mut |event| {
        if let Event::Outcome(outcome) = event {
            refused.push((outcome.refused, outcome.failed));
        }
    });
    assert_eq!((refused, trace.expect("a trace").errors), (vec![(true, false)], Some(0)));
}
