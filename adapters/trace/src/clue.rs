//! The tests in `formats.txt`: what in an object shows that it belongs to a format.

use std::sync::{LazyLock, OnceLock};

use serde_json::Value;

use crate::fields::{Fields, list, objects, text};
use crate::format::{Format, columns};
use crate::formats;

/// The position of an object in its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// One line of JSON Lines.
    Line,
    /// The outermost object of a JSON document. A zip archive is an object with the name of its first
    /// `member`, and a text in Markdown is one with its first `heading`.
    Document,
    /// An element of a document that is an array, or of its `messages`.
    Element,
}

/// Evidence for a format, with the keys it was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clue {
    pub(crate) strength: Strength,
    pub(crate) reason: &'static str,
    /// `true` if a later line may overrule it.
    pub(crate) is_tentative: bool,
    /// `true` if a program prints such lines, so that others may stand around them in a log.
    pub(crate) is_printed: bool,
}

/// The weight of a [`Clue`]: of two formats that claim an object, the stronger one gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// Keys that several formats share. They decide if no object has any other clue.
    Fallback,
    /// Keys that fit the format and are unlikely elsewhere.
    Hint,
    /// A key that no other format uses, whatever stands beside it.
    Mark,
    /// A complete record of the format.
    Record,
}

/// Returns the clue that each format finds in an object. A format that is known but not read is `None`.
pub(crate) fn clues(place: Place, fields: &Fields) -> impl Iterator<Item = (Option<Format>, Clue)> {
    let known = fields.keys().fold(0, |bits, name| bits | bit(name));
    let formats = ROWS.chunk_by(|one, next| one.format == next.format);
    formats.filter_map(move |rows| {
        let may_hold = |row: &&Row| row.bits & known != 0 && row.places.contains(&place);
        let row = rows.iter().filter(may_hold).find(|row| row.holds(fields))?;
        Some((row.format, row.clue?))
    })
}

/// Returns a bit that few other names share. It saves the look-up of most fields that an object lacks.
fn bit(name: &str) -> u64 {
    1 << (usize::from(name.as_bytes().first().copied().unwrap_or(0)).wrapping_add(7 * name.len())
        % 64)
}

/// Returns whether an object alone on a line is a whole document of any format.
pub(crate) fn is_document(fields: &Fields) -> bool {
    ROWS.iter().any(|row| row.clue.is_none() && row.holds(fields))
}

/// The rows with tests, format by format. The tests are read when they are needed: mostly, few are.
static ROWS: LazyLock<Vec<Row>> =
    LazyLock::new(|| columns().filter_map(|columns| Row::parse(&columns)).collect());

/// A row with tests.
struct Row {
    format: Option<Format>,
    places: &'static [Place],
    /// `None` if the row says what a whole document is.
    clue: Option<Clue>,
    /// The field that the first test asks for. Most objects do not have it.
    key: Option<&'static str>,
    /// The bit of this field, or all bits.
    bits: u64,
    text: &'static str,
    /// The tests in the text once they were needed, or `None` if they cannot be read.
    tests: OnceLock<Option<Vec<Test>>>,
}

