//! Tables of documents: their errors, their canonical text, and those that are equal.
//!
//! Each table is a text beside this file, with one row a line. ` ~ ` separates the spellings of one meaning, `%0A` stands
//! for a byte that a line cannot show, `%(ab*64)` for 64 times `ab`, and a line in parentheses is a comment.

use std::cmp::Ordering;

use unstuck_core::Digest;
use unstuck_json::{
    CanonicalError, Exact, Fingerprinter, JsonError, JsonErrorKind, Rfc8785, canonicalize, check,
    fingerprint,
};

const MEANINGS: &str = include_str!("meanings.txt");
const KEPT: &str = include_str!("kept.txt");
const CANONICAL: &str = include_str!("canonical.txt");
const ERRORS: &str = include_str!("errors.txt");
const NAMES: &str = include_str!("names.txt");

fn rows(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('('))
}

/// Returns the bytes that a column stands for.
fn bytes(column: &str) -> Vec<u8> {
    let mut parts = column.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        if let Some(repeated) = part.strip_prefix('(') {
            let (repeated, rest) = repeated.split_once(')').expect("an end");
            let (text, times) = repeated.rsplit_once('*').expect("a number");
            bytes.extend(text.repeat(times.parse().expect("a number")).bytes());
            bytes.extend(rest.bytes());
        } else {
            bytes.push(u8::from_str_radix(&part[..2], 16).expect("a byte"));
            bytes.extend(part[2..].bytes());
        }
    }
    bytes
}

fn spellings(row: &str) -> impl Iterator<Item = Vec<u8>> {
    row.split(" ~ ").map(bytes)
}

fn of(json: &[u8]) -> Digest {
    fingerprint(json).unwrap_or_else(|error| panic!("{}: {error}", json.escape_ascii()))
}

/// Returns whether a document is a number that is too large for a double.
fn is_beyond_doubles(json: &[u8]) -> bool {
    let number = str::from_utf8(json).ok().and_then(|text| text.parse().ok());
    number.is_some_and(f64::is_infinite)
}

