//! Tests of wrong command lines.

use std::process::{Command, Output};

fn xtask(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(words).output().expect("xtask starts")
}

#[test]
fn help_is_printed_on_request_and_where_no_task_is_named() {
    let asked = xtask(&["--help"]);
    assert_eq!(asked.status.code(), Some(0));
    let text = String::from_utf8_lossy(&asked.stdout);
    assert!(text.contains("Usage: cargo xtask"), "{text}");
    assert!(text.contains("test"), "{text}");

    let alone = xtask(&[]);
    assert_eq!(alone.status.code(), Some(0));
    assert_eq!(alone.stdout, asked.stdout);
}

#[test]
fn unknown_words_are_a_usage_error() {
    for words in [&["tset"][..], &["--fast"], &["test", "clipy"], &["test", "--fast"]] {
        let output = xtask(words);
        assert_eq!(output.status.code(), Some(64), "{words:?}");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("Usage: cargo xtask"), "{text}");
    }
}
