//! Published test documents: the parsing suite of `JSONTestSuite`, the examples of RFC 8785.
//!
//! They are not part of this crate. If they are absent, the tests print a note and pass.

use std::fs;
use std::path::{Path, PathBuf};

use unstuck_json::{CanonicalError, Fingerprinter, JsonErrorKind, Rfc8785, fingerprint};

use crate::canonical::text_of;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/json");

/// Returns the documents in `folder` by file name. If it is absent, prints a note and returns none.
fn documents(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder: PathBuf = Path::new(DATA).join(folder);
    let Ok(entries) = fs::read_dir(&folder) else {
        eprintln!("skipped: no test data in {}", folder.display());
        return Vec::new();
    };
    let mut documents: Vec<_> = entries
        .map(|entry| entry.expect("a readable folder"))
        .map(|entry| {
            let name = entry.file_name().into_string().expect("a name in UTF-8");
            (name, fs::read(entry.path()).expect("a readable file"))
        })
        .collect();
    documents.sort();
    documents
}

/// The expected results for documents that a parser may accept or reject.
fn left_open(name: &str) -> Option<JsonErrorKind> {
    match name {
        // An exponent of more than a hundred digits; other numbers are merely large or small.
        "i_number_huge_exp.json" => Some(JsonErrorKind::ExponentLimit),
        _ if name.starts_with("i_number_") => None,
        "i_structure_500_nested_arrays.json" => Some(JsonErrorKind::DepthLimit(64)),
        "i_structure_UTF-8_BOM_empty_object.json"
        | "i_string_UTF-16LE_with_BOM.json"
        | "i_string_utf16BE_no_BOM.json"
        | "i_string_utf16LE_no_BOM.json" => Some(JsonErrorKind::ExpectedValue),
        "i_string_UTF-8_invalid_sequence.json"
        | "i_string_UTF8_surrogate_U+D800.json"
        | "i_string_invalid_utf-8.json"
        | "i_string_iso_latin_1.json"
        | "i_string_lone_utf8_continuation_byte.json"
        | "i_string_not_in_unicode_range.json"
        | "i_string_overlong_sequence_2_bytes.json"
        | "i_string_overlong_sequence_6_bytes.json"
        | "i_string_overlong_sequence_6_bytes_null.json"
        | "i_string_truncated-utf-8.json" => Some(JsonErrorKind::InvalidUtf8),
        _ => Some(JsonErrorKind::LoneSurrogate),
    }
}

#[test]
fn the_parsing_suite_is_judged_as_it_asks() {
    let mut wrong = Vec::new();
    for (name, json) in documents("suite") {
        let kind = fingerprint(&json).err().map(|error| error.kind);
        let right = match name.split_at(2).0 {
            "y_" => kind.is_none(),
            "n_" => kind.is_some(),
            "i_" => kind == left_open(&name),
            other => panic!("{name}: unknown class {other}"),
        };
        if !right {
            wrong.push((name, kind));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_rfc_8785_document_means_what_its_canonical_text_means() {
    let outputs = documents("rfc8785/output");
    for ((name, input), (_, output)) in documents("rfc8785/input").iter().zip(&outputs) {
        let equal = fingerprint(input).unwrap() == fingerprint(output).unwrap();
        // One number in this document has more digits than a double, which RFC 8785 rounds.
        assert_eq!(equal, name != "values.json", "{name}");
        if name == "values.json" {
            let input = String::from_utf8(input.clone()).unwrap();
            let rounded = input.replace("333333333.33333329", "333333333.3333333");
            assert_ne!(rounded, input);
            assert_eq!(fingerprint(rounded.as_bytes()), fingerprint(output));
        }
    }
}

#[test]
fn the_parsing_suite_is_judged_alike_where_a_canonical_text_is_asked_for() {
    let doubles = Fingerprinter::<Rfc8785>::new(0);
    for (name, json) in documents("suite") {
        let kind = text_of(&json).err().map(|error| match error {
            CanonicalError::Json(error) => error.kind,
            CanonicalError::Write(error) => panic!("{name}: {error}"),
        });
        let expected = match name.as_str() {
            "y_object_duplicated_key.json" | "y_object_duplicated_key_and_value.json" => {
                Some(JsonErrorKind::RepeatedName)
            }
            _ if name.starts_with("y_") => None,
            _ => doubles.fingerprint(&json).err().map(|error| error.kind),
        };
        assert_eq!(kind, expected, "{name}");
        assert!(kind.is_some() || !name.starts_with("n_"), "{name} is no JSON");
    }
}

#[test]
fn an_rfc_8785_document_has_the_text_that_is_published() {
    let (inputs, outputs) = (documents("rfc8785/input"), documents("rfc8785/output"));
    let hexadecimal = documents("rfc8785/outhex");
    assert_eq!((inputs.len(), inputs.len()), (outputs.len(), hexadecimal.len()));
    for (((name, input), (_, output)), (_, bytes)) in inputs.iter().zip(outputs).zip(hexadecimal) {
        let text = text_of(input).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(text.as_bytes(), output.trim_ascii_end(), "{name}");
        let hex: Vec<_> = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        let bytes = String::from_utf8(bytes).expect("text");
        assert_eq!(hex, bytes.split_ascii_whitespace().collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn a_double_has_the_text_that_is_published() {
    let doubles = Fingerprinter::<Rfc8785>::new(0);
    let path = Path::new(DATA).join("rfc8785/es6-numbers.txt");
    let Ok(lines) = fs::read_to_string(&path) else {
        eprintln!("skipped: no test data in {}", path.display());
        return;
    };
    for line in lines.lines() {
        let (bits, expected) = line.split_once(',').expect("bits and a text");
        let double = f64::from_bits(u64::from_str_radix(bits, 16).expect("hexadecimal bits"));
        let spelled = format!("{double:e}");
        assert_eq!(text_of(spelled.as_bytes()).as_deref(), Ok(expected), "{line}");
        assert_eq!(text_of(expected.as_bytes()).as_deref(), Ok(expected), "{line}");
        let digest = doubles.fingerprint(spelled.as_bytes());
        assert!(digest.is_ok(), "{line}");
        assert_eq!(doubles.fingerprint(expected.as_bytes()), digest, "{line}");
    }
}
