//! The table of formats, `formats.txt`: what in an object shows that it belongs to a format.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::formats::{self, Format};

/// The table, whose head describes its rows.
const TABLE: &str = include_str!("formats.txt");

/// The fields of an object near the beginning of an input. If the input was cut off inside a field,
/// the field is null.
pub(crate) type Fields = Map<String, Value>;

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
    ROWS.iter().filter_map(move |(format, rows)| {
        let mut clues = rows.iter().filter(|row| row.places.contains(&place) && row.holds(fields));
        Some((*format, clues.next()?.clue?))
    })
}

/// Returns whether an object alone on a line is a whole document of any format.
pub(crate) fn is_document(fields: &Fields) -> bool {
    let mut rows = ROWS.iter().flat_map(|(_, rows)| rows);
    rows.any(|row| row.clue.is_none() && row.holds(fields))
}

/// Returns the error for an input without a record of the format.
pub(crate) fn missing(format: Format) -> &'static str {
    let mut rows = columns().filter(|columns| columns[..2] == [format.name(), "missing"]);
    rows.next().map_or("no record of the format", |columns| columns[2])
}

/// Returns the columns of each row of the table.
fn columns() -> impl Iterator<Item = Vec<&'static str>> {
    let rows = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| row.split(" | ").collect())
}

/// The rows with tests, format by format.
static ROWS: LazyLock<Vec<(Option<Format>, Vec<Row>)>> = LazyLock::new(|| {
    let mut formats: Vec<(Option<Format>, Vec<Row>)> = Vec::new();
    for columns in columns() {
        let Some(row) = Row::parse(&columns) else { continue };
        let format = columns[0].parse().ok();
        match formats.last_mut() {
            Some((last, rows)) if *last == format => rows.push(row),
            _ => formats.push((format, vec![row])),
        }
    }
    formats
});

/// A row with tests.
struct Row {
    places: Vec<Place>,
    /// `None` if the row says what a whole document is.
    clue: Option<Clue>,
    tests: Vec<Test>,
}

impl Row {
    /// Reads a row. Returns `None` for one that has no tests.
    fn parse(columns: &[&'static str]) -> Option<Self> {
        let (places, clue, tests) = match columns {
            [_, "whole", tests] => (Vec::new(), None, tests),
            [_, places, weight, tests, reason] => {
                let places = places.split(' ').map(|place| {
                    Some(match place {
                        "line" => &[Place::Line][..],
                        "document" => &[Place::Document],
                        "element" => &[Place::Element],
                        "any" => &[Place::Line, Place::Document, Place::Element],
                        _ => return None,
                    })
                });
                (
                    places.collect::<Option<Vec<_>>>()?.concat(),
                    Some(Clue::parse(weight, reason)?),
                    tests,
                )
            }
            _ => return None,
        };
        let tests = tests.split(" & ").map(Test::parse).collect::<Option<_>>()?;
        Some(Self { places, clue, tests })
    }

    fn holds(&self, fields: &Fields) -> bool {
        self.tests.iter().all(|test| test.holds(fields))
    }
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
    /// The checks of the object's fields. Of each list, one has to hold.
    all: Vec<Vec<Check>>,
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
        let nested = text.strip_suffix(['}', ']']).and_then(|text| text.split_once(['{', '[']));
        let (name, inner) = nested.unwrap_or(("", text));
        let (name, is_not) = name.strip_prefix('!').map_or((name, false), |name| (name, true));
        let of = match inner.strip_prefix('[') {
            _ if nested.is_none() => Of::Itself,
            Some(_) => Of::Lists(name),
            None if text.ends_with(']') => Of::List(name),
            None => Of::Field(name),
        };
        let checks = inner.trim_matches(['[', ']']).split('&');
        let all = checks.map(|any| any.split('|').map(Check::parse).collect());
        Some(Self { is_not, of, all: all.collect::<Option<_>>()? })
    }

    fn holds(&self, fields: &Fields) -> bool {
        let all = |fields: &Fields| {
            self.all.iter().all(|any| any.iter().any(|check| check.holds(fields)))
        };
        let holds = match self.of {
            Of::Itself => all(fields),
            Of::Field(name) => fields.get(name).and_then(Value::as_object).is_some_and(all),
            Of::List(name) => objects(fields, name).any(all),
            Of::Lists(name) => list(fields, name).iter().flat_map(parts).any(all),
        };
        holds != self.is_not
    }
}

/// Returns an element of a list if it is an object, or the objects of the list that it is.
fn parts(element: &Value) -> impl Iterator<Item = &Fields> {
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
    Is(Vec<&'static str>),
    Begins(Vec<&'static str>),
    Ends(Vec<&'static str>),
    Passes(fn(&Fields) -> bool),
}

impl Check {
    fn parse(text: &'static str) -> Option<Self> {
        let (text, is_not) = text.strip_prefix('!').map_or((text, false), |text| (text, true));
        let (name, what) = if let Some((name, texts)) = text.split_once('=') {
            let texts = texts.split(',').collect();
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
        Some(Self { is_not, name, what })
    }

    fn holds(&self, fields: &Fields) -> bool {
        let Self { name, .. } = *self;
        let holds = match &self.what {
            What::IsThere => fields.contains_key(name),
            What::BeginsName => fields.keys().any(|key| key.starts_with(name)),
            What::Holds(holds) => fields.get(name).is_some_and(holds),
            What::Is(texts) => texts.contains(&text(fields, name)),
            What::Begins(texts) => texts.iter().any(|begin| text(fields, name).starts_with(begin)),
            What::Ends(texts) => texts.iter().any(|end| text(fields, name).ends_with(end)),
            What::Passes(test) => test(fields),
        };
        holds != self.is_not
    }
}

/// Returns the string in a field, or an empty one.
pub(crate) fn text<'a>(fields: &'a Fields, key: &str) -> &'a str {
    fields.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether a field holds a string.
pub(crate) fn is_text(fields: &Fields, key: &str) -> bool {
    fields.get(key).is_some_and(Value::is_string)
}

/// Returns the objects of the array in a field.
pub(crate) fn objects<'a>(fields: &'a Fields, key: &str) -> impl Iterator<Item = &'a Fields> {
    list(fields, key).iter().filter_map(Value::as_object)
}

/// Returns the array in a field. Any other field has no elements.
fn list<'a>(fields: &'a Fields, key: &str) -> &'a [Value] {
    fields.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read_and_every_format_has_an_error() {
        for columns in columns() {
            let is_read = columns[0] == "-" || columns[0].parse::<Format>().is_ok();
            assert!(
                is_read && (columns[1] == "missing" || Row::parse(&columns).is_some()),
                "{columns:?}"
            );
        }
        let formats = ROWS.iter().map(|(format, _)| *format);
        assert!(formats.eq(Format::ALL.iter().copied().map(Some).chain([None])));
        for format in Format::ALL {
            assert!(missing(*format).contains(": expected "), "{format}");
        }
    }

    #[test]
    fn nothing_else_can_be_read() {
        for row in [
            "x | whole | a:number",
            "x | whole | @other",
            "x | page | mark | a | b",
            "x | line | sign | a | b",
        ] {
            assert!(Row::parse(&row.split(" | ").collect::<Vec<_>>()).is_none(), "{row}");
        }
    }
}
