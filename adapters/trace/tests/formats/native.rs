//! Native traces: every kind of record, and every way in which one can be wrong.

use crate::reading::reading;
use unstuck_trace::Format;

#[test]
fn calls_results_and_messages_keep_their_order() {
    let input = br#"{"session":"s1","agent":"x"}
{"type":"message","role":"user","text":"Fix it","worker":"a"}
{"type":"message","role":"assistant","text":"I look.","worker":"a"}
{"type":"call","tool":"ls","args":{"b":1, "a":2},"result":"x","worker":"a"}
{"type":"call","tool":"rm","result":{"code": 1},"is_error":true,"worker":"a","result_sha":"9f"}
{"type":"message","role":"assistant","text":"Hm.","worker":"a"}
{"type":"message","role":"assistant","text":"Done.","worker":"a"}
{"type":"call","tool":"wait","args":null,"result":null,"worker":"b"}
{"type":"control","what":"compaction"}
"#;
    let reading = reading(input, None);
    let expected = [
        "a User: Fix it",
        "a Assistant: I look.",
        r#"#0 a/1 ls {"b":1, "a":2}"#,
        "#0 a -> \"x\"",
        "#1 a/2 rm null",
        r#"#1 a -> failed "{\"code\": 1}" +9f"#,
        "a Assistant only: Hm.",
        "#2 b/3 wait null",
        "a Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
    let trace = reading.end.expect("a trace");
    assert_eq!(trace.format, Format::NATIVE);
    assert_eq!(trace.session.as_deref(), Some("s1"));
    assert_eq!((trace.calls, trace.workers, trace.errors), (3, 2, Some(1)));
    assert_eq!((trace.skipped, trace.problems), (0, vec![]));
}

#[test]
fn calls_with_the_same_step_number_share_a_step() {
    let table: [(&[&str], &[u64]); 4] = [
        (&["5", "5", "6"], &[1, 1, 2]),
        (&["null", "null"], &[1, 2]),
        (&["5", "null", "5"], &[1, 2, 3]),
        (&["7", "3", "3"], &[1, 2, 2]),
    ];
    for (steps, expected) in table {
        let mut input = String::new();
        for step in steps {
            let line = "{\"type\":\"call\",\"tool\":\"t\",\"step\":N}\n";
            input += &line.replace('N', step);
        }
        let reading = reading(input.as_bytes(), None);
        let expected: Vec<String> = expected
            .iter()
            .enumerate()
            .map(|(index, step)| format!("#{index} main/{step} t null"))
            .collect();
        assert_eq!(reading.events, expected);
    }
}

#[test]
fn a_bad_line_costs_only_itself() {
    let table: [(&[u8], &str); 18] = [
        (b"[1]", "line 2: expected a JSON object, found an array"),
        (b"\"text\"", "line 2: expected a JSON object, found a string"),
        (
            br#"{"type":"call","#,
            "line 2: not a JSON object: EOF while parsing a value at column 15",
        ),
        (b"{\"type\":1}", "line 2: the field `type` must be a string"),
        (br#"{"tool":"x"}"#, "line 2: a record needs the field `type`"),
        (br#"{"type":"call"}"#, "line 2: a call needs the field `tool`"),
        (br#"{"type":"call","tool":7}"#, "line 2: the field `tool` must be a string"),
        (
            br#"{"type":"call","tool":"x","step":-1}"#,
            "line 2: the field `step` must be a whole number from 0",
        ),
        (
            br#"{"type":"call","tool":"x","is_error":"yes"}"#,
            "line 2: the field `is_error` must be true or false",
        ),
        (
            br#"{"type":"call","tool":"x","worker":3}"#,
            "line 2: the field `worker` must be a string",
        ),
        (
            br#"{"type":"call","tool":"x","time":"today"}"#,
            "line 2: the field `time` must be a time by RFC 3339 or in milliseconds since 1970",
        ),
        (
            br#"{"type":"message","role":"user","text":"x","time":1.5}"#,
            "line 2: the field `time` must be a time by RFC 3339 or in milliseconds since 1970",
        ),
        (
            br#"{"type":"call","tool":"x","tokens":7}"#,
            "line 2: the field `tokens` must be an object with whole numbers as `input`, `cached` \
             and `output`",
        ),
        (
            br#"{"type":"call","tool":"x","tokens":{"input":"7"}}"#,
            "line 2: the field `tokens` must be an object with whole numbers as `input`, `cached` \
             and `output`",
        ),
        (br#"{"type":"message","text":"x"}"#, "line 2: a message needs the field `role`"),
        (br#"{"type":"message","role":"user"}"#, "line 2: a message needs the field `text`"),
        (b"\xff{}", "line 2: not UTF-8 at byte 1: expected JSON in UTF-8"),
        (
            br#"{"type":"call","type":"call"}"#,
            "line 2: not a JSON object: duplicate field `type` at column 21",
        ),
    ];
    let call = b"{\"type\":\"call\",\"tool\":\"x\"}\n";
    for (bad, problem) in table {
        let reading = reading(&[call, bad, b"\n", call].concat(), None);
        assert_eq!(reading.problems(), [problem]);
        assert_eq!(reading.events, ["#0 main/1 x null", "#1 main/2 x null"]);
    }
}

#[test]
fn a_header_and_the_name_of_the_format_make_an_empty_trace() {
    let trace = reading(b"{\"session\":\"s\"}\n", Some(Format::NATIVE)).end.expect("a trace");
    assert_eq!((trace.calls, trace.workers, trace.errors), (0, 0, Some(0)));
}

#[test]
fn a_header_behind_a_record_begins_another_run() {
    let first = "{\"session\":\"s1\"}\n{\"type\":\"call\",\"tool\":\"x\",\"step\":0}\n";
    let said = "{\"type\":\"message\",\"role\":\"assistant\",\"text\":\"Done.\"}\n";
    for (header, name, problem) in [
        (r#"{"session":"s2","agent":"y"}"#, "s2", None),
        (r#"{"agent":"y"}"#, "unnamed", None),
        ("{}", "unnamed", None),
        ("{\"session\":2}", "unnamed", Some("line 4: the field `session` must be a string")),
    ] {
        let call = "{\"type\":\"call\",\"tool\":\"x\",\"step\":0}\n";
        let reading = reading(format!("{first}{said}{header}\n{call}").as_bytes(), None);
        let begin = format!("begin {name}");
        let expected =
            ["#0 main/1 x null", "main Assistant only: Done.", &begin, "#1 main/2 x null"];
        assert_eq!(reading.events, expected);
        assert_eq!(reading.problems(), problem.into_iter().collect::<Vec<_>>());
        let trace = reading.end.expect("a trace");
        assert_eq!((trace.runs, trace.calls, trace.workers), (2, 2, 2));
        assert_eq!(trace.session.as_deref(), Some("s1"));
    }
}

#[test]
fn a_header_before_the_first_record_begins_no_second_run() {
    let reading = reading(b"{\"messages\":[]}\n{\"messages\":[]}\n", Some(Format::NATIVE));
    assert_eq!(reading.problems(), ["line 2: a record needs the field `type`"]);
    assert!(reading.events.is_empty());
}

#[test]
fn problems_beyond_the_limit_are_counted() {
    let mut input = b"{\"type\":\"call\",\"tool\":\"x\"}\n".to_vec();
    input.extend(b"bad\n".repeat(50));
    let trace = reading(&input, None).end.expect("a trace");
    assert_eq!((trace.skipped, trace.problems.len()), (50, unstuck_trace::PROBLEMS_MAX));
}
