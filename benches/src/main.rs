//! The program behind `cargo xtask bench`: runs one benchmark and prints its report.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use unstuck_benches::contender::Contender;
use unstuck_benches::documents::Document;
use unstuck_benches::json::Reader;
use unstuck_benches::real_calls::Recorded;
use unstuck_benches::real_text::{self, RealWork};
use unstuck_benches::stream::Stream;
use unstuck_benches::swarm::Calls;
use unstuck_benches::text::Work;
use unstuck_benches::texts::Kind;
use unstuck_benches::{engine, hook, json, scan, swarm, swarm_redis, text};

/// Run a benchmark and print its report
#[derive(Parser)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// The engine beside other detectors
    Engine,
    /// `unstuck scan` beside programs that only read JSON
    Scan,
    /// Fingerprints of JSON beside canonical text with a hash
    Json,
    /// Digests, calls, outcomes and verdicts from raw text
    Text,
    /// The hook of an agent beside interpreters that do nothing
    Hook,
    /// Ledgers of a swarm in one process
    Swarm {
        /// Judge the labelled runs in this folder as one swarm, and count false alarms
        #[arg(long, value_name = "FOLDER")]
        traces: Option<PathBuf>,
    },
    /// A swarm on a `redis-server`, which is started for it
    SwarmRedis,
    /// Do the work of one measurement, for valgrind to count
    #[command(subcommand, hide = true)]
    Count(Count),
}

/// A measurement, and the number of times that its work is done.
#[derive(Subcommand)]
enum Count {
    Engine { contender: Contender, stream: Stream, calls: u16 },
    Json { reader: Reader, document: Document, times: u16 },
    Text { work: Work, kind: Kind, length: usize, times: u16 },
    RealText { work: RealWork, recorded: Recorded, times: u16 },
    Swarm { calls: Calls, workers: u64, times: u16 },
}

fn main() -> ExitCode {
    match run(CommandLine::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(CommandLine { command, json: as_json }: CommandLine) -> io::Result<()> {
    let report = match command {
        Command::Engine => engine::measure(),
        Command::Scan => scan::measure(),
        Command::Json => json::measure(),
        Command::Text => text::measure(),
        Command::Hook => hook::measure(),
        Command::Swarm { traces } => swarm::measure(traces.as_deref()),
        Command::SwarmRedis => swarm_redis::measure(),
        Command::Count(count) => {
            println!("{}", count.run());
            return Ok(());
        }
    };
    report?.print(as_json)
}

impl Count {
    /// Does the work. Returns its answer, so that the compiler does not remove the work.
    fn run(self) -> u32 {
        match self {
            Self::Engine { contender, stream, calls } => engine::count(contender, stream, calls),
            Self::Json { reader, document, times } => json::count(reader, document, times),
            Self::Text { work, kind, length, times } => text::count(work, kind, length, times),
            Self::RealText { work, recorded, times } => real_text::count(work, recorded, times),
            Self::Swarm { calls, workers, times } => swarm::count(calls, workers, times),
        }
    }
}
