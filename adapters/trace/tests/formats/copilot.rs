//! GitHub Copilot CLI sessions: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::{Event, Format, read};

const START: &str = r#"{"type":"session.start","data":{"sessionId":"s","version":1}}"#;

fn request(ids: &[&str], more: &str) -> String {
    let calls = ids.iter().map(|id| {
        format!(r#"{{"toolCallId":"{id}","name":"bash","arguments":{{"command":"make"}}}}"#)
    });
    let calls = calls.collect::<Vec<_>>().join(",");
    format!(
        r#"{{"type":"assistant.message","data":{{"content":"","toolRequests":[{calls}]{more}}}}}"#
    )
}

fn start(id: &str) -> String {
    format!(
        r#"{{"type":"tool.execution_start","data":{{"toolCallId":"{id}","toolName":"bash","arguments":{{"command":"make"}}}}}}"#
    )
}

fn complete(id: &str, rest: &str) -> String {
    format!(r#"{{"type":"tool.execution_complete","data":{{"toolCallId":"{id}",{rest}}}}}"#)
}

fn ran(id: &str, shell: u8, code: u8) -> String {
    complete(
        id,
        &format!(
            r#""success":true,"shellExecution":{{"exitCode":{code}}},"result":{{"content":"x\n<shellId: {shell} completed with exit code {code}>"}}"#
        ),
    )
}

#[test]
fn a_request_and_its_execution_are_one_call_and_a_batch_one_step() {
    let lines = [
        START,
        r#"{"type":"user.message","data":{"content":"Go","transformedContent":"<now>Go"}}"#,
        r#"{"type":"system.message","data":{"role":"system","content":"You are"}}"#,
        r#"{"type":"assistant.message","data":{"content":"I look.","toolRequests":[]}}"#,
        &request(&["a", "b"], ""),
        &start("a"),
        &start("b"),
        &ran("b", 1, 1),
        &ran("a", 0, 0),
        &request(&["c"], ""),
        &start("c"),
        &ran("c", 2, 1),
        &start("d"),
        r#"{"type":"assistant.message","data":{"content":"Done."}}"#,
        r#"{"type":"hook.end","data":{"output":{}}}"#,
    ];
    let reading = reading(lines.join("\n").as_bytes(), None);
    let expected = [
        "main User: Go",
        "main Assistant only: I look.",
        r#"#0 main/1 bash {"command":"make"}"#,
        r#"#1 main/1 bash {"command":"make"}"#,
        r#"#1 main -> failed "x\n<shellId: 1 completed with exit code 1>""#,
        r#"#0 main -> "x\n<shellId: 0 completed with exit code 0>""#,
        r#"#2 main/2 bash {"command":"make"}"#,
        r#"#2 main -> failed "x\n<shellId: 2 completed with exit code 1>""#,
        r#"#3 main/3 bash {"command":"make"}"#,
        "main Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.session.as_deref()), (Format::COPILOT, Some("s")));
    assert_eq!((trace.errors, trace.skipped), (Some(2), 0));
}

#[test]
fn a_denied_call_is_refused_and_has_not_failed() {
    for error in [
        r#"{"message":"Denied by preToolUse hook: [unstuck] This call was not run.","code":"x"}"#,
        r#"{"message":"The user rejected it","code":"rejected"}"#,
        r#"{"message":"Denied","code":"denied"}"#,
    ] {
        let denied = complete("a", &format!(r#""success":false,"error":{error}"#));
        let input = [START, &request(&["a"], ""), &denied].join("\n");
        let mut refused = 0;
        let trace = read(input.as_bytes(), None, &mut |event| {
            if let Event::Outcome(outcome) = event {
                refused += usize::from(outcome.refused);
            }
        });
        assert_eq!((refused, trace.map(|trace| trace.errors)), (1, Ok(Some(0))), "{error}");
    }
    let failed = complete("a", r#""success":false,"error":{"message":"no such tool"}"#);
    let input = [START, &request(&["a"], ""), &failed].join("\n");
    assert_eq!(reading(input.as_bytes(), None).events[1], "#0 main -> failed \"no such tool\"");
}

#[test]
fn subagents_are_workers() {
    let of_agent = request(&["b"], r#","parentToolCallId":"a""#);
    let reading = reading([START, &request(&["a"], ""), &of_agent].join("\n").as_bytes(), None);
    let expected = [r#"#0 main/1 bash {"command":"make"}"#, r#"#1 a/2 bash {"command":"make"}"#];
    assert_eq!(reading.events, expected);
    assert_eq!(reading.end.map(|trace| trace.workers), Ok(2));
}

#[test]
fn a_call_that_cannot_be_read_costs_only_itself() {
    let line = r#"{"type":"assistant.message","data":{"toolRequests":[{"toolCallId":"a"},{"toolCallId":"b","name":"ls"}]}}"#;
    let reading = reading([START, line].join("\n").as_bytes(), None);
    assert_eq!(reading.events, ["#0 main/1 ls null"]);
    assert_eq!(reading.problems(), ["line 2: a tool request needs the field `name`"]);
}
