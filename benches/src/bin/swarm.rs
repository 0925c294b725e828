//! `cargo xtask bench swarm`: the calls of a swarm counted in one process, in one table.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use unstuck_benches::innocents;
use unstuck_benches::instructions::{NOT_COUNTED, can_be_counted, per_turn, word};
use unstuck_benches::program::{end, print};
use unstuck_benches::rounds::{Case, take_turns};
use unstuck_benches::swarm::{CALLS, Calls, Counting, shared};
use unstuck_benches::swarm_report::{Alone, Report, Together};

/// How many rounds there are.
const ROUNDS: usize = 51;

/// How many there are of several threads, which take longer.
const SHARED_ROUNDS: usize = 7;

/// Over how many rounds instructions are counted.
const TURNS: u16 = 4;

/// How many workers there are.
const WORKERS: [u64; 5] = [10, 100, 1_000, 10_000, 100_000];

/// Measures the ledgers of a swarm.
#[derive(Parser)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Put the labelled runs of this folder side by side, too, and see how often the rule fires
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Count the calls of a round, a number of times: what valgrind counts
    Count { calls: Calls, workers: u64, times: u16 },
}

fn main() -> ExitCode {
    let line = CommandLine::parse();
    let done = match line.command {
        Some(Command::Count { calls, workers, times }) => count(calls, workers, times),
        None => report(line.traces.as_deref()).and_then(|report| print(&report, line.json)),
    };
    end("swarm", done)
}

fn count(calls: Calls, workers: u64, times: u16) -> io::Result<()> {
    let (counting, calls) = (Counting::new(), calls.of(workers, CALLS.into()));
    let found = (0..times).map(|_| counting.run(&calls));
    writeln!(io::stdout(), "{}", found.fold(0, u32::wrapping_add))
}

/// Measures everything.
fn report(traces: Option<&Path>) -> io::Result<Report> {
    let mut left_out = Vec::new();
    let mut alone: Vec<_> =
        Calls::value_variants().iter().flat_map(|&calls| alone(calls)).collect();
    if can_be_counted() {
        for row in &mut alone {
            let words = [word(&row.calls), row.workers.to_string()];
            row.instructions = Some(per_turn(&words, TURNS)? / f64::from(CALLS));
        }
    } else {
        left_out.push(NOT_COUNTED);
    }
    let together = [Calls::New, Calls::DeadEnds, Calls::Equal].into_iter().flat_map(together);
    let together = together.collect();
    let innocents = traces.map(innocents::measure).transpose()?.unwrap_or_default();
    if innocents.is_empty() {
        left_out.push("recorded runs side by side: --traces names their folder");
    }
    Ok(Report { alone, together, innocents, left_out })
}

/// One thread that counts, for all numbers of workers in turns.
fn alone(calls: Calls) -> Vec<Alone> {
    let streams = WORKERS.map(|workers| (Counting::new(), calls.of(workers, CALLS.into())));
    let case = |(counting, calls)| -> Case<'_> {
        let (counting, calls): (&Counting, &Vec<_>) = (counting, calls);
        Case { calls: CALLS, run: Box::new(move || counting.run(calls)) }
    };
    let cases: Vec<_> = streams.iter().map(|(counting, calls)| case((counting, calls))).collect();
    let timings = take_turns(&cases, ROUNDS);
    let rows = WORKERS.into_iter().zip(timings).zip(&streams);
    rows.map(|((workers, timing), (counting, _))| Alone {
        calls,
        workers,
        ns: timing.ns_per_call,
        millions_per_second: 1e3 / timing.ns_per_call,
        bytes: counting.bytes_per_counter(),
        instructions: None,
    })
    .collect()
}

/// Threads that share a ledger.
fn together(calls: Calls) -> Vec<Together> {
    let one = shared(calls, 1, SHARED_ROUNDS);
    let row = |threads, millions_per_second| Together {
        calls,
        threads,
        millions_per_second,
        ratio: millions_per_second / one,
    };
    let more = [2, 4, 8].map(|threads| row(threads, shared(calls, threads, SHARED_ROUNDS)));
    [row(1, one)].into_iter().chain(more).collect()
}
