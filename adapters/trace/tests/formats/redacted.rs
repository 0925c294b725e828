//! Values that a program has hidden, in trajectories of ATIF.

use unstuck_trace::{Event, read};

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
