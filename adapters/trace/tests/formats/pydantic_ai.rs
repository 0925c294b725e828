//! Messages of Pydantic AI: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::{Event, Format, read};

#[test]
fn parts_are_calls_results_and_words() {
    let input = br#"[
        {"kind":"request","parts":[{"part_kind":"system-prompt","content":"Be brief."},{"part_kind":"user-prompt","content":["Go",{"kind":"image-url","url":"u"}]}]},
        {"kind":"response","parts":[
            {"part_kind":"thinking","content":"Hm."},
            {"part_kind":"text","content":"Both."},
            {"part_kind":"builtin-tool-call","tool_name":"web_search","tool_call_id":"s","args":{}},
            {"part_kind":"tool-call","tool_name":"ls","tool_call_id":"a","args":{"p":1}},
            {"part_kind":"tool-call","tool_name":"cat","tool_call_id":"b","args":"{\"p\":2}"},
            {"part_kind":"tool-call","tool_call_id":"c"},
            {"part_kind":"text","content":"Now."}]},
        {"kind":"request","parts":[
            {"part_kind":"tool-return","tool_name":"cat","tool_call_id":"b","content":{"n":1},"outcome":"success"},
            {"part_kind":"retry-prompt","tool_name":"ls","tool_call_id":"a","content":[{"msg":"Field required"}]},
            {"part_kind":"tool-return","tool_call_id":"z","content":"orphan","outcome":"failed"}]},
        {"kind":"response","parts":[{"part_kind":"text","content":"Done."}]},
        {"kind":"request","parts":[{"part_kind":"retry-prompt","tool_name":null,"content":"Use the tool."}]},
        {"kind":"request","parts":[{"part_kind":"retry-feedback","content":"Use the tool."}]},
        {"parts":[]}]"#;
    let reading = reading(input, None);
    let expected = [
        "main System: Be brief.",
        "main User: Go\n{\"kind\":\"image-url\",\"url\":\"u\"}",
        "main Assistant: Both.",
        "#0 main/1 ls {\"p\":1}",
        "#1 main/1 cat {\"p\":2}",
        "main Assistant: Now.",
        r#"#1 main -> "{\"n\":1}""#,
        r#"#0 main -> failed "{\"msg\":\"Field required\"}""#,
        "main Assistant only: Done.",
        "main System: Use the tool.",
        "main System: Use the tool.",
    ];
    assert_eq!(reading.events, expected);
    let expected = [
        "line 10: a tool call needs the field `tool_name`",
        "line 18: a message needs the field `kind`",
    ];
    assert_eq!(reading.problems(), expected);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.errors), (Format::PYDANTIC_AI, Some(1)));
}

#[test]
fn an_outcome_says_whether_a_call_failed_or_was_refused() {
    let table = [
        ("success", false, false),
        ("failed", true, false),
        ("interrupted", true, false),
        ("retried", true, false),
        ("denied", false, true),
    ];
    for (outcome, failed, refused) in table {
        let input = format!(
            r#"[{{"kind":"response","parts":[{{"part_kind":"tool-call","tool_name":"ls","tool_call_id":"a"}}]}},
                {{"kind":"request","parts":[{{"part_kind":"tool-return","tool_call_id":"a","content":"x","outcome":"{outcome}"}}]}}]"#
        );
        let mut found = None;
        let trace = read(input.as_bytes(), None, &mut |event| {
            if let Event::Outcome(outcome) = event {
                found = Some((outcome.failed, outcome.refused));
            }
        });
        assert_eq!(found, Some((failed, refused)), "{outcome}");
        assert_eq!(trace.map(|trace| trace.errors), Ok(Some(usize::from(failed))), "{outcome}");
    }
}
