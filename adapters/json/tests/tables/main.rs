//! Tables of documents: their errors, their canonical text, and those that are equal.
//!
//! Each table is a text beside this file, with one row a line. ` ~ ` separates the spellings of one meaning, `%0A` stands
//! for a byte that a line cannot show, and a line in parentheses is a comment.

use unstuck_core::Digest;
use unstuck_json::{
    CanonicalError, DEPTH_MAX, Exact, Fingerprinter, JsonError, Rfc8785, canonicalize, check,
    fingerprint,
};

const MEANINGS: &str = include_str!("meanings.txt");
const KEPT: &str = include_str!("kept.txt");
const CANONICAL: &str = include_str!("canonical.txt");
const ERRORS: &str = include_str!("errors.txt");

fn rows(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('('))
}

/// Returns the bytes that a column stands for.
fn bytes(column: &str) -> Vec<u8> {
    let mut parts = column.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).expect("a byte"));
        bytes.extend(part[2..].bytes());
    }
    bytes
}

fn spellings(row: &str) -> impl Iterator<Item = Vec<u8>> {
    row.split(" ~ ").map(bytes)
}

fn of(json: &[u8]) -> Digest {
    fingerprint(json).unwrap_or_else(|error| panic!("{}: {error}", json.escape_ascii()))
}

#[test]
fn equal_meanings_and_only_these_have_equal_fingerprints() {
    let meanings: Vec<Vec<_>> = rows(MEANINGS).map(|row| spellings(row).collect()).collect();
    for (i, one) in meanings.iter().enumerate() {
        for (k, other) in meanings.iter().enumerate() {
            for (one, other) in one.iter().flat_map(|one| other.iter().map(move |it| (one, it))) {
                let names = [one, other].map(|json| json.escape_ascii().to_string());
                assert_eq!(of(one) == of(other), i == k, "{names:?}");
            }
        }
    }
}

#[test]
fn white_space_may_stand_around_every_token() {
    let tokens = [
        "", "{", r#""a""#, ":", "[", "1", ",", r#""b""#, ",", "{", "}", "]", ",", r#""c""#, ":",
        "null", "}", "",
    ];
    for space in [" ", "\t", "\n", "\r", " \r\n\t "] {
        let spaced = tokens.join(space);
        assert_eq!(of(spaced.as_bytes()), of(tokens.concat().as_bytes()), "{space:?}");
    }
}

/// The digest of those members whose name is in `keep`.
fn kept(json: &[u8], keep: &[&str]) -> Result<Option<Digest>, JsonError> {
    let print = Fingerprinter::<Exact>::new(0);
    print.shape(json, keep).map(|shape| shape.primary)
}

#[test]
fn kept_members_are_the_object_without_the_others() {
    for row in rows(KEPT) {
        let (json, rest) = row.split_once(" keep ").expect("names");
        let (names, left) = rest.split_once(" => ").expect("the rest");
        let names = names.split(',').filter(|_| names != "nothing");
        let names: Vec<_> = names.map(|name| name.replace("%20", " ")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let left = (left != "none").then(|| of(&bytes(left)));
        assert_eq!(kept(&bytes(json), &names), Ok(left), "{row}");
    }
}

#[test]
fn what_is_not_kept_is_still_checked() {
    for json in [r#"{"a":1,"b":01}"#, r#"{"a":1,"b":{"c":"\ud800"}}"#, r#"{"a":1}x"#, "[1"] {
        let error = fingerprint(json.as_bytes()).unwrap_err();
        assert_eq!(kept(json.as_bytes(), &["a"]), Err(error), "{json}");
    }
}

#[test]
fn each_document_has_its_text_or_an_error_and_then_nothing_is_written() {
    for row in rows(CANONICAL) {
        let (documents, expected) =
            row.split_once(" => ").or_else(|| row.split_once(" ! ")).expect("a result");
        for json in spellings(documents) {
            let mut text = String::new();
            let found = match canonicalize(&json, &mut text) {
                Ok(()) => text.into_bytes(),
                Err(CanonicalError::Json(JsonError { kind, offset })) => {
                    assert_eq!(text, "", "{row}");
                    assert!(row.contains(" ! "), "{row}: {kind:?}");
                    format!("{kind:?} {offset}").into_bytes()
                }
                Err(error) => panic!("{row}: {error}"),
            };
            assert_eq!(found, bytes(expected), "{row}");
        }
    }
}

/// The error of a document: its kind, its offset, and its message.
type Case = (String, usize, String, Vec<u8>);

fn errors() -> Vec<Case> {
    let (mut cases, mut head) = (Vec::new(), ("", ""));
    for row in rows(ERRORS) {
        let (first, rest) = row.split_once(' ').unwrap_or((row, ""));
        if let Some(kind) = first.strip_suffix(':') {
            head = (kind, rest);
        } else {
            let offset = first.parse().expect("an offset");
            cases.push((head.0.to_owned(), offset, head.1.to_owned(), bytes(rest)));
        }
    }
    let message = "expected arrays and objects to nest at most 64 deep";
    cases.extend([DEPTH_MAX + 1, 100_000].map(|brackets| {
        ("DepthLimit(64)".to_owned(), DEPTH_MAX, message.to_owned(), vec![b'['; brackets])
    }));
    cases
}

#[test]
fn each_kind_says_what_where_and_what_would_be_right() {
    let doubles = Fingerprinter::<Rfc8785>::new(0);
    for (kind, offset, message, json) in errors() {
        let name = json.escape_ascii();
        // A number may be beyond the doubles only.
        let error = fingerprint(&json).and(doubles.fingerprint(&json)).unwrap_err();
        assert_eq!((format!("{:?}", error.kind), error.offset), (kind.clone(), offset), "{name}");
        assert_eq!(error.to_string(), format!("byte {offset}: {message}"), "{name}");
        let is_limit = ["ExponentLimit", "NumberRange"].contains(&&*kind);
        assert_eq!(check(&json).err(), (!is_limit).then_some(error), "{name}");
        let canonical = canonicalize(&json, &mut String::new()).err();
        assert_eq!(canonical, doubles.fingerprint(&json).err().map(Into::into), "{name}");
    }
}

#[test]
fn every_kind_has_a_case() {
    let cases = errors();
    // These two have tests of their own.
    let others = ["LengthLimit", "RepeatedName"];
    let has_case = |kind: &str| {
        others.contains(&kind) || cases.iter().any(|(name, ..)| name.starts_with(kind))
    };
    let source = include_str!("../../src/error.rs");
    let (_, kinds) = source.split_once("pub enum JsonErrorKind {").unwrap();
    let (kinds, _) = kinds.split_once("\n}").unwrap();
    let kinds = kinds.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    for kind in kinds.filter_map(|line| line.split([',', '(']).next()) {
        assert!(kind.is_empty() || has_case(kind), "{kind} has no case");
    }
}
