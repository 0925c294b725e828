//! `unstuck json`: prints the fingerprints of JSON documents, to see why two are, or are not, the
//! same.

mod documents;

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use clap::{Args, ValueEnum};
use unstuck_core::Digest;
use unstuck_json::{CanonicalError, Exact, Fingerprinter, JsonError, Rfc8785, canonicalize};
use unstuck_report::json::{Object, escaped};
use unstuck_report::mistake::Mistake;
use unstuck_trace::LINE_BYTES_MAX;

use crate::exit::Exit;
use crate::output::{Closed, Output, Reader, fail, remark};
use documents::{Document, each_document};

static EXACT: Fingerprinter<Exact> = Fingerprinter::new(0);
static RFC8785: Fingerprinter<Rfc8785> = Fingerprinter::new(0);

const STRONG: Style = Style::new().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// The longest document that is read: as long as a record of a trace.
const DOCUMENT_BYTES_MAX: usize = LINE_BYTES_MAX;

pub(crate) fn run(json: &Json) -> Exit {
    let name = json.file.display().to_string();
    let input = match open(&json.file) {
        Ok(input) => input,
        Err(error) => return fail(Exit::Input, &name, &format!("cannot be read: {error}")),
    };
    let reader = match json.format {
        DocumentFormat::Human => Reader::Person,
        DocumentFormat::Jsonl => Reader::Program,
    };
    let mut first_lines = FirstLines::default();
    let mut output = Output::stdout(reader);
    let (mut exit, mut is_empty) = (Exit::Clean, true);
    let done = each_document(input, DOCUMENT_BYTES_MAX, |document| {
        is_empty = false;
        let fingerprints = Fingerprints::of(&document);
        if fingerprints.is_err() {
            exit = Exit::Input;
        }
        output.write(&match json.format {
            DocumentFormat::Human => human(&document, &fingerprints, &mut first_lines),
            DocumentFormat::Jsonl => line(&document, &fingerprints),
        })?;
        Ok::<(), Stopped>(())
    });
    if first_lines.is_full() {
        let what = format!("only the first {COMPARED_MAX} documents are compared with later ones");
        remark(&name, &what);
    }
    match done {
        Ok(()) if is_empty => {
            fail(Exit::Input, &name, "empty: expected a JSON document, or one on each line")
        }
        Ok(()) => exit,
        Err(Stopped::Input(error)) => fail(Exit::Input, &name, &format!("cannot be read: {error}")),
        Err(Stopped::Output(closed)) => closed.exit(exit),
    }
}

/// The reason why not all documents were reported.
enum Stopped {
    Input(io::Error),
    Output(Closed),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Input(error)
    }
}

impl From<Closed> for Stopped {
    fn from(closed: Closed) -> Self {
        Self::Output(closed)
    }
}

/// Opens a file, or standard input if it is `-`.
fn open(file: &Path) -> io::Result<Box<dyn BufRead>> {
    if file.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(BufReader::new(File::open(file)?)))
}

/// The reason why a document has no fingerprints.
enum Unread {
    /// It is longer than [`DOCUMENT_BYTES_MAX`].
    TooLong,
    Json(JsonError),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => {
                let mebibytes = DOCUMENT_BYTES_MAX >> 20;
                write!(
                    f,
                    "longer than {mebibytes} MiB: expected a shorter document, or one on each line"
                )
            }
            Self::Json(error) => error.fmt(f),
        }
    }
}

/// The fingerprints of a document, at least one of them, and its canonical text.
struct Fingerprints {
    exact: Result<Digest, JsonError>,
    rfc8785: Result<Digest, JsonError>,
    canonical: Result<String, JsonError>,
}

impl Fingerprints {
    fn of(document: &Document<'_>) -> Result<Self, Unread> {
        let json = document.json.ok_or(Unread::TooLong)?;
        let (exact, rfc8785) = (EXACT.fingerprint(json), RFC8785.fingerprint(json));
        // A document may exceed the limits of one fingerprint and not of the other.
        exact.or(rfc8785).map_err(Unread::Json)?;
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

/// The number of different documents that later ones are compared with. They take some 50 MB.
const COMPARED_MAX: usize = 1 << 20;

/// The line of the first document with each digest.
#[derive(Default)]
struct FirstLines {
    exact: HashMap<Digest, usize>,
    rfc8785: HashMap<Digest, usize>,
}

impl FirstLines {
    fn is_full(&self) -> bool {
        self.exact.len().max(self.rfc8785.len()) == COMPARED_MAX
    }
}

/// Returns a remark if an earlier line than `line` had the same `digest`.
fn repeated(first_lines: &mut HashMap<Digest, usize>, digest: Digest, line: usize) -> String {
    match first_lines.get(&digest) {
        Some(first) => format!("  as line {first}"),
        None if first_lines.len() < COMPARED_MAX => {
            first_lines.insert(digest, line);
            String::new()
        }
        None => String::new(),
    }
}

/// Returns the report on a document for people.
fn human(
    document: &Document<'_>,
    fingerprints: &Result<Fingerprints, Unread>,
    first_lines: &mut FirstLines,
) -> String {
    let line = document.line;
    let mut text = format!("{STRONG}line {line}{STRONG:#}\n");
    let fingerprints = match fingerprints {
        Ok(fingerprints) => fingerprints,
        Err(error) => {
            let _ = writeln!(text, "  {BAD}error{BAD:#}      {error}");
            if let Unread::Json(error) = error {
                text.push_str(&indented(&quote(document, error)));
            }
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
    let json = document.json.unwrap_or_default();
    let text = String::from_utf8_lossy(json);
    // A byte that is not UTF-8 is shown as a character of three bytes.
    let before = json.get(..error.offset).unwrap_or(json);
    let start = String::from_utf8_lossy(before).len();
    let wrong = text.get(start..).and_then(|rest| rest.chars().next());
    let end = start + wrong.map_or(1, char::len_utf8);
    Mistake::new(start..end, "").quote_from(&text, document.line)
}

fn indented(lines: &str) -> String {
    let lines: Vec<String> = lines.lines().map(|line| format!("  {line}\n")).collect();
    lines.concat()
}

/// Returns the report on a document for programs.
fn line(document: &Document<'_>, fingerprints: &Result<Fingerprints, Unread>) -> String {
    let line = Object::default().with("line", document.line);
    match fingerprints {
        Ok(Fingerprints { exact, rfc8785, canonical }) => line
            .with("exact", exact.ok().map(digits))
            .with("rfc8785", rfc8785.ok().map(digits))
            .with("canonical", canonical.as_ref().ok())
            .with_known("canonical_error", canonical.as_ref().err().map(ToString::to_string))
            .line(),
        Err(error) => {
            let (error, offset) = match error {
                Unread::TooLong => (error.to_string(), DOCUMENT_BYTES_MAX),
                Unread::Json(error) => (error.kind.to_string(), error.offset),
            };
            line.with("error", error).with("offset", offset).line()
        }
    }
}

const EXIT_CODES: &str = "Exit codes: 0 all documents were read, 3 the file cannot be read or has a document that is \
                          not JSON, 4 the output could not be written, 64 a usage error.";

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Json {
    /// A file with one document, or one document a line, of at most 64 MiB; - for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// The output format
    #[arg(long, value_enum, default_value_t = DocumentFormat::Human)]
    pub(crate) format: DocumentFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentFormat {
    /// For people
    Human,
    /// One JSON object a line for each document
    Jsonl,
}
