//! `unstuck json`: prints the fingerprints of JSON documents, to see why two are, or are not, the
//! same.

mod documents;
pub(crate) mod options;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use unstuck_core::Digest;
use unstuck_json::{CanonicalError, Exact, Fingerprinter, JsonError, Rfc8785, canonicalize};

use crate::exit::Exit;
use crate::json::options::{DocumentFormat, Json};
use crate::output::json::{escaped, json_line};
use crate::output::{Output, Reader, complain};
use crate::setup::Mistake;
use documents::{Document, documents};

static EXACT: Fingerprinter<Exact> = Fingerprinter::new(0);
static RFC8785: Fingerprinter<Rfc8785> = Fingerprinter::new(0);

const STRONG: Style = Style::new().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

pub(crate) fn run(json: &Json) -> Exit {
    let name = json.file.display().to_string();
    let bytes = match read(&json.file) {
        Ok(bytes) => bytes,
        Err(error) => {
            complain(&name, &format!("cannot be read: {error}"));
            return Exit::Input;
        }
    };
    let documents = documents(&bytes);
    if documents.is_empty() {
        complain(&name, "empty: expected a JSON document, or one on each line");
        return Exit::Input;
    }
    let reader = match json.format {
        DocumentFormat::Human => Reader::Person,
        DocumentFormat::Jsonl => Reader::Program,
    };
    let mut first_lines = FirstLines::default();
    let mut output = Output::stdout(reader);
    let mut exit = Exit::Clean;
    for document in &documents {
        let fingerprints = Fingerprints::of(document.json);
        if fingerprints.is_err() {
            exit = Exit::Input;
        }
        let text = match json.format {
            DocumentFormat::Human => human(document, &fingerprints, &mut first_lines),
            DocumentFormat::Jsonl => line(document, &fingerprints),
        };
        if let Err(closed) = output.write(&text) {
            return closed.exit(exit);
        }
    }
    exit
}

/// Reads a whole file, or standard input if it is `-`.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    fs::read(file)
}

/// The fingerprints of a document, at least one of them, and its canonical text.
struct Fingerprints {
    exact: Result<Digest, JsonError>,
    rfc8785: Result<Digest, JsonError>,
    canonical: Result<String, JsonError>,
}

impl Fingerprints {
    fn of(json: &[u8]) -> Result<Self, JsonError> {
        let (exact, rfc8785) = (EXACT.fingerprint(json), RFC8785.fingerprint(json));
        // A document may exceed the limits of one fingerprint and not of the other.
        exact.or(rfc8785)?;
        let mut text = String::new();
        let canonical = match canonicalize(json, &mut text) {
            Err(CanonicalError::Json(error)) => Err(error),
            // Writing to a string cannot fail.
            Ok(()) | Err(CanonicalError::Write(_)) => Ok(text),
        };
        Ok(Self { exact, rfc8785, canonical })
    }
}

fn digits(digest: Digest) -> String {
    format!("{:016x}", digest.bits())
}

/// The line of the first document with each digest.
#[derive(Default)]
struct FirstLines {
    exact: HashMap<Digest, usize>,
    rfc8785: HashMap<Digest, usize>,
}

/// Returns a remark if an earlier line than `line` had the same `digest`.
fn repeated(first_lines: &mut HashMap<Digest, usize>, digest: Digest, line: usize) -> String {
    match *first_lines.entry(digest).or_insert(line) {
        first if first == line => String::new(),
        first => format!("  as line {first}"),
    }
}

/// Returns the report on a document for people.
fn human(
    document: &Document<'_>,
    fingerprints: &Result<Fingerprints, JsonError>,
    first_lines: &mut FirstLines,
) -> String {
    let line = document.line;
    let mut text = format!("{STRONG}line {line}{STRONG:#}\n");
    let fingerprints = match fingerprints {
        Ok(fingerprints) => fingerprints,
        Err(error) => {
            let _ = writeln!(text, "  {BAD}error{BAD:#}      {error}");
            text.push_str(&indented(&quote(document, error)));
            return text;
        }
    };
    let digest =
        |name: &str, digest: Result<Digest, JsonError>, first_lines: &mut HashMap<_, _>| {
            let what = match digest {
                Ok(digest) => format!("{}{}", digits(digest), repeated(first_lines, digest, line)),
                Err(error) => format!("none: {error}"),
            };
            format!("  {name:<9}  {what}\n")
        };
    text.push_str(&digest("exact", fingerprints.exact, &mut first_lines.exact));
    text.push_str(&digest("rfc8785", fingerprints.rfc8785, &mut first_lines.rfc8785));
    match &fingerprints.canonical {
        Ok(canonical) => {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  canonical  {}", escaped(canonical));
        }
        Err(error) => {
            let _ = writeln!(text, "  canonical  none: {error}");
            text.push_str(&indented(&quote(document, error)));
        }
    }
    text
}

/// Returns the line of the document that has the error, with the place marked.
fn quote(document: &Document<'_>, error: &JsonError) -> String {
    let text = String::from_utf8_lossy(document.json);
    // A byte that is not UTF-8 is shown as a character of three bytes.
    let before = document.json.get(..error.offset).unwrap_or(document.json);
    let start = String::from_utf8_lossy(before).len();
    let wrong = text.get(start..).and_then(|rest| rest.chars().next());
    let end = start + wrong.map_or(1, char::len_utf8);
    Mistake::new(start..end, "").quote_from(&text, document.line)
}

fn indented(lines: &str) -> String {
    let lines: Vec<String> = lines.lines().map(|line| format!("  {line}\n")).collect();
    lines.concat()
}

#[derive(Serialize)]
struct FingerprintsLine<'a> {
    line: usize,
    exact: Option<String>,
    rfc8785: Option<String>,
    canonical: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical_error: Option<String>,
}

#[derive(Serialize)]
struct ErrorLine {
    line: usize,
    error: String,
    offset: usize,
}

/// Returns the report on a document for programs.
fn line(document: &Document<'_>, fingerprints: &Result<Fingerprints, JsonError>) -> String {
    match fingerprints {
        Ok(fingerprints) => json_line(&FingerprintsLine {
            line: document.line,
            exact: fingerprints.exact.ok().map(digits),
            rfc8785: fingerprints.rfc8785.ok().map(digits),
            canonical: fingerprints.canonical.as_deref().ok(),
            canonical_error: fingerprints.canonical.as_ref().err().map(ToString::to_string),
        }),
        Err(error) => json_line(&ErrorLine {
            line: document.line,
            error: error.kind.to_string(),
            offset: error.offset,
        }),
    }
}
