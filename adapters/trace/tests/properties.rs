//! What holds for any bytes: no panic, and no line costs another one.

mod told;

use proptest::collection::vec;
use proptest::prelude::*;
use told::told;
use unstuck_trace::Format;

const NATIVE: [&str; 4] = [
    r#"{"type":"call","tool":"bash","args":{"command":"ls"},"result":"a","is_error":false,"step":1}"#,
    r#"{"type":"message","role":"assistant","text":"I look.","worker":"b"}"#,
    r#"{"type":"call","tool":"read","args":["\ud83d"],"result":{"x":1},"worker":"b","result_sha":"9"}"#,
    r#"{"type":"message","role":"user","text":"Go on"}"#,
];

const CLAUDE: [&str; 4] = [
    r#"{"type":"user","sessionId":"s","uuid":"1","message":{"role":"user","content":"Go"}}"#,
    r#"{"type":"assistant","uuid":"2","parentUuid":"1","isSidechain":true,"message":{"id":"m","content":[{"type":"text","text":"I look."}]}}"#,
    r#"{"type":"assistant","uuid":"3","message":{"id":"m","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"ls"}}]}}"#,
    r#"{"type":"user","uuid":"4","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"a"}],"is_error":true}]}}"#,
];

const CHAT: &str = r#"{"messages":[{"role":"system","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c","content":"y"},{"role":"assistant","content":"Done."}]}"#;

/// Reads bytes in every way there is.
fn read_all_ways(input: &[u8]) {
    let ways = Format::ALL.map(Some).into_iter().chain([None]);
    for from in ways {
        let told = told(input, from);
        let delivered = told.events.iter().filter(|event| event.starts_with('#')).count();
        if let Ok(trace) = told.end {
            assert!(trace.calls <= delivered);
            assert!(trace.problems.len() <= trace.skipped);
        }
    }
}

/// Some lines of the two line formats, whole.
fn lines() -> impl Strategy<Value = Vec<&'static str>> {
    prop_oneof![
        vec(prop::sample::select(NATIVE.to_vec()), 1..8),
        vec(prop::sample::select(CLAUDE.to_vec()), 1..8),
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..300)) {
        read_all_ways(&bytes);
    }

    #[test]
    fn damaged_transcripts_are_read_or_refused(
        mut lines in lines(),
        chat in any::<bool>(),
        cuts in vec((any::<prop::sample::Index>(), 0_usize..9, vec(any::<u8>(), 0..5)), 1..6),
    ) {
        if chat {
            lines = vec![CHAT];
        }
        let mut input = lines.join("\n").into_bytes();
        for (at, length, put) in cuts {
            let at = at.index(input.len() + 1);
            let end = input.len().min(at + length);
            input.splice(at..end, put);
        }
        read_all_ways(&input);
    }

    #[test]
    fn a_bad_line_loses_no_other_event(
        lines in lines(),
        at in any::<prop::sample::Index>(),
        bad in prop::sample::select(vec![
            &b"{\"type\":\"call\",\"tool\""[..],
            b"{\"type\":\"user\",\"message\":{\"content\":\"\xff\"}}",
            b"[1,2]",
            b"\"text\"",
            b"42",
            b"\x00\x00\x00",
            b"{} {}",
        ]),
    ) {
        let whole = lines.join("\n");
        let expected = told(whole.as_bytes(), None);
        let format = expected.end.as_ref().expect("a trace").format;
        let mut records: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let at = at.index(records.len() + 1);
        records.insert(at, bad);
        let found = told(&records.join(&b'\n'), Some(format));
        prop_assert_eq!(&found.events, &expected.events);
        let problems = found.problems();
        prop_assert_eq!(problems.len(), 1);
        let place = format!("line {}: ", at + 1);
        prop_assert!(problems.iter().all(|problem| problem.starts_with(&place)));
    }

    #[test]
    fn a_document_cut_anywhere_delivers_a_beginning(at in any::<prop::sample::Index>()) {
        let whole = told(CHAT.as_bytes(), Some(Format::OpenAi)).events;
        let cut = told(CHAT.as_bytes().get(..at.index(CHAT.len())).unwrap_or_default(), Some(Format::OpenAi));
        prop_assert_eq!(&cut.events[..], &whole[..cut.events.len()]);
    }
}
