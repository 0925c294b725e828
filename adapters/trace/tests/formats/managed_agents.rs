//! Events of Claude Managed Agents: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::Format;

fn event(id: u8, kind: &str, rest: &str) -> String {
    let time = "\"processed_at\":\"2026-11-21T21:33:55Z\"";
    format!(r#"{{"id":"sevt_{id}","type":"{kind}",{time},{rest}}}"#)
}

#[test]
fn events_are_read_in_lines_in_an_array_and_in_a_page() {
    let words = |text: &str| format!(r#""content":[{{"type":"text","text":"{text}"}}]"#);
    let events = [
        event(1, "user.message", &words("Go")),
        event(2, "span.model_request_start", r#""x":1"#),
        event(3, "agent.message", &words("I look.")),
        event(4, "agent.tool_use", r#""name":"bash","input":{"command":"ls"}"#),
        event(5, "agent.mcp_tool_use", r#""mcp_server_name":"s","name":"f","input":{}"#),
        event(6, "span.model_request_end", r#""model_usage":{"output_tokens":1}"#),
        event(7, "agent.mcp_tool_result", &format!(r#""mcp_tool_use_id":"sevt_5",{}"#, words("y"))),
        event(
            8,
            "agent.tool_result",
            &format!(r#""tool_use_id":"sevt_4","is_error":true,{}"#, words("x")),
        ),
        event(9, "agent.custom_tool_use", r#""name":"g","input":{}"#),
        event(
            10,
            "user.custom_tool_result",
            &format!(r#""custom_tool_use_id":"sevt_9",{}"#, words("z")),
        ),
        event(11, "agent.message", &words("Done.")),
        event(12, "session.status_idle", r#""stop_reason":{"type":"end_turn"}"#),
    ];
    let expected = [
        "main User: Go",
        "main Assistant: I look.",
        r#"#0 main/1 bash {"command":"ls"}"#,
        "#1 main/1 f {}",
        r#"#1 main -> "y""#,
        r#"#0 main -> failed "x""#,
        "#2 main/2 g {}",
        r#"#2 main -> "z""#,
        "main Assistant: Done.",
    ];
    let (lines, list) = (events.join("\n"), events.join(","));
    for input in [lines, format!("[{list}]"), format!("{{\"data\":[{list}],\"next_page\":null}}")] {
        for from in [None, Some(Format::MANAGED_AGENTS)] {
            let reading = reading(input.as_bytes(), from);
            assert_eq!(reading.events, expected);
            let trace = reading.end.expect("a trace");
            assert_eq!((trace.format, trace.errors), (Format::MANAGED_AGENTS, Some(1)));
        }
    }
}
