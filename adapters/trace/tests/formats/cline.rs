//! Tasks of Cline and Roo Code: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::{Event, Format, read};

const TASK: &str = r#"{"role":"user","content":[{"type":"text","text":"<task>\nFix it\n</task>"},{"type":"text","text":"<environment_details>\n# Files\n</environment_details>"}]}"#;

fn says(text: &str) -> String {
    format!(r#"{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}"#)
}

fn hears(texts: &[&str]) -> String {
    let block = |text: &&str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let blocks: Vec<String> = texts.iter().map(block).collect();
    format!(r#"{{"role":"user","content":[{}]}}"#, blocks.join(","))
}

fn events(messages: &[&str]) -> Vec<String> {
    let reading = reading(format!("[{}]", messages.join(",\n")).as_bytes(), None);
    assert_eq!(reading.end.map(|trace| trace.format), Ok(Format::CLINE));
    reading.events
}

#[test]
fn calls_stand_in_words_and_results_behind_a_line() {
    let messages = [
        TASK,
        &says(
            r"<thinking>\nhm\n</thinking>\n\nI look.\n\n<read_file>\n<path>a</path>\n</read_file>",
        ),
        &hears(&["[read_file for 'a'] Result:", r"x\n[1]\ny", "<environment_details>\\n"]),
        &says(r"<execute_command>\n<command>ls <a></command>\n</execute_command>"),
        &hears(&[
            r"[execute_command for 'ls <a>'] Result:\nThe tool execution failed with the following error:\nno",
        ]),
        &says(r"<attempt_completion>\n<result>Done</result>\n</attempt_completion>"),
        &hears(&[r"[attempt_completion] Result: Done\n\n<feedback>\nMore\n</feedback>"]),
        r#"{"role":"assistant","content":"<list_files>\n<path>.</path>"}"#,
    ];
    let expected = [
        "main User: Fix it",
        "main Assistant: I look.",
        r#"#0 main/1 read_file {"path":"a"}"#,
        r#"#0 main -> "x\n[1]\ny""#,
        r#"#1 main/2 execute_command {"command":"ls <a>"}"#,
        r#"#1 main -> failed "The tool execution failed with the following error:\nno""#,
        "main Assistant only: <attempt_completion>\n<result>Done</result>\n</attempt_completion>",
        "main User: More",
        r#"#2 main/3 list_files {"path":"."}"#,
    ];
    assert_eq!(events(&messages), expected);
}

#[test]
fn an_argument_may_hold_tags() {
    let call = says(
        r"<write_to_file>\n<path>a</path>\n<content>\n<b>x</b></content>y</content>\n</write_to_file>",
    );
    let found = events(&[TASK, &call]);
    let expected = r#"#0 main/1 write_to_file {"content":"<b>x</b></content>y","path":"a"}"#;
    assert_eq!(found.last().map(String::as_str), Some(expected));
}

#[test]
fn blocks_are_calls_and_their_results_may_be_texts() {
    let messages = [
        TASK,
        r#"{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"a","name":"read_file","input":{"n":1}},{"type":"tool_use","id":"b","name":"use_subagents","input":{}},{"type":"tool_use","id":"c","name":"read_file","input":{"n":2}},{"type":"tool_use","id":"d","name":"read_file","input":{"n":3}}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"z"},{"type":"text","text":"[subagents] Result:\nx\n[read_file for 'a'] Result:\ny"}]}"#,
        &says("Done."),
    ];
    let expected = [
        "main User: Fix it",
        "main Assistant: I look.",
        r#"#0 main/1 read_file {"n":1}"#,
        "#1 main/1 use_subagents {}",
        r#"#2 main/1 read_file {"n":2}"#,
        r#"#3 main/1 read_file {"n":3}"#,
        r#"#2 main -> "z""#,
        r#"#0 main -> "x""#,
        r#"#3 main -> "y""#,
        "main Assistant only: Done.",
    ];
    // The first result names no tool, so that it answers the first call.
    assert_eq!(events(&messages), expected);
}

#[test]
fn a_refusal_is_no_failure() {
    let input = [
        TASK,
        &says("<list_files><path>.</path></list_files>"),
        &hears(&[r"[list_files for '.'] Result:\nThe user denied this operation."]),
    ];
    let mut refused = Vec::new();
    let trace = read(format!("[{}]", input.join(",")).as_bytes(), None, &mut |event| {
        if let Event::Outcome(outcome) = event {
            refused.push((outcome.refused, outcome.failed));
        }
    });
    assert_eq!((refused, trace.expect("a trace").errors), (vec![(true, false)], None));
}

fn shown(kind: &str, what: &str, text: &str) -> String {
    let text = text.replace('"', "\\\"");
    format!(r#"{{"ts":1777073160794,"type":"{kind}","{kind}":"{what}","text":"{text}"}}"#)
}

#[test]
fn what_the_editor_shows_has_results_in_the_next_request() {
    let messages = [
        shown("say", "task", "Fix it"),
        shown("say", "api_req_started", r#"{"request":"<task>Fix it</task>","tokensIn":3}"#),
        shown("say", "text", "I look."),
        shown("say", "tool", r#"{"tool":"readFile","path":"a","content":"/a"}"#),
        shown("ask", "use_mcp_server", r#"{"serverName":"s","toolName":"f","arguments":"{}"}"#),
        r#"{"ts":1,"type":"say","say":"tool","text":"{}","partial":true}"#.to_owned(),
        shown(
            "say",
            "api_req_started",
            r#"{"request":"[read_file for 'a'] Result:\\nx\\n\\n[use_mcp_tool for 's'] Result:\\nError executing MCP tool"}"#,
        ),
        shown("ask", "command", "lsREQ_APP"),
        shown("ask", "command_output", ""),
        shown("say", "completion_result", "Done."),
    ];
    let expected = [
        "main User: Fix it",
        "main Assistant: I look.",
        r#"#0 main/1 readFile {"content":"/a","path":"a"}"#,
        r#"#1 main/1 s.f {"arguments":"{}","serverName":"s","toolName":"f"}"#,
        r#"#0 main -> "x""#,
        r#"#1 main -> failed "Error executing MCP tool""#,
        r#"#2 main/2 execute_command {"command":"ls"}"#,
        "main Assistant: Done.",
    ];
    let reading = reading(format!("[{}]", messages.join(",")).as_bytes(), None);
    assert_eq!(reading.events, expected);
    assert_eq!(reading.end.map(|trace| trace.format), Ok(Format::CLINE_UI));
}

#[test]
fn without_requests_a_result_is_what_the_editor_showed() {
    let messages = [
        shown("say", "api_req_started", r#"{"tokensIn":3}"#),
        shown("say", "command", "ls"),
        shown("say", "command_output", "x"),
        shown("say", "command_output", "y"),
        shown("say", "tool", r#"{"tool":"listFilesTopLevel","path":".","content":"a"}"#),
        shown("say", "tool", r#"{"tool":"readFile","path":"a","content":"/a"}"#),
        shown("say", "api_req_started", "{}"),
        shown("say", "tool", r#"{"tool":"readFile","path":"a"}"#),
    ];
    let expected = [
        r#"#0 main/1 execute_command {"command":"ls"}"#,
        r#"#1 main/1 listFilesTopLevel {"path":"."}"#,
        r#"#2 main/1 readFile {"content":"/a","path":"a"}"#,
        r#"#0 main -> "xy""#,
        r#"#1 main -> "a""#,
        r#"#3 main/2 readFile {"path":"a"}"#,
    ];
    assert_eq!(reading(format!("[{}]", messages.join(",")).as_bytes(), None).events, expected);
}
