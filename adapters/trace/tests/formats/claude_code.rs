//! Claude Code sessions: one small case for each trap that real files set.

use std::fmt::Write;

use crate::reading::reading;
use unstuck_trace::Format;

/// A line in short: `a` or `u` for the role, the message's id and further fields, the content.
type Line<'a> = (&'a str, &'a str, &'a str);

/// The lines of a session, written out.
fn session(lines: &[Line<'_>]) -> Vec<u8> {
    let mut input = String::new();
    for (who, fields, content) in lines {
        let kind = if *who == "u" { "user" } else { "assistant" };
        let (id, fields) = fields.split_once(' ').unwrap_or((fields, ""));
        let id = if id.is_empty() { String::new() } else { format!(r#""id":"{id}","#) };
        let message = format!("{{{id}\"content\":{content}}}");
        writeln!(input, r#"{{"type":"{kind}",{fields}"message":{message}}}"#).expect("a string");
    }
    input.into_bytes()
}

#[test]
fn an_array_of_messages_is_read_like_its_lines() {
    let lines = [
        r#"{"type":"system","subtype":"init","session_id":"s","tools":[]}"#,
        r#"{"type":"assistant","session_id":"s","message":{"content":[{"type":"tool_use","id":"c","name":"T","input":{}}]}}"#,
        r#"{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"x","is_error":true}]}}"#,
        r#"{"type":"result","subtype":"success","session_id":"s","usage":{"output_tokens":9}}"#,
    ];
    let expected = ["#0 main/1 T {}", "#0 main -> failed \"x\""];
    let indented = format!("[\n  {}\n]\n", lines.join(",\n  ").replace("\"type\"", "\n\"type\""));
    for input in [lines.join("\n"), format!("[{}]", lines.join(",")), indented] {
        for from in [None, Some(Format::CLAUDE_CODE)] {
            let reading = reading(input.as_bytes(), from);
            assert_eq!(reading.events, expected);
            assert_eq!(reading.end.map(|trace| trace.session), Ok(Some("s".to_owned())));
        }
    }
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn call(id: &str, args: u8) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"T","input":{args}}}"#)
}

fn result(id: &str, content: &str) -> String {
    format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":{content}}}"#)
}

/// The calls of a session as "index/step", with its other events left out.
fn steps(lines: &[Line<'_>]) -> Vec<String> {
    let events = reading(&session(lines), None).events;
    let calls = events.iter().filter(|event| event.contains('/'));
    calls.filter_map(|call| call.split(' ').nth(1)).map(str::to_owned).collect()
}

#[test]
fn one_answer_over_several_lines_is_one_turn() {
    let lines = [
        ("u", "", "\"Go\""),
        ("a", "m1", &*format!("[{}]", text("First."))),
        ("a", "m1", &*format!("[{}]", text("Then."))),
        ("a", "m1", &*format!("[{}]", call("c1", 1))),
        ("u", "", &*format!("[{}]", result("c1", "\"one\""))),
        ("a", "m1", &*format!("[{},{}]", call("c2", 2), text("Both run."))),
        ("u", "", &*format!("[{}]", result("c2", r#"[{"type":"text","text":"two"}]"#))),
        ("a", "m2", &*format!("[{}]", text("Done."))),
    ];
    let reading = reading(&session(&lines), None);
    let expected = [
        "main User: Go",
        "main Assistant: First.\nThen.",
        "#0 main/1 T 1",
        "#0 main -> \"one\"",
        "#1 main/1 T 2",
        "main Assistant: Both run.",
        "#1 main -> \"two\"",
        "main Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
}

#[test]
fn steps_follow_ids_and_results() {
    let (one, two) = (format!("[{}]", call("c1", 1)), format!("[{}]", call("c2", 2)));
    let (one, two) = (one.as_str(), two.as_str());
    let back = format!("[{}]", result("c1", "\"x\""));
    let back = back.as_str();
    let table: [(&[Line<'_>], [&str; 2]); 6] = [
        (&[("a", "m1", one), ("a", "m1", two)], ["main/1", "main/1"]),
        (&[("a", "m1", one), ("a", "m2", two)], ["main/1", "main/1"]),
        (&[("a", "", one), ("a", "", two)], ["main/1", "main/1"]),
        (&[("a", "", one), ("u", "", back), ("a", "", two)], ["main/1", "main/2"]),
        (&[("a", "m1", one), ("u", "", back), ("a", "m2", two)], ["main/1", "main/2"]),
        (&[("a", "m1", one), ("u", "", "\"No\""), ("a", "m1", two)], ["main/1", "main/2"]),
    ];
    for (lines, expected) in table {
        assert_eq!(steps(lines), expected, "{lines:?}");
    }
}

#[test]
fn a_turn_goes_on_behind_a_result_until_its_calls_are_answered() {
    let [one, two, three] = [1, 2, 3].map(|n| format!("[{}]", call(&format!("c{n}"), n)));
    let back = format!("[{}]", result("c1", "\"x\""));
    let lines = [("a", "m1", &*one), ("u", "", &*back), ("a", "m1", &*two), ("a", "m2", &*three)];
    assert_eq!(steps(&lines), ["main/1", "main/1", "main/1"]);
}

#[test]
fn answers_without_calls_are_turns_of_their_own() {
    let call = format!("[{}]", call("c", 0));
    let lines = [
        ("a", "m1", "\"One.\""),
        ("a", "m2", "\"Two.\""),
        ("a", "", "\"Three.\""),
        ("u", " \"isMeta\":true,", "\"Go on\""),
        ("a", "", &*call),
        ("u", "", "\"Stop\""),
        ("a", "", "\"Four.\""),
        ("a", "", "\"Five.\""),
        ("a", "", &*call.replace('0', "1")),
    ];
    let expected = [
        "main Assistant only: One.",
        "main Assistant only: Two.",
        "main Assistant only: Three.",
        "#0 main/1 T 0",
        "main User: Stop",
        "main Assistant only: Four.",
        "main Assistant: Five.",
        "#1 main/2 T 1",
    ];
    assert_eq!(reading(&session(&lines), None).events, expected);
}

#[test]
fn mirrors_are_dropped_and_repeats_are_not() {
    let random = "call_e55a5b729638448fb77ba8fc";
    let both = format!("[{},{}]", call(random, 1), call("c2", 2));
    let (one, back) = (format!("[{}]", call(random, 1)), format!("[{}]", result(random, "\"x\"")));
    let again = [
        ("a", "m1", one.as_str()),
        ("a", "m2", both.as_str()),
        ("u", "", back.as_str()),
        ("u", "", back.as_str()),
        ("a", "m3", one.as_str()),
    ];
    let expected = ["#0 main/1 T 1", "#1 main/1 T 2", "#0 main -> \"x\""];
    assert_eq!(reading(&session(&again), None).events, expected);

    let (one, back) =
        (format!("[{}]", call("call_0", 1)), format!("[{}]", result("call_0", "\"x\"")));
    let turn = [("a", "", one.as_str()), ("u", "", back.as_str())];
    let expected = ["#0 main/1 T 1", "#0 main -> \"x\"", "#1 main/2 T 1", "#1 main -> \"x\""];
    assert_eq!(reading(&session(&[turn, turn].concat()), None).events, expected);
}

#[test]
fn a_result_that_fits_no_call_is_dropped() {
    let orphan = r#"[{"type":"tool_result","content":"x","is_error":true},{"type":"tool_result","tool_use_id":"?","is_error":true}]"#;
    let bare = r#"[{"type":"tool_use","name":"T","input":{}}]"#;
    let reading = reading(&session(&[("a", "", bare), ("u", "", orphan)]), None);
    assert_eq!(reading.events, ["#0 main/1 T {}"]);
    assert_eq!(reading.end.map(|trace| trace.errors), Ok(Some(0)));
}

#[test]
fn every_shape_of_result_has_a_text() {
    let table = [
        ("\"plain\"", "\"plain\""),
        (r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#, "\"a\\nb\""),
        ("{\"callId\":1}", r#""{\"callId\":1}""#),
        ("null", "\"\""),
        ("\"cut \\ud83d\"", "\"cut \u{fffd}\u{fffd}\u{fffd}\""),
    ];
    for (content, expected) in table {
        let (one, back) = (format!("[{}]", call("c", 1)), format!("[{}]", result("c", content)));
        let reading = reading(&session(&[("a", "", &one), ("u", "", &back)]), None);
        assert_eq!(reading.events.get(1), Some(&format!("#0 main -> {expected}")));
        assert_eq!(reading.problems(), [""; 0]);
    }
}

#[test]
fn workers_are_agents_and_chains() {
    let (one, two) = (format!("[{}]", call("c", 1)), format!("[{}]", call("c", 2)));
    let (one, two) = (one.as_str(), two.as_str());
    let lines = [
        ("a", r#" "uuid":"1","isSidechain":false,"#, one),
        ("u", r#" "uuid":"2","parentUuid":null,"isSidechain":true,"#, "\"Look\""),
        ("u", r#" "uuid":"3","parentUuid":null,"isSidechain":true,"#, "\"Search\""),
        ("a", r#" "uuid":"4","parentUuid":"2","isSidechain":true,"#, one),
        ("a", r#" "uuid":"5","parentUuid":"3","isSidechain":true,"#, one),
        ("a", r#" "uuid":"7","parentUuid":"lost","isSidechain":true,"#, two),
        ("a", r#" "uuid":"6","isSidechain":true,"agentId":"a77","#, one),
        ("a", r#" "parent_tool_use_id":"c","session_id":"s","#, one),
    ];
    let reading = reading(&session(&lines), None);
    let expected = [
        "#0 main/1 T 1",
        "sidechain User: Look",
        "sidechain-2 User: Search",
        "#1 sidechain/2 T 1",
        "#2 sidechain-2/3 T 1",
        "#3 sidechain-2/3 T 2",
        "#4 a77/4 T 1",
        "#5 c/5 T 1",
    ];
    assert_eq!(reading.events, expected);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.workers, trace.session.as_deref()), (5, Some("s")));
}

#[test]
fn only_typed_text_is_an_instruction() {
    let table = [
        ("", "\"Fix it\"", true),
        ("", r#"[{"type":"image"},{"type":"text","text":"Fix it"}]"#, true),
        (r#" "origin":{"kind":"human"},"#, "\"Fix it\"", true),
        ("", "\"[Request interrupted by user]\"", true),
        (" \"isMeta\":true,", "\"Fix it\"", false),
        (" \"isCompactSummary\":true,", "\"Fix it\"", false),
        (r#" "origin":{"kind":"task-notification"},"#, "\"Fix it\"", false),
        ("", "\"<command-name>/status</command-name>\"", false),
        ("", r#"[{"type":"text","text":"<local-command-stdout>x"}]"#, false),
        ("", "[\"no block\"]", false),
        ("", r#"[{"type":"tool_result","content":"x"}]"#, false),
    ];
    for (fields, content, is_message) in table {
        let reading = reading(&session(&[("u", fields, content)]), None);
        assert_eq!(reading.events.len(), usize::from(is_message), "{fields} {content}");
    }
}

#[test]
fn texts_of_the_program_are_not_the_agents() {
    let input = br#"{"type":"user","message":{"content":"Go"}}
{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"API Error"}]}}
{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}
{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"x"},{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]}}
{"type":"progress","data":{"message":{"type":"assistant","message":{"content":[{"type":"tool_use","name":"T"}]}}}}
{"silly":"this"}
{"type":"user","message":"error"}
"#;
    let reading = reading(input, None);
    assert_eq!(reading.events, ["main User: Go"]);
    assert_eq!(reading.problems(), [""; 0]);
}

#[test]
fn a_block_without_a_name_is_reported_and_the_others_are_read() {
    let blocks = format!(r#"[{{"type":"tool_use","id":"x"}},{}]"#, call("c", 1));
    let reading = reading(&session(&[("a", "", &blocks)]), None);
    assert_eq!(reading.events, ["#0 main/1 T 1"]);
    assert_eq!(reading.problems(), ["line 1: a tool_use block needs the field `name`"]);
}

#[test]
fn an_export_is_read_up_to_its_break() {
    let whole = br#"{"loglines":[
{"type":"user","message":{"content":"Go"}},
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c","name":"T","input":{}}]}},
7,
{"type":"user","mess"#;
    let reading = reading(whole, None);
    assert_eq!(reading.events, ["main User: Go", "#0 main/1 T {}"]);
    let expected = [
        "line 4: expected a JSON object, found a number",
        "line 5: the document is broken here: EOF while parsing a string at column 20",
    ];
    assert_eq!(reading.problems(), expected);
}
