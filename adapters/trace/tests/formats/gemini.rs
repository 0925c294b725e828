//! Gemini CLI chats and Qwen Code sessions: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::Format;

const HEADER: &str = r#"{"sessionId":"s","projectHash":"h","kind":"main"}"#;

/// A call as a record holds it; without a result it has only begun.
fn call(id: &str, args: &str, result: Option<(&str, &str)>) -> String {
    let result = result.map_or(r#""status":"executing""#.to_owned(), |(status, text)| {
        format!(
            "\"status\":\"{status}\",\"result\":[{{\"functionResponse\":{{\"id\":\"{id}\",\
             \"response\":{{\"output\":\"{text}\"}}}}}}]"
        )
    });
    format!(r#"{{"id":"{id}","name":"sh","args":{args},{result}}}"#)
}

fn record(id: &str, text: &str, calls: &[String]) -> String {
    let calls = calls.join(",");
    format!(r#"{{"id":"{id}","type":"gemini","content":"{text}","toolCalls":[{calls}]}}"#)
}

fn user(id: &str, content: &str) -> String {
    format!(r#"{{"id":"{id}","type":"user","content":{content}}}"#)
}

fn echo(id: &str, text: &str) -> String {
    format!(r#"[{{"functionResponse":{{"id":"{id}","response":{{"error":"{text}"}}}}}}]"#)
}

#[test]
fn a_record_written_again_is_one_turn() {
    let begun = record("r", "I look.", &[call("1", "{}", None), call("2", "{\"x\":1}", None)]);
    let first = call("1", "{}", Some(("success", "one")));
    let done =
        record("r", "I look.", &[first.clone(), call("2", "{\"x\":1}", Some(("error", "no")))]);
    let all = format!(r#"{{"$set":{{"messages":[{},{done}]}}}}"#, user("u", "\"Go\""));
    let lines = [
        HEADER,
        r#"{"$set":{"messages":[{"id":"0","type":"user","content":[{"text":"<session_context>x"}]}]}}"#,
        &user("u", r#"[{"text":"Go"}]"#),
        r#"{"$set":{"lastUpdated":"x"}}"#,
        &record("r", "I look.", &[]),
        &begun,
        &record("r", "I look.", &[first]),
        &done,
        &user("e", &echo("1", "one")),
        &all,
        &record("q", "Done.", &[]),
        r#"{"id":"i","type":"info","content":"Cancelled."}"#,
    ];
    let reading = reading(lines.join("\n").as_bytes(), None);
    let expected = [
        "main User: Go",
        "main Assistant: I look.",
        "#0 main/1 sh {}",
        "#1 main/1 sh {\"x\":1}",
        "#0 main -> \"one\"",
        "#1 main -> failed \"no\"",
        "main Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.session.as_deref()), (Format::GEMINI, Some("s")));
    assert_eq!((trace.errors, trace.workers, trace.skipped), (Some(1), 1, 0));
}

#[test]
fn rewound_calls_have_run() {
    let again = |id: &str| record(id, "", &[call(id, "{}", Some(("success", "x")))]);
    let lines = [HEADER, &again("a"), r#"{"$rewindTo":"a"}"#, &again("b"), &again("a")];
    let expected = ["#0 main/1 sh {}", "#0 main -> \"x\"", "#1 main/2 sh {}", "#1 main -> \"x\""];
    assert_eq!(reading(lines.join("\n").as_bytes(), None).events, expected);
}

#[test]
fn a_call_without_id_or_result_has_run_if_its_status_says_so() {
    let table = [
        (r#""status":"success""#, Some("\"\"")),
        (r#""status":"cancelled","resultDisplay":"stopped""#, Some("\"stopped\"")),
        (r#""status":"error","resultDisplay":{"x":1}"#, Some("failed \"\"")),
        (r#""status":"executing""#, None),
        (r#""status":"success","result":[{"text":"a"},"b"]"#, Some("\"a\\nb\"")),
        (r#""status":"success","result":"a""#, Some("\"a\"")),
        (r#""result":[{"functionResponse":{"response":{"n":1}}}]"#, Some(r#""{\"n\":1}""#)),
    ];
    for (fields, result) in table {
        let line = format!(
            r#"{{"id":"r","type":"gemini","content":"","toolCalls":[{{"name":"f",{fields}}}]}}"#
        );
        let input = [HEADER, &line, &line].join("\n");
        let result = result.map(|result| format!("#0 main -> {result}"));
        let expected: Vec<_> = ["#0 main/1 f null".to_owned()].into_iter().chain(result).collect();
        assert_eq!(reading(input.as_bytes(), None).events, expected, "{fields}");
    }
}

#[test]
fn an_echo_is_the_result_if_there_is_no_other() {
    let lines = [HEADER, &record("r", "", &[call("1", "{}", None)]), &user("e", &echo("1", "no"))];
    let expected = ["#0 main/1 sh {}", "#0 main -> failed \"no\""];
    assert_eq!(reading(lines.join("\n").as_bytes(), None).events, expected);
}

#[test]
fn subagents_are_workers() {
    let header = r#"{"sessionId":"s7","projectHash":"h","kind":"subagent"}"#;
    let spawn = r#"{"id":"1","name":"spawn","args":{},"agentId":"other"}"#.to_owned();
    let of_other =
        r#"{"id":"b","type":"gemini","agentId":"a9","toolCalls":[{"id":"1","name":"ls"}]}"#;
    let input = [header, &record("a", "", &[spawn]), of_other].join("\n");
    let reading = reading(input.as_bytes(), None);
    assert_eq!(reading.events, ["#0 s7/1 spawn {}", "#1 a9/2 ls null"]);
    assert_eq!(reading.end.map(|trace| trace.workers), Ok(2));
}

#[test]
fn the_older_document_has_the_same_records() {
    let input = format!(
        "{{\n\"sessionId\":\"s\",\"projectHash\":\"h\",\"messages\":[\n{},\n{},\n{}]}}",
        user("u", "\"Go\""),
        record("r", "I look.", &[call("1", "{}", Some(("success", "x")))]),
        r#"{"id":"m","type":"model","parts":[{"text":"Hm","thought":true},{"text":"Done."}]}"#
    );
    let expected = [
        "main User: Go",
        "main Assistant: I look.",
        "#0 main/1 sh {}",
        "#0 main -> \"x\"",
        "main Assistant only: Done.",
    ];
    for from in [None, Some(Format::GEMINI)] {
        let reading = reading(input.as_bytes(), from);
        assert_eq!(reading.events, expected);
        assert_eq!(reading.end.map(|trace| trace.session), Ok(Some("s".to_owned())));
    }
}

#[test]
fn qwen_code_keeps_the_models_own_parts() {
    let input = br#"{"type":"user","sessionId":"s","uuid":"1","message":{"role":"user","parts":[{"text":"Go"}]}}
{"type":"assistant","sessionId":"s","uuid":"2","message":{"role":"model","parts":[{"text":"Hm","thought":true},{"text":"I look."},{"functionCall":{"id":"c","name":"ls","args":{"p":1}}}]}}
{"type":"assistant","sessionId":"s","uuid":"3","message":{"role":"model","parts":[{"functionCall":{"id":"d","name":"ls","args":{"p":2}}}]}}
{"type":"tool_result","sessionId":"s","uuid":"4","message":{"parts":[{"functionResponse":{"id":"c","response":{"output":"a"}}}]},"toolCallResult":{"callId":"c","status":"success"}}
{"type":"tool_result","sessionId":"s","uuid":"5","message":{"parts":[{"functionResponse":{"id":"d","response":{"output":"b"}}}]},"toolCallResult":{"callId":"d","status":"error"}}
{"type":"system","subtype":"ui_telemetry","sessionId":"s","message":{"role":"system","parts":[]}}
{"type":"user","subtype":"notification","sessionId":"s","message":{"parts":[{"text":"Ready"}]}}
{"type":"assistant","sessionId":"s","uuid":"6","message":{"role":"model","parts":[{"text":"Done."}]}}
"#;
    let reading = reading(input, None);
    let expected = [
        "main User: Go",
        "main Assistant: I look.",
        "#0 main/1 ls {\"p\":1}",
        "#1 main/1 ls {\"p\":2}",
        "#0 main -> \"a\"",
        "#1 main -> failed \"b\"",
        "main Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
    assert_eq!(reading.end.map(|trace| trace.session), Ok(Some("s".to_owned())));
}

#[test]
fn a_call_that_cannot_be_read_costs_only_itself() {
    let bad = r#"{"id":"0","args":{}}"#.to_owned();
    let line = record("r", "", &[bad, call("1", "{}", Some(("success", "x")))]);
    let reading = reading([HEADER, &line, "[1]"].join("\n").as_bytes(), None);
    assert_eq!(reading.events, ["#0 main/1 sh {}", "#0 main -> \"x\""]);
    let problems = [
        "line 2: a tool call needs the field `name`",
        "line 3: expected a JSON object, found an array",
    ];
    assert_eq!(reading.problems(), problems);
}
