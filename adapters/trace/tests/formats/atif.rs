//! ATIF trajectories: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::{Event, Format, read};

#[test]
fn calls_share_their_step_and_results_name_them() {
    let input = br#"{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"x"},"steps":[
        {"step_id":1,"source":"system","message":"Be brief."},
        {"step_id":2,"source":"user","message":[{"type":"text","text":"Go"}]},
        {"step_id":3,"source":"agent","message":"Both.","tool_calls":[
            {"tool_call_id":"a","function_name":"ls","arguments":{"p":1}},
            {"tool_call_id":"b","function_name":"cat","arguments":"{\"p\":"},
            {"tool_call_id":"c","arguments":{}}],
         "observation":{"results":[
            {"source_call_id":"b","content":"no","extra":{"is_error":true}},
            {"content":"of no call"},
            {"source_call_id":"z","content":"orphan"},
            {"source_call_id":"a","content":[{"type":"text","text":"x"}]}]}},
        {"step_id":4,"source":"agent","message":"","tool_calls":[{"tool_call_id":"a","function_name":"ls","arguments":{"p":1}}]},
        {"step_id":5,"source":"system","message":"","observation":{"results":[{"source_call_id":"a","content":"late","extra":{"tool_result_is_error":false}}]}},
        {"step_id":6,"source":"agent","message":"Done."},
        {"step_id":7},
        7]}"#;
    let reading = reading(input, None);
    let expected = [
        "main System: Be brief.",
        "main User: Go",
        "main Assistant: Both.",
        "#0 main/1 ls {\"p\":1}",
        r#"#1 main/1 cat text "{\"p\":""#,
        "#1 main -> failed \"no\"",
        "#0 main -> \"x\"",
        "#2 main/2 ls {\"p\":1}",
        "main System: ",
        "#2 main -> \"late\"",
        "main Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
    let expected = [
        "line 12: a tool call needs the field `function_name`",
        "line 16: a step needs the field `source`",
        "line 17: expected a JSON object, found a number",
    ];
    assert_eq!(reading.problems(), expected);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.errors), (Format::ATIF, Some(1)));
    assert_eq!(trace.session.as_deref(), Some("s"));
}

#[test]
fn results_of_no_call_leave_the_calls_of_their_step_with_unknown_results() {
    let call = |id| {
        format!(r#"{{"tool_call_id":"{id}","function_name":"bash_command","arguments":{{}}}}"#)
    };
    let (a, b, c) = (call("a"), call("b"), call("c"));
    let input = format!(
        r#"{{"schema_version":"ATIF-v1.5","steps":[
        {{"step_id":1,"source":"agent","tool_calls":[{a}]}},
        {{"step_id":2,"source":"agent","tool_calls":[{b},{c}],
          "observation":{{"results":[{{"content":"root@x:/# "}},{{"source_call_id":"c","content":"x"}}]}}}},
        {{"step_id":3,"source":"system","message":"m","observation":{{"results":[{{"source_call_id":null,"content":"y"}}]}}}}]}}"#
    );
    let expected = [
        "#0 main/1 bash_command {}",
        "#1 main/2 bash_command {}",
        "#2 main/2 bash_command {}",
        "#2 main -> \"x\"",
        "#1 main -> \"\" +1",
        "main System: m",
        "#0 main -> \"\" +0",
    ];
    assert_eq!(reading(input.as_bytes(), None).events, expected);
}

#[test]
fn copied_steps_are_skipped_and_subagents_are_workers() {
    let call = r#"{"source":"agent","tool_calls":[{"tool_call_id":"1","function_name":"ls"}],"observation":{"results":[{"source_call_id":"1","content":"x"}]},"metrics":{"prompt_tokens":1}"#;
    let inner = format!(
        r#"{{"trajectory_id":"t2","agent":{{}},"steps":[{call}}}],"subagent_trajectories":[{{"session_id":"s3","steps":[{call}}}]}},{{"steps":[{{}}]}}]}}"#
    );
    let input = format!(
        r#"{{"schema_version":"ATIF-v1.7","steps":[{call},"is_copied_context":true}},{call}}}],"subagent_trajectories":[{inner}]}}"#
    );
    let reading = reading(input.as_bytes(), None);
    let expected = [
        "#0 main/1 ls null",
        "#0 main -> \"x\"",
        "#1 t2/2 ls null",
        "#1 t2 -> \"x\"",
        "#2 s3/3 ls null",
        "#2 s3 -> \"x\"",
    ];
    assert_eq!(reading.events, expected);
    assert_eq!(reading.problems(), ["line 1: a step needs the field `source`"]);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.workers, trace.tokens.map(|tokens| tokens.input)), (3, Some(3)));
}

#[test]
fn subagents_nest_to_a_limit() {
    let depth = 100_000;
    let input = format!(
        r#"{{"steps":[{{"step_id":1,"source":"user","message":"Go"}}],"subagent_trajectories":[{}{}]}}"#,
        r#"{"steps":[{"source":"user","message":"Go"}],"subagent_trajectories":["#.repeat(depth),
        "]}".repeat(depth)
    );
    let reading = reading(input.as_bytes(), Some(Format::ATIF));
    assert_eq!(reading.events.len(), 9);
    let expected =
        ["line 1: subagents are nested more than 8 levels deep, and the inner ones are not read"];
    assert_eq!(reading.problems(), expected);
}

#[test]
fn arguments_with_a_redacted_value_are_equal_to_no_others() {
    for args in [r#"{"path":"a","content":"<redacted>"}"#, r#""[REDACTED]""#, r#"{"x":["****"]}"#] {
        let call = format!(r#"{{"tool_call_id":"c","function_name":"ls","arguments":{args}}}"#);
        let step =
            format!(r#"{{"step_id":1,"source":"agent","message":"","tool_calls":[{call}]}}"#);
        let input = format!(r#"{{"schema_version":"ATIF-v1.7","steps":[{step},{step}]}}"#);
        let mut found = Vec::new();
        let trace = read(input.as_bytes(), None, &mut |event| {
            if let Event::Call(call) = event {
                found.push(call.compared_args().into_owned());
            }
        });
        assert_eq!(trace.map(|trace| (trace.calls, trace.without_args)), Ok((2, 2)));
        assert_ne!(found.first(), found.get(1), "{args}");
    }
}

#[test]
fn redacted_values_are_equal_to_no_others() {
    let call = r#"{"tool_call_id":"<redacted>","function_name":"ls","arguments":"<redacted>"}"#;
    let step = format!(
        r#"{{"step_id":1,"source":"agent","message":"<redacted>","tool_calls":[{call}],"observation":{{"results":[{{"source_call_id":"<redacted>","content":"<redacted>"}}]}}}}"#
    );
    let input = format!(r#"{{"schema_version":"ATIF-v1.7","steps":[{step},{step}]}}"#);
    let (mut args, mut results, mut messages) = (Vec::new(), Vec::new(), 0);
    let trace = read(input.as_bytes(), None, &mut |event| match event {
        Event::Call(call) => args.push(call.compared_args().into_owned()),
        Event::Outcome(outcome) => {
            assert_eq!(outcome.text, "<redacted>");
            results.push(outcome.cut.map(str::to_owned));
        }
        Event::Message(_) => messages += 1,
        Event::Begin(_) | Event::Usage(_) | Event::Time(_) => {}
    });
    assert_eq!(trace.map(|trace| (trace.calls, trace.without_args)), Ok((2, 2)));
    assert_ne!(args.first(), args.get(1));
    assert_eq!((results.len(), messages), (2, 0));
    assert!(results.iter().all(Option::is_some) && results.first() != results.get(1));
}