impl Row {
    /// Reads a row. Returns `None` for one that has no tests.
    fn parse(columns: &[&'static str]) -> Option<Self> {
        let (format, places, clue, text) = match columns {
            [format, "whole", text] => (format, &[][..], None, text),
            [format, places, weight, text, reason] => {
                let places = match *places {
                    "line" => &[Place::Line][..],
                    "document" => &[Place::Document],
                    "element" => &[Place::Element],
                    "line document" => &[Place::Line, Place::Document],
                    "line element" => &[Place::Line, Place::Element],
                    "any" => &[Place::Line, Place::Document, Place::Element],
                    _ => return None,
                };
                (format, places, Some(Clue::parse(weight, reason)?), text)
            }
            _ => return None,
        };
        let (key, tests) = (key_of(text), OnceLock::new());
        let bits = key.map_or(u64::MAX, bit);
        Some(Self { format: format.parse().ok(), places, clue, key, bits, text, tests })
    }

    fn tests(&self) -> Option<&[Test]> {
        let read = || self.text.split('&').map(|test| Test::parse(test.trim_ascii())).collect();
        self.tests.get_or_init(read).as_deref()
    }

    fn holds(&self, fields: &Fields) -> bool {
        self.key.is_none_or(|key| fields.contains_key(key))
            && self.tests().is_some_and(|tests| tests.iter().all(|test| test.holds(fields)))
    }
}

/// Returns the field without which the first test does not hold, if there is only one.
fn key_of(tests: &'static str) -> Option<&'static str> {
    let first = tests.split('&').next()?.trim_ascii();
    let end = first.bytes().position(|byte| b"=^$:{[|*".contains(&byte)).unwrap_or(first.len());
    let (key, rest) = first.split_at(end);
    let is_nested = rest.starts_with(['{', '[']);
    // A field that is absent has an empty text.
    let may_be_empty =
        || rest.split_once('=').is_some_and(|(_, it)| it.split(',').any(str::is_empty));
    let is_needed = is_nested || !first.contains('|') && !rest.starts_with('*') && !may_be_empty();
    Some(key).filter(|_| is_name(key) && is_needed)
}

/// Returns whether `text` may be the name of a field.
fn is_name(text: &str) -> bool {
    let is_sign =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'$');
    !text.is_empty() && text.bytes().all(is_sign)
}

impl Clue {
    fn parse(weight: &str, reason: &'static str) -> Option<Self> {
        let (strength, rest) = weight.split_once(' ').unwrap_or((weight, ""));
        let strength = match strength {
            "fallback" => Strength::Fallback,
            "hint" => Strength::Hint,
            "mark" => Strength::Mark,
            "record" => Strength::Record,
            _ => return None,
        };
        let (is_printed, is_tentative) = match rest {
            "" => (false, false),
            "printed" => (true, false),
            "tentative" => (false, true),
            "printed tentative" => (true, true),
            _ => return None,
        };
        Some(Self { strength, reason, is_tentative, is_printed })
    }
}

/// A test of an object, or of objects in one of its fields.
struct Test {
    is_not: bool,
    of: Of,
    /// Lists of checks of the object's fields. One check of each list has to hold.
    checks: Vec<Vec<Check>>,
}

/// The objects that a [`Test`] looks at.
enum Of {
    Itself,
    Field(&'static str),
    List(&'static str),
    /// The objects of a list, and of lists in it.
    Lists(&'static str),
}

impl Test {
    fn parse(text: &'static str) -> Option<Self> {
        let all = |checks: &'static str| -> Option<_> {
            checks.split(';').map(|any| any.split('|').map(Check::parse).collect()).collect()
        };
        let Some(start) = text.find(['{', '[']) else {
            return Some(Self { is_not: false, of: Of::Itself, checks: all(text)? });
        };
        let (name, inner) = text.split_at(start);
        let (name, is_not) = name.strip_prefix('!').map_or((name, false), |name| (name, true));
        let between = |open: &str, close: &str| inner.strip_prefix(open)?.strip_suffix(close);
        let (of, checks) = match (between("[[", "]]"), between("[", "]"), between("{", "}")) {
            (Some(checks), ..) => (Of::Lists(name), checks),
            (_, Some(checks), _) => (Of::List(name), checks),
            (.., Some(checks)) => (Of::Field(name), checks),
            _ => return None,
        };
        Some(Self { is_not, of, checks: all(checks).filter(|_| is_name(name))? })
    }

    fn holds(&self, fields: &Fields) -> bool {
        let all = |fields: &Fields| {
            self.checks.iter().all(|any| any.iter().any(|check| check.holds(fields)))
        };
        let holds = match self.of {
            Of::Itself => all(fields),
            Of::Field(name) => fields.get(name).and_then(Value::as_object).is_some_and(all),
            Of::List(name) => objects(fields, name).any(all),
            Of::Lists(name) => list(fields, name).iter().flat_map(objects_in).any(all),
        };
        holds != self.is_not
    }
}

/// Returns an element of a list if it is an object, or the objects of the list that it is.
fn objects_in(element: &Value) -> impl Iterator<Item = &Fields> {
    let inner = element.as_array().map_or(core::slice::from_ref(element), Vec::as_slice);
    inner.iter().filter_map(Value::as_object)
}

/// A check of a field.
struct Check {
    is_not: bool,
    name: &'static str,
    what: What,
}

enum What {
    IsThere,
    /// A field whose name begins so is there.
    BeginsName,
    Holds(fn(&Value) -> bool),
    /// The text is one of these, with commas between them.
    Is(&'static str),
    Begins(&'static str),
    Ends(&'static str),
    Passes(fn(&Fields) -> bool),
}

impl Check {
    fn parse(text: &'static str) -> Option<Self> {
        let (text, is_not) = text.strip_prefix('!').map_or((text, false), |text| (text, true));
        let (name, what) = if let Some((name, texts)) = text.split_once('=') {
            match (name.strip_suffix('^'), name.strip_suffix('$')) {
                (Some(name), _) => (name, What::Begins(texts)),
                (_, Some(name)) => (name, What::Ends(texts)),
                _ => (name, What::Is(texts)),
            }
        } else if let Some((name, kind)) = text.split_once(':') {
            let holds: fn(&Value) -> bool = match kind {
                "text" => Value::is_string,
                "list" => Value::is_array,
                "object" => Value::is_object,
                "empty" => |value| value.as_array().is_some_and(Vec::is_empty),
                "cut" => |value| value.is_array() || value.is_null(),
                _ => return None,
            };
            (name, What::Holds(holds))
        } else if let Some(name) = text.strip_prefix('@') {
            (name, What::Passes(formats::test(name)?))
        } else {
            text.strip_suffix('*').map_or((text, What::IsThere), |begin| (begin, What::BeginsName))
        };
        (is_name(name) || matches!(what, What::Passes(_))).then_some(Self { is_not, name, what })
    }

    fn holds(&self, fields: &Fields) -> bool {
        let name = self.name;
        let is_one = |texts: &str, is: fn(&str, &str) -> bool| {
            let text = text(fields, name);
            texts.split(',').any(|one| is(text, one))
        };
        let holds = match self.what {
            What::IsThere => fields.contains_key(name),
            What::BeginsName => fields.keys().any(|key| key.starts_with(name)),
            What::Holds(holds) => fields.get(name).is_some_and(holds),
            What::Is(texts) => is_one(texts, |text, one| text == one),
            What::Begins(texts) => is_one(texts, |text, begin| text.starts_with(begin)),
            What::Ends(texts) => is_one(texts, |text, end| text.ends_with(end)),
            What::Passes(test) => test(fields),
        };
        holds != self.is_not
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::missing;

    /// Returns whether a row and all of its tests can be read.
    fn can_be_read(columns: &[&'static str]) -> bool {
        Row::parse(columns).is_some_and(|row| row.tests().is_some())
    }

    #[test]
    fn every_row_can_be_read_and_every_format_has_an_error() {
        for columns in columns() {
            let is_known = columns[0] == "-" || columns[0].parse::<Format>().is_ok();
            assert!(is_known && (columns[1] == "missing" || can_be_read(&columns)), "{columns:?}");
        }
        let formats = ROWS.chunk_by(|one, next| one.format == next.format);
        let formats = formats.map(|rows| rows[0].format);
        assert!(formats.eq(Format::ALL.iter().copied().map(Some).chain([None])));
        for format in Format::ALL {
            assert!(missing(*format).contains(": expected "), "{format}");
        }
    }

    #[test]
    fn a_first_test_names_the_field_that_it_needs() {
        for (tests, key) in [
            ("type=user & x", Some("type")),
            ("type=,user & x", None),
            ("type= & x", None),
            ("gen_ai.* & x", None),
            ("gen_ai.id:text & x*", Some("gen_ai.id")),
            ("a{b;c=} & x", Some("a")),
            ("a|b", None),
            ("a[b|c]", Some("a")),
            ("!a & b", None),
            ("@item & b", None),
        ] {
            assert_eq!(key_of(tests), key, "{tests}");
        }
    }

    #[test]
    fn nothing_else_can_be_read() {
        for row in [
            "x | whole | a:number",
            "x | whole | b & a[c;@other]",
            "x | page | mark | a | b",
            "x | line | sign | a | b",
            "x | line | mark loud | a | b",
            "x | line | mark | a",
            "x | line | mark | a | b | c",
            "x | whole | a{!b",
            "x | whole | a{b]",
            "x | whole | a{b}|c",
            "x | whole | a~b",
            "x | whole | ",
        ] {
            assert!(!can_be_read(&row.split(" | ").collect::<Vec<_>>()), "{row}");
        }
    }
}