#[test]
fn equal_meanings_and_only_these_have_equal_fingerprints() {
    let doubles = Fingerprinter::<Rfc8785>::new(0);
    let digests = |json: Vec<u8>| {
        let double = doubles.fingerprint(&json).map_err(|error| error.kind);
        let expected = is_beyond_doubles(&json).then_some(JsonErrorKind::NumberRange);
        assert_eq!(double.err(), expected, "{}", json.escape_ascii());
        (of(&json), double)
    };
    let meanings: Vec<(&str, Vec<_>)> =
        rows(MEANINGS).map(|row| (row, spellings(row).map(digests).collect())).collect();
    for (i, (row, one)) in meanings.iter().enumerate() {
        assert!(one.iter().all(|(_, double)| *double == one[0].1), "{row}");
        for (k, (other_row, other)) in meanings.iter().enumerate() {
            for ((one, _), (other, _)) in
                one.iter().flat_map(|one| other.iter().map(move |it| (one, it)))
            {
                assert_eq!(one == other, i == k, "{row} and {other_row}");
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

#[test]
fn kept_members_are_the_object_without_the_others() {
    for row in rows(KEPT) {
        let (json, rest) = row.split_once(" keep ").expect("names");
        let (names, left) = rest.split_once(" => ").expect("the members");
        let (left, others) = left.split_once(" and ").expect("the others");
        let names = names.split(',').filter(|_| names != "nothing");
        let names: Vec<_> = names.map(|name| name.replace("%20", " ")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let digest = |left| (left != "none").then(|| of(&bytes(left)));
        let shape = Fingerprinter::<Exact>::new(0).shape(&bytes(json), &names).expect("JSON");
        assert_eq!(shape.whole, of(&bytes(json)), "{row}");
        assert_eq!((shape.primary, shape.others), (digest(left), digest(others)), "{row}");
    }
}

#[test]
fn what_is_not_kept_is_still_checked() {
    for json in [r#"{"a":1,"b":01}"#, r#"{"a":1,"b":{"c":"\ud800"}}"#, r#"{"a":1}x"#, "[1"] {
        let error = fingerprint(json.as_bytes()).unwrap_err();
        let shape = Fingerprinter::<Exact>::new(0).shape(json.as_bytes(), &["a"]);
        assert_eq!(shape, Err(error), "{json}");
    }
}

#[test]
fn a_name_is_known_in_every_spelling() {
    for row in rows(CANONICAL).filter(|row| row.starts_with('"')) {
        for spelling in spellings(row.split(" => ").next().unwrap_or_default()) {
            let name: String = serde_json::from_slice(&spelling).expect("a string");
            let object = [b"{", &*spelling, b":1}"].concat();
            let primary = |names: &[&str]| {
                let shape = Fingerprinter::<Exact>::new(0).shape(&object, names);
                shape.map(|shape| shape.primary)
            };
            assert_eq!(primary(&["another", &name]), Ok(Some(of(&object))), "{row}");
            assert_eq!(primary(&[&format!("{name}x"), &format!("x{name}")]), Ok(None), "{row}");
            assert_eq!(primary(&[""]).map(|found| found.is_some()), Ok(name.is_empty()), "{row}");
        }
    }
}

/// Returns a string with the necessary escapes only, and with every character escaped.
fn spelled(text: &str) -> [String; 2] {
    let escaped: Vec<_> = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
    [serde_json::to_string(text).expect("a string"), format!("\"{}\"", escaped.concat())]
}

fn canonical(json: &str) -> Result<String, JsonErrorKind> {
    let mut text = String::new();
    match canonicalize(json.as_bytes(), &mut text) {
        Ok(()) => Ok(text),
        Err(CanonicalError::Json(error)) => Err(error.kind),
        Err(error) => panic!("{json}: {error}"),
    }
}

#[test]
fn names_are_in_the_order_of_their_code_units() {
    let names: Vec<String> =
        rows(NAMES).map(|row| serde_json::from_str(row).expect("a name")).collect();
    for (one, other) in names.iter().flat_map(|one| names.iter().map(move |other| (one, other))) {
        let order = one.encode_utf16().cmp(other.encode_utf16());
        let [first, second] = [one, other].map(|name| spelled(name)[0].clone() + ":0");
        let expected = match order {
            Ordering::Less => Ok(format!("{{{first},{second}}}")),
            Ordering::Equal => Err(JsonErrorKind::RepeatedName),
            Ordering::Greater => Ok(format!("{{{second},{first}}}")),
        };
        for one in spelled(one) {
            for other in spelled(other) {
                let json = format!("{{{one}:0,{other}:0}}");
                assert_eq!(canonical(&json), expected, "{json}");
            }
        }
    }
}

#[test]
fn a_character_is_escaped_as_serde_json_does() {
    let characters = (0..0x300_u32).filter_map(char::from_u32).chain(['\u{2028}', '😂']);
    for [plain, escaped] in characters.map(|character| spelled(&character.to_string())) {
        assert_eq!(canonical(&escaped).as_ref(), Ok(&plain));
    }
}

#[test]
fn each_document_has_its_text_or_an_error_and_then_nothing_is_written() {
    let doubles = Fingerprinter::<Rfc8785>::new(0);
    for row in rows(CANONICAL) {
        let (documents, expected) =
            row.split_once(" => ").or_else(|| row.split_once(" ! ")).expect("a result");
        for json in spellings(documents) {
            let mut text = String::new();
            let found = match canonicalize(&json, &mut text) {
                Ok(()) => {
                    let digests = [&*json, text.as_bytes()].map(|json| doubles.fingerprint(json));
                    assert_eq!(digests[0], digests[1], "{row}");
                    text.into_bytes()
                }
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
        others.contains(&kind)
            || cases.iter().any(|(name, ..)| name.split('(').next() == Some(kind))
    };
    let source = include_str!("../../src/error.rs");
    let (_, kinds) = source.split_once("pub enum JsonErrorKind {").unwrap();
    let (kinds, _) = kinds.split_once("\n}").unwrap();
    let kinds = kinds.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    for kind in kinds.filter_map(|line| line.split([',', '(']).next()) {
        assert!(kind.is_empty() || has_case(kind), "{kind} has no case");
    }
}
