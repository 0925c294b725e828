//! `unstuck json`: the output for people and for programs.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{effort, shared, unstuck, unstuck_reading};

fn lines(input: &[u8]) -> Vec<Value> {
    unstuck_reading(&["json", "--format", "jsonl"], input).lines()
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
