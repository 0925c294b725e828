//! `cargo xtask bench text`: what is made of arguments and results as text, in one table.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use unstuck_benches::documents::bytes;
use unstuck_benches::instructions::{NOT_COUNTED, can_be_counted, per_turn, word};
use unstuck_benches::program::{end, print};
use unstuck_benches::rounds::{Case, Timing, take_turns};
use unstuck_benches::text::Work;
use unstuck_benches::text_report::{Report, Row};
use unstuck_benches::texts::Kind;

/// How many rounds there are.
const ROUNDS: usize = 51;

/// Over how many rounds instructions are counted: the heap takes a few to settle.
const TURNS: u16 = 4;

/// Measures what is made of arguments and results as text.
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
    /// Do one work on the texts of a round, a number of times: what valgrind counts
    Count { work: Work, kind: Kind, length: usize, times: u16 },
}

fn main() -> ExitCode {
    let line = CommandLine::parse();
    let done = match line.command {
        Some(Command::Count { work, kind, length, times }) => count(work, kind, length, times),
        None => report().and_then(|report| print(&report, line.json)),
    };
    end("text", done)
}

fn count(work: Work, kind: Kind, length: usize, times: u16) -> io::Result<()> {
    let texts = kind.texts(length);
    let answers = (0..times).map(|_| work.run(&texts));
    writeln!(io::stdout(), "{}", answers.fold(0, u32::wrapping_add))
}

/// Measures everything.
fn report() -> io::Result<Report> {
    let mut left_out = Vec::new();
    let kinds = Kind::value_variants().iter();
    let cases = kinds.flat_map(|&kind| kind.lengths().iter().map(move |&length| (kind, length)));
    let mut rows: Vec<Row> = cases.flat_map(|(kind, length)| rows(kind, length)).collect();
    if can_be_counted() {
        for row in &mut rows {
            count_instructions(row)?;
        }
    } else {
        left_out.push(NOT_COUNTED);
    }
    Ok(Report { rows, left_out })
}

fn count_instructions(row: &mut Row) -> io::Result<()> {
    let words = [word(&row.work), word(&row.kind), row.length.to_string()];
    let texts = row.kind.texts(row.length);
    let counted = per_turn(&words, TURNS)?;
    row.instructions = Some(counted / f64::from(number(&texts)));
    row.instructions_per_byte = Some(counted / bytes(&texts));
    Ok(())
}

/// All that is made of texts of one kind and length, timed in turns.
fn rows(kind: Kind, length: usize) -> Vec<Row> {
    let texts = &kind.texts(length);
    let works = Work::on(kind).iter();
    let case = |&work: &Work| Case { calls: number(texts), run: Box::new(move || work.run(texts)) };
    let timings = take_turns(&works.clone().map(case).collect::<Vec<_>>(), ROUNDS);
    let bytes_per_text = bytes(texts) / f64::from(number(texts));
    let row = |(&work, Timing { ns_per_call, .. })| Row {
        kind,
        length,
        work,
        ns: ns_per_call,
        gigabytes_per_second: bytes_per_text / ns_per_call,
        instructions: None,
        instructions_per_byte: None,
    };
    works.zip(timings).map(row).collect()
}

/// How many texts there are.
fn number(texts: &[String]) -> u16 {
    u16::try_from(texts.len()).unwrap_or(u16::MAX)
}
