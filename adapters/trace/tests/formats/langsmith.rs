//! Runs of `LangSmith`: one small case for each trap that real files set.

use crate::reading::reading;
use serde_json::{Value, json};
use unstuck_trace::{Format, Tokens};

/// Returns a run that begins in this second, with some members more.
fn run(id: &str, parent: Option<&str>, begin: u64, kind: &str, more: Value) -> Value {
    let mut run = json!({
        "id": id, "trace_id": "t", "parent_run_id": parent, "run_type": kind, "name": "ls",
        "start_time": format!("1970-01-01T00:00:{begin:02}.500000"),
        "end_time": format!("1970-01-01T00:00:{begin:02}.600000"),
        "error": null, "inputs": {}, "outputs": {}, "session_id": "a project",
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut run, more) {
        all.extend(more);
    }
    run
}

/// Returns the runs of a trace with a question, two calls, and an answer. The newest comes first, as in a page.
fn runs() -> Vec<Value> {
    let human = json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"],
        "kwargs": {"content": "Go", "type": "human"}});
    let result = json!({"output": {"content": "a.rs", "type": "tool", "name": "ls", "id": "r7",
        "tool_call_id": "c7", "status": "success"}});
    let answer = json!({"generations": [[{"text": "Done.", "message": {"lc": 1, "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "Done."}}}]]});
    let metadata = json!({"metadata": {"thread_id": "s1", "ls_provider": "x"}});
    vec![
        run("n", Some("a"), 4, "llm", json!({"outputs": answer})),
        run("d", Some("a"), 3, "tool", json!({"inputs": {"p": 2}, "outputs": null, "error": "no"})),
        run("c", Some("a"), 2, "tool", json!({"inputs": {"input": "{'p': 1}"}, "outputs": result})),
        run(
            "m",
            Some("a"),
            1,
            "llm",
            json!({"inputs": {"messages": [[human]]}, "prompt_tokens": 5,
            "completion_tokens": 2, "total_tokens": 7}),
        ),
        run("a", None, 0, "chain", json!({"extra": metadata})),
    ]
}

const EXPECTED: [&str; 6] = [
    "main User: Go",
    r#"#0 main/1 ls text "{'p': 1}""#,
    r#"#0 main -> "a.rs""#,
    r#"#1 main/1 ls {"p":2}"#,
    r#"#1 main -> failed "no""#,
    "main Assistant only: Done.",
];

#[test]
fn runs_are_read_in_every_document_and_in_lines() {
    let all = runs();
    let lines = all.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let mut root = all[4].clone();
    root["child_runs"] = all[..4].into();
    let inputs = [
        lines,
        json!(all).to_string(),
        json!({"runs": all, "cursors": {"next": null}}).to_string(),
        json!([root]).to_string(),
        root.to_string(),
    ];
    for input in inputs {
        let reading = reading(input.as_bytes(), None);
        assert_eq!(reading.events, EXPECTED, "{input}");
        let trace = reading.end.expect("a trace");
        assert_eq!((trace.format, trace.errors), (Format::LANGSMITH, Some(1)));
        assert_eq!(trace.tokens, Some(Tokens { input: 5, cached: 0, output: 2 }));
        assert_eq!((trace.session.as_deref(), trace.skipped), (Some("s1"), 0));
    }
    let pretty = reading(format!("{root:#}").as_bytes(), None);
    assert_eq!(pretty.events.len(), EXPECTED.len());
}

#[test]
fn inner_runs_need_no_ids_of_their_trace_and_are_read_to_a_depth() {
    let tool = |id: usize, inner: Value| {
        json!({"run_id": id.to_string(), "run_type": "tool", "name": format!("task{id}"),
            "inputs": {"id": id}, "outputs": {"output": "x"}, "child_runs": inner})
    };
    let nested = (0..40).rev().fold(Value::Null, |inner, id| tool(id, json!([inner])));
    let reading = reading(json!([nested]).to_string().as_bytes(), None);
    let problems = reading.problems();
    assert!(problems[0].contains("more than 32 levels deep"), "{problems:?}");
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.runs), (Format::LANGSMITH, 1));
    assert_eq!(trace.calls, 33);
}

#[test]
fn agents_are_named_by_their_metadata() {
    let metadata = json!({"metadata": {"lc_agent_name": "coder"}});
    let input = json!([
        run("a", None, 0, "chain", json!({"name": "coder", "extra": metadata})),
        run("c", Some("a"), 1, "tool", json!({"inputs": {"p": 1}, "outputs": {"output": "x"}})),
    ]);
    let events = reading(input.to_string().as_bytes(), None).events;
    assert_eq!(events, [r#"#0 coder/1 ls {"p":1}"#, r#"#0 coder -> "x""#]);
}

#[test]
fn messages_of_other_vendors_are_read() {
    let input = json!([
        run("m", Some("a"), 1, "llm", json!({
            "inputs": {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go"}]},
            "outputs": {"choices": [{"message": {"role": "assistant", "content": "I look."}}]}})),
        run("c", Some("a"), 2, "tool", json!({"inputs": {"p": 1, "input": 2}, "outputs": {"count": 3}})),
        run("n", Some("a"), 3, "llm", json!({
            "inputs": {"messages": [{"type": "tool", "content": "x", "tool_call_id": "c"}]}})),
        {"id": "x", "run_type": 7},
        {"run_type": "tool"},
    ]);
    let reading = reading(input.to_string().as_bytes(), None);
    let expected = [
        "main User: Go",
        "main Assistant: I look.",
        r#"#0 main/1 ls {"input":2,"p":1}"#,
        r#"#0 main -> "{\"count\":3}""#,
    ];
    assert_eq!(reading.events, expected);
    let problems = reading.problems();
    assert!(problems[0].ends_with("a run needs the field `run_type`"), "{problems:?}");
    assert!(problems[1].ends_with("a run needs the field `id`"), "{problems:?}");
}
