//! `cargo xtask bench engine`: the engine beside other detectors, in one table.

use std::env;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use unstuck_benches::contender::{Contender, Input};
use unstuck_benches::endurance::Endurance;
use unstuck_benches::instructions::{NOT_COUNTED, can_be_counted, per_turn, word};
use unstuck_benches::program::{end, print};
use unstuck_benches::report::{Report, Row, Size};
use unstuck_benches::rounds::{Case, Timing, take_turns};
use unstuck_benches::scan::{self, Cores, Scan, Traces};
use unstuck_benches::stream::Stream;

/// How many rounds all contenders go.
const ROUNDS: usize = 51;

/// Measures the engine beside other detectors.
#[derive(Parser)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Scan the native traces of this folder, too, repeated to a gigabyte
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Run one contender over one stream, once: what valgrind counts
    Count { contender: Contender, stream: Stream, calls: u16 },
}

fn main() -> ExitCode {
    let line = CommandLine::parse();
    let done = match line.command {
        Some(Command::Count { contender, stream, calls }) => {
            writeln!(io::stdout(), "{}", contender.flagged(&Input::of(stream), calls))
        }
        None => report(&line).and_then(|report| print(&report, line.json)),
    };
    end("engine", done)
}

/// Measures everything.
fn report(line: &CommandLine) -> io::Result<Report> {
    let mut left_out = Vec::new();
    let mut rows: Vec<Row> = Stream::value_variants().iter().flat_map(|&of| rows(of)).collect();
    if can_be_counted() {
        for row in &mut rows {
            let words = [word(&row.contender), word(&row.stream)];
            let counted = per_turn(&words, row.contender.calls() / 2)?;
            row.instructions_per_event = Some(counted / 2.0);
        }
    } else {
        left_out.push(NOT_COUNTED);
    }
    let endurance = Endurance::measure();
    let scans = scans(line, &mut left_out)?;
    Ok(Report { rows, sizes: Size::all(), endurance, scans, left_out })
}

/// All contenders on `stream`, timed in turns.
fn rows(stream: Stream) -> Vec<Row> {
    let input = Input::of(stream);
    let contenders = Contender::value_variants().iter().filter(|one| one.runs_on(stream));
    let contenders: Vec<Contender> = contenders.copied().collect();
    let case = |contender: &Contender| {
        let (contender, input) = (*contender, &input);
        let calls = contender.calls();
        Case { calls, run: Box::new(move || contender.flagged(input, calls)) }
    };
    let cases: Vec<Case<'_>> = contenders.iter().map(case).collect();
    let timings = take_turns(&cases, ROUNDS);
    contenders
        .into_iter()
        .zip(timings)
        .map(|(contender, timing)| row(stream, contender, timing))
        .collect()
}

fn row(stream: Stream, contender: Contender, timing: Timing) -> Row {
    let Timing { ns_per_call, ratio, answer } = timing;
    assert_eq!(answer == 0, stream == Stream::AllNew, "{contender:?} on {stream:?}");
    Row {
        stream,
        contender,
        flagged_percent: f64::from(answer) * 100.0 / f64::from(contender.calls()),
        ns_per_call,
        ns_per_event: ns_per_call / 2.0,
        ratio,
        instructions_per_event: None,
    }
}

/// The program `unstuck` beside this one, on generated traces and on those asked for.
fn scans(line: &CommandLine, left_out: &mut Vec<&'static str>) -> io::Result<Vec<Scan>> {
    let unstuck =
        env::current_exe()?.with_file_name("unstuck").with_extension(env::consts::EXE_EXTENSION);
    if !unstuck.is_file() {
        let why = "is not there; `cargo build --release -p unstuck-cli` builds it";
        return Err(io::Error::other(format!("{} {why}", unstuck.display())));
    }
    let mut cores = vec![Cores::All];
    if scan::has_taskset() {
        cores.insert(0, Cores::One);
    } else {
        left_out.push("scans on one core: taskset is not installed");
    }
    let mut scans = scan::measure(&unstuck, &Traces::generated()?, &cores)?;
    if let Some(folder) = &line.traces {
        scans.extend(scan::measure(&unstuck, &Traces::repeated(&unstuck, folder)?, &cores)?);
    }
    Ok(scans)
}
