//! opencode sessions: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::Format;

fn export(messages: &[&str]) -> String {
    format!("{{\n\"info\":{{\"id\":\"s\"}},\n\"messages\":[{}]}}", messages.join(",\n"))
}

fn message(role: &str, parts: &str) -> String {
    format!(r#"{{"info":{{"role":"{role}","sessionID":"s"}},"parts":[{parts}]}}"#)
}

const START: &str = r#"{"type":"step-start"}"#;

fn tool(state: &str) -> String {
    format!(r#"{{"type":"tool","tool":"bash","callID":"c","state":{{"input":{{"n":1}},{state}}}}}"#)
}

#[test]
fn an_export_is_read_by_its_parts() {
    let failed = tool(r#""status":"error","error":"no""#);
    let ran = tool(r#""status":"completed","output":"x\n","metadata":{"exit":1}"#);
    let first = [START, r#"{"type":"text","text":"I look."}"#, &ran, &failed].join(",");
    let second = [START, &ran, START, r#"{"type":"text","text":"Done."}"#].join(",");
    let prompt = concat!(
        r#"{"type":"text","text":"Go"},{"type":"text","text":"Called Read","synthetic":true},"#,
        r#"{"type":"file","url":"x"}"#
    );
    let input = export(&[
        &message("user", prompt),
        &message("assistant", &first),
        &message("assistant", &second),
        &message("assistant", &tool(r#""status":"running""#)),
    ]);
    let expected = [
        "main User: Go",
        "main Assistant: I look.",
        "#0 main/1 bash {\"n\":1}",
        "#0 main -> failed \"x\\n\"",
        "#1 main/1 bash {\"n\":1}",
        "#1 main -> failed \"no\"",
        "#2 main/2 bash {\"n\":1}",
        "#2 main -> failed \"x\\n\"",
        "main Assistant only: Done.",
        "#3 main/3 bash {\"n\":1}",
    ];
    for from in [None, Some(Format::OPENCODE)] {
        let reading = reading(input.as_bytes(), from);
        assert_eq!(reading.events, expected);
        let trace = reading.end.expect("a trace");
        assert_eq!((trace.session.as_deref(), trace.errors), (Some("s"), Some(3)));
    }
}

#[test]
fn printed_lines_hold_the_same_parts() {
    let line = |kind: &str, part: &str| {
        format!(r#"{{"type":"{kind}","timestamp":1,"sessionID":"s","part":{part}}}"#)
    };
    let ran = tool(r#""status":"completed","output":"x\n\n[unstuck] Again.""#);
    let lines = [
        line("step_start", START),
        line("tool_use", &ran),
        line("tool_use", &tool(r#""status":"error","error":"[unstuck] This call was not run.""#)),
        line("step_finish", r#"{"type":"step-finish"}"#),
        line("step_start", START),
        line("text", r#"{"type":"text","text":"Done."}"#),
    ];
    let reading = reading(lines.join("\n").as_bytes(), None);
    let expected = [
        "#0 main/1 bash {\"n\":1}",
        "#0 main -> \"x\"",
        "#1 main/1 bash {\"n\":1}",
        "#1 main -> \"[unstuck] This call was not run.\"",
        "main Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
    assert_eq!(reading.end.map(|trace| trace.errors), Ok(Some(0)));
}

#[test]
fn a_part_that_cannot_be_read_costs_only_itself() {
    let parts = [r#"{"type":"tool","state":{}}"#, &tool(r#""output":"x""#)].join(",");
    let input = export(&[&message("assistant", &parts), r#"{"parts":[]}"#]);
    let reading = reading(input.as_bytes(), None);
    assert_eq!(reading.events, ["#0 main/1 bash {\"n\":1}", "#0 main -> \"x\""]);
    let problems =
        ["line 3: a tool part needs the field `tool`", "line 4: a message needs the field `info`"];
    assert_eq!(reading.problems(), problems);
}
