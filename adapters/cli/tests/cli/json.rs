//! `unstuck json`: the output for people and for programs.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Folder, effort, shared, unstuck, unstuck_reading};

/// Documents: several spellings of one value, two other values, and each kind of error.
const DOCUMENTS: &str = concat!(
    r#"{"path": "src/lib.rs", "limit": 100}"#,
    "\n",
    r#"{"limit":1e2,"path":"src\/lib\u002ers"}"#,
    "\r\n\n",
    r#"{"limit":101,"path":"src/lib.rs"}"#,
    "\n",
    r#"{"command": "ls" "cwd": "/"}"#,
    "\n",
    r#"{"a":1,"a":2}"#,
    "\n",
    r#"{"n":1e400}"#,
    "\n",
    r#"{"n":1e-9999999999}"#,
    "\n",
    r#"{"id":9007199254740993}"#,
    "\n",
    r#"{"id":9007199254740992}"#,
    "\n",
    r#"{"text":"\u001b[31mred\u001b[0m é 漢"}"#,
    "\n",
);

fn lines(input: &[u8]) -> Vec<Value> {
    unstuck_reading(&["json", "--format", "jsonl"], input).lines()
}

#[test]
fn people_see_equal_documents_and_the_places_of_errors() {
    let ran = unstuck_reading(&["json"], DOCUMENTS.as_bytes());
    insta::assert_snapshot!(format!("{}{}exit {}\n", ran.out, ran.err, ran.exit));
}

#[test]
fn a_program_gets_a_line_for_each_document() {
    let ran = unstuck_reading(&["json", "-", "--format", "jsonl"], DOCUMENTS.as_bytes());
    assert_eq!((ran.exit, &*ran.err), (3, ""));
    insta::assert_snapshot!(ran.out);
    let lines = ran.lines();
    assert_eq!(lines.len(), 10);
    assert_eq!(lines[0]["exact"], lines[1]["exact"]);
    assert_eq!(lines[0]["canonical"], lines[1]["canonical"]);
    assert_ne!(lines[7]["exact"], lines[8]["exact"]);
    assert_eq!(lines[7]["rfc8785"], lines[8]["rfc8785"]);
}

#[test]
fn a_document_may_span_lines() {
    let pretty = b"{\n  \"a\": [1,\n  2]\n}\n";
    let [line] = &lines(pretty)[..] else { panic!("one document") };
    assert_eq!(line["canonical"], r#"{"a":[1,2]}"#);
    let broken = b"\n{\n  \"a\": [1,\n  02]\n}\n";
    let error = "expected no more digits after a leading 0";
    assert_eq!(lines(broken), [json!({ "line": 2, "error": error, "offset": 16 })]);
    let ran = unstuck_reading(&["json"], broken);
    assert!(ran.out.contains("  4 |   02]\n    |    ^\n"), "{}", ran.out);
}

#[test]
fn bytes_that_are_not_utf_8_are_shown() {
    let ran = unstuck_reading(&["json"], b"\xFF{}");
    assert_eq!(ran.exit, 3);
    assert!(ran.out.contains("byte 0: expected a value"), "{}", ran.out);
    assert!(ran.out.ends_with("  1 | \u{FFFD}{}\n    | ^\n"), "{}", ran.out);
}

#[test]
fn an_input_without_a_document_is_an_error() {
    for blank in ["", " \n\r\n"] {
        let ran = unstuck_reading(&["json"], blank.as_bytes());
        let expected = "error: -: empty: expected a JSON document, or one on each line\n";
        assert_eq!((ran.exit, &*ran.out, &*ran.err), (3, "", expected));
    }
    let folder = Folder::new();
    let absent = folder.path().join("absent.json");
    let ran = unstuck([Path::new("json"), &absent]);
    assert_eq!((ran.exit, &*ran.out), (3, ""));
    assert!(ran.err.contains("absent.json: cannot be read: "), "{}", ran.err);
    let file = folder.file("one.json", "[1]");
    let ran = unstuck([Path::new("json"), &file]);
    assert_eq!((ran.exit, &*ran.err), (0, ""));
}

mod needs_time {
    use super::*;

    #[test]
    fn a_document_beyond_the_limit_is_an_error_and_the_next_ones_are_read() {
        const LIMIT: usize = 64 << 20;
        let error = "longer than 64 MiB: expected a shorter document, or one on each line";
        let mut input = vec![b'x'; LIMIT + 1];
        input[0] = b'"';
        input.extend_from_slice(b"\"\n[1]\n");
        let found = lines(&input);
        assert_eq!(found[0], json!({ "line": 1, "error": error, "offset": LIMIT }));
        assert_eq!(
            (found.len(), &found[1]["line"], &found[1]["canonical"]),
            (2, &2.into(), &"[1]".into())
        );
        // The same for people, and the longest document, take as long again each.
        if effort() < 2 {
            return;
        }
        let ran = unstuck_reading(&["json"], &input);
        let expected = format!("line 1\n  error      {error}\nline 2\n");
        assert!(ran.exit == 3 && ran.out.starts_with(&expected), "{}", ran.out);
        // The longest document.
        input.truncate(LIMIT - 1);
        input.push(b'"');
        let ran = unstuck_reading(&["json", "--format=jsonl"], &input);
        assert!(ran.exit == 0 && ran.out.len() > LIMIT, "{}", ran.err);
    }
}

#[test]
fn the_examples_of_rfc_8785_have_its_text() {
    let Some(folder) = shared("json/rfc8785") else { return };
    for entry in fs::read_dir(folder.join("input")).expect("the inputs") {
        let path = entry.expect("a readable folder").path();
        let output = folder.join("output").join(path.file_name().expect("a name"));
        let ran = unstuck([Path::new("json"), Path::new("--format=jsonl"), &path]);
        let expected = fs::read_to_string(output).expect("an output");
        assert_eq!(ran.only_line()["canonical"], expected, "{}", path.display());
    }
}

#[test]
fn a_form_feed_is_not_blank() {
    let ran = unstuck_reading(&["json", "--format=jsonl"], b"\x0c");
    assert_eq!((ran.exit, &ran.only_line()["offset"]), (3, &0.into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_bytes_give_a_report(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let ran = unstuck_reading(&["json"], &bytes);
        prop_assert!([0, 3].contains(&ran.exit), "exit {}", ran.exit);
        let ran = unstuck_reading(&["json", "--format=jsonl"], &bytes);
        // A form feed is blank in ASCII, but not in JSON.
        let blank = bytes.iter().all(|byte| b" \t\r\n".contains(byte));
        prop_assert_eq!(ran.lines().is_empty(), blank);
    }
}
