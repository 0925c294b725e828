//! The history of aider: lines that end in spaces, and words before the first chat.

use crate::reading::reading;
use unstuck_trace::{Event, Format, read};

const BEGIN: &str = "# aider chat started at 2026-11-21 21:33:55\n\n";

/// Returns an edit of a file, as an answer has it.
fn edit(path: &str, search: &str, replace: &str) -> String {
    format!("{path}\n```rust\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```\n")
}

#[test]
fn edits_are_calls_and_the_program_says_which_were_applied() {
    let input = [
        BEGIN,
        "> Aider v0.86.1  \n> Repo-map: using 4096 tokens  \n\n",
        "#### Fix it  \n####   \n#### > Applied edit to x  \n\n",
        "I look.\n\n",
        &edit("a.rs", "old\n> quoted", "x #### new"),
        "Then:\n\n",
        &edit("b.rs", "1", "2"),
        "> Tokens: 6,765 sent, 3,693 received. Cost: $0.08 message, $0.11 session.  \n",
        "> Applied edit to a.rs  \n> The LLM did not conform to the edit format.  \n",
        "I try again.\n",
        &edit("b.rs", "1", "3"),
        "> Running cargo test  \n",
        "#### Thanks\nBye.\n",
    ];
    let expected = [
        "main User: Fix it\n\n> Applied edit to x",
        "main Assistant: I look.\na.rs",
        r#"#0 main/1 edit {"path":"a.rs","replace":"x #### new","search":"old\n> quoted"}"#,
        r#"#1 main/1 edit {"path":"b.rs","replace":"2","search":"1"}"#,
        r#"#0 main -> "Applied edit to a.rs""#,
        r#"#1 main -> failed "The LLM did not conform to the edit format.""#,
        "main Assistant: I try again.\nb.rs",
        r#"#2 main/2 edit {"path":"b.rs","replace":"3","search":"1"}"#,
        r#"#3 main/2 run {"command":"cargo test"}"#,
        "main User: Thanks",
        "main Assistant only: Bye.",
    ];
    for from in [None, Some(Format::AIDER)] {
        let reading = reading(input.concat().as_bytes(), from);
        assert_eq!(reading.events, expected);
        let trace = reading.end.expect("a trace");
        assert_eq!((trace.format, trace.errors), (Format::AIDER, Some(1)));
        assert_eq!(trace.begin, Some(1_795_296_835_000));
    }
}

#[test]
fn words_before_the_first_chat_belong_to_none() {
    let with = format!("a note\n#### of a person\n> Running x\n{BEGIN}#### Hi\nBye.\n");
    let without = format!("{BEGIN}#### Hi\nBye.\n");
    let [with, without] = [with, without].map(|text| reading(text.as_bytes(), Some(Format::AIDER)));
    assert_eq!(with.events, without.events);
    let none = read(&b"a note\n"[..], Some(Format::AIDER), &mut |_: Event<'_>| panic!("an event"));
    assert!(none.is_err());
}
