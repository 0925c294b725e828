//! `cargo xtask bench json`: the fingerprint beside canonical text and a hash, in one table.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use unstuck_benches::documents::{Document, bytes, respelled};
use unstuck_benches::instructions::{NOT_COUNTED, can_be_counted, per_turn, word};
use unstuck_benches::json::{Aim, Reader};
use unstuck_benches::json_report::{Report, Row};
use unstuck_benches::program::{end, print};
use unstuck_benches::rounds::{Case, Timing, take_turns};

/// How many rounds all readers go.
const ROUNDS: usize = 51;

/// Measures the fingerprint beside canonical text and a hash.
#[derive(Parser)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Let one reader read the documents of a round, a number of times: what valgrind counts
    Count { reader: Reader, document: Document, times: u16 },
}

fn main() -> ExitCode {
    let line = CommandLine::parse();
    let done = match line.command {
        Some(Command::Count { reader, document, times }) => count(reader, document, times),
        None => report().and_then(|report| print(&report, line.json)),
    };
    end("json", done)
}

fn count(reader: Reader, document: Document, times: u16) -> io::Result<()> {
    let texts = document.texts();
    let answers = (0..times).map(|_| reader.read(&texts));
    writeln!(io::stdout(), "{}", answers.fold(0, u32::wrapping_add))
}

/// Measures everything.
fn report() -> io::Result<Report> {
    let mut left_out = Vec::new();
    let documents = Document::value_variants().iter();
    let mut rows: Vec<Row> = documents.flat_map(|&document| rows(document)).collect();
    if can_be_counted() {
        for row in &mut rows {
            // The heap takes a few turns to settle, but many documents take long to count.
            let turns = if row.document == Document::Records1M { 1 } else { 8 };
            let counted = per_turn(&[word(&row.reader), word(&row.document)], turns)?;
            row.instructions_per_byte = Some(counted / bytes(&row.document.texts()));
        }
    } else {
        left_out.push(NOT_COUNTED);
    }
    Ok(Report { rows, left_out })
}

/// All readers on `document`, timed in turns: those that make a text beside each other, and all
/// others beside each other.
fn rows(document: Document) -> Vec<Row> {
    let texts = document.texts();
    let readers = Reader::value_variants().iter().copied();
    let (to_text, to_bits) = readers.partition(|reader| reader.aim() == Aim::Text);
    let mut rows = timed(document, &texts, to_bits);
    rows.extend(timed(document, &texts, to_text));
    rows
}

/// `readers`, of which the first is what the others are compared with, in turns.
fn timed(document: Document, texts: &[String], readers: Vec<Reader>) -> Vec<Row> {
    let again: Vec<String> = texts.iter().map(|text| respelled(text)).collect();
    let case = |reader: &Reader| {
        let reader = *reader;
        assert_eq!(reader.read(texts), reader.read(&again), "{reader:?} on {document:?}");
        let calls = u16::try_from(texts.len()).unwrap_or(u16::MAX);
        Case { calls, run: Box::new(move || reader.read(texts)) }
    };
    let cases: Vec<Case<'_>> = readers.iter().map(case).collect();
    let timings = take_turns(&cases, ROUNDS);
    let bytes_per_text = bytes(texts) / f64::from(cases[0].calls);
    let row = |(reader, Timing { ns_per_call, ratio, .. })| Row {
        document,
        reader,
        ns: ns_per_call,
        megabytes_per_second: bytes_per_text * 1e3 / ns_per_call,
        times_as_fast: 1.0 / ratio,
        instructions_per_byte: None,
    };
    readers.into_iter().zip(timings).map(row).collect()
}
