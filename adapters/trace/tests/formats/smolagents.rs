//! Memory of smolagents: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::Format;

#[test]
fn steps_are_read_in_a_list_and_in_a_result() {
    let steps = r#"
        {"system_prompt":"Be brief."},
        {"task":"Go","task_images":null},
        {"plan":"First a, then b.","model_input_messages":[{"role":"user"}]},
        {"step_number":1,"model_output":"Both.","observations":"x\ny","error":null,"tool_calls":[
            {"id":"a","type":"function","function":{"name":"ls","arguments":{"p":1}}},
            {"id":"c","function":{"arguments":{}}},
            {"name":"cat","arguments":"{\"p\":2}","id":"b"}]},
        {"step_number":2,"model_output":[{"type":"text","text":"Code."}],"observations":"logs",
         "error":{"type":"AgentExecutionError","message":"boom"},"action_output":"z","tool_calls":[
            {"id":"d","function":{"name":"python_interpreter","arguments":"f(1)"}}]},
        {"step_number":3,"model_output":"No blob.","tool_calls":[],"observations":null,
         "error":{"type":"AgentParsingError","message":"no blob"}},
        {"step_number":4,"model_output":null,"observations":null,"error":null,"tool_calls":[
            {"id":"e","function":{"name":"f","arguments":{}}}]},
        {"step":5,"observations":null,"action_output":"done","tool_calls":[
            {"id":"g","function":{"name":"final_answer","arguments":{"answer":1}}}]},
        {"step_number":6,"model_output":"I call.","observations":null,"error":{"message":"no"},"tool_calls":[],
         "model_output_message":{"role":"assistant","tool_calls":[
            {"id":"h","type":"function","function":{"name":"ls","arguments":{"p":3}}}]}},
        {"step_number":7,"observations":"x","tool_calls":[{"id":"i","function":{"name":"f","arguments":{}}}],
         "model_output_message":{"tool_calls":[{"id":"i","function":{"name":"f","arguments":{}}}]}},
        {"output":"done"}"#;
    let expected = [
        "main System: Be brief.",
        "main User: Go",
        "main Assistant: First a, then b.",
        "main Assistant: Both.",
        r#"#0 main/1 ls {"p":1}"#,
        r#"#1 main/1 cat {"p":2}"#,
        r#"#0 main -> "x\ny" +0"#,
        r#"#1 main -> "x\ny" +1"#,
        "main Assistant: Code.",
        r#"#2 main/2 python_interpreter text "f(1)""#,
        r#"#2 main -> failed "logs\nboom""#,
        "main Assistant only: No blob.",
        "#3 main/3 f {}",
        r#"#4 main/4 final_answer {"answer":1}"#,
        r#"#4 main -> "done""#,
        "main Assistant: I call.",
        r#"#5 main/5 ls {"p":3}"#,
        r#"#5 main -> failed "no""#,
        "#6 main/6 f {}",
        r#"#6 main -> "x""#,
    ];
    for (begin, end) in
        [("[", "]"), (r#"{"steps":["#, r#"],"state":"success"}"#), (r#"{"messages":["#, "]}")]
    {
        let reading = reading(format!("{begin}{steps}{end}").as_bytes(), None);
        assert_eq!(reading.events, expected);
        let problems = reading.problems();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].ends_with("a tool call needs the field `name`"), "{problems:?}");
        assert!(problems[1].ends_with("a step needs the field `step_number`"), "{problems:?}");
        let trace = reading.end.expect("a trace");
        assert_eq!((trace.format, trace.errors), (Format::SMOLAGENTS, Some(2)));
    }
}

/// Returns the results of steps that each have two calls.
fn results(steps: &[&str]) -> Vec<String> {
    let calls = r#""tool_calls":[{"name":"f","arguments":{}},{"name":"g","arguments":{}}]"#;
    let steps = steps.iter().map(|step| format!(r#"{{"step_number":1,{calls},{step}}}"#));
    let reading = reading(format!("[{}]", steps.collect::<Vec<_>>().join(",")).as_bytes(), None);
    reading.events.into_iter().filter(|event| event.contains(" -> ")).collect()
}

#[test]
fn calls_of_a_step_share_its_failure_and_none_is_accused_of_it() {
    let step = r#""observations":"x","error":{"message":"no"}"#;
    let expected = [
        r#"#0 main -> "x\nno" +0"#,
        r#"#1 main -> "x\nno" +1"#,
        r#"#2 main -> "x\nno" +0"#,
        r#"#3 main -> "x\nno" +1"#,
    ];
    assert_eq!(results(&[step, step]), expected);
    let input = format!(
        r#"[{{"step_number":1,{step},"tool_calls":[{{"name":"f"}},{{"name":"g"}}]}},
            {{"step_number":2,{step},"tool_calls":[]}}]"#
    );
    let trace = reading(input.as_bytes(), None).end.expect("a trace");
    assert_eq!((trace.calls, trace.errors), (2, Some(1)));
}

#[test]
fn results_with_other_pictures_are_different() {
    let step = |picture: &str| {
        format!(
            r#"{{"step_number":1,"observations":"x","observations_images":{picture},
                "tool_calls":[{{"name":"f","arguments":{{}}}}]}}"#
        )
    };
    let steps = ["[\"a\"]", "[\"b\"]", "[\"a\"]", "null"].map(step).join(",");
    let events = reading(format!("[{steps}]").as_bytes(), None).events;
    let results: Vec<_> =
        events.iter().filter_map(|event| Some(event.split_once(" -> ")?.1)).collect();
    let [first, other, again, none] = results[..] else { panic!("{events:?}") };
    assert!(first != other && first == again, "{events:?}");
    assert_eq!(none, "\"x\"");
}
