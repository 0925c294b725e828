//! Many simulated workers in many swarms on a Redis Cluster, while one node fails and one slot moves:
//! `cargo run --release -p unstuck-swarm --features redis-async,redis-tls --example fleet`, or better
//! `cargo xtask fleet swarm`.
//!
//! Prints a figure a line, its name and its value separated by a tab, and fails if a count is wrong.

mod cluster;
mod oracle;
mod trouble;
mod workers;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use unstuck_swarm::redis::{RedisStore, Settings};
use unstuck_swarm::{Rule, Window};

use crate::cluster::{Cluster, Encryption};
use crate::oracle::Fate;
use crate::trouble::Fall;
use crate::workers::{Crew, Load, Swarm};

/// An error that ends the program. Its message says what happened.
type Failure = Box<dyn std::error::Error + Send + Sync>;

const USAGE: &str = "usage: fleet [--workers N] [--seconds N] [--rate CALLS_A_SECOND] [--folder FOLDER] \
                     [--server PROGRAM] [--tls FOLDER_OF_CERTIFICATES] [--master killed|hung]";

/// The secret of the swarms.
const SECRET: &[u8] = b"of the simulated fleet alone";

/// The number of workers that share a swarm.
const SWARM_SIZE: u64 = 1_000;

/// The time for which a worker waits for the network.
const DEADLINE: Duration = Duration::from_millis(10);

/// The options of the command line.
struct Options {
    workers: u64,
    seconds: u64,
    rate: u64,
    folder: PathBuf,
    server: String,
    certificates: Option<PathBuf>,
    fall: Fall,
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut options = Self {
            workers: 100_000,
            seconds: 60,
            rate: 10_000,
            folder: "target/fleet/swarm".into(),
            server: "redis-server".into(),
            certificates: None,
            fall: Fall::Killed,
        };
        while let Some(name) = words.next() {
            let value = words.next().ok_or(USAGE)?;
            match name.as_str() {
                "--workers" => options.workers = value.parse()?,
                "--seconds" => options.seconds = value.parse()?,
                "--rate" => options.rate = value.parse()?,
                "--folder" => options.folder = value.into(),
                "--server" => options.server = value,
                "--tls" => options.certificates = Some(value.into()),
                "--master" if value == "killed" => options.fall = Fall::Killed,
                "--master" if value == "hung" => options.fall = Fall::Hung,
                _ => return Err(USAGE.into()),
            }
        }
        if options.workers < 100 || options.seconds < 15 || options.rate == 0 {
            return Err(
                "ask for 100 workers or more, 15 seconds or more, and a rate above 0".into()
            );
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(wrong) if wrong.is_empty() => ExitCode::SUCCESS,
        Ok(wrong) => {
            for line in wrong {
                eprintln!("wrong: {line}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a figure.
fn figure(what: &str, value: impl std::fmt::Display) {
    println!("{what}\t{value}");
}

/// Runs the fleet, prints its figures, and returns what is wrong.
fn run(options: &Options) -> Result<Vec<String>, Failure> {
    let encryption = options.certificates.clone().map(Encryption::new);
    let mut cluster = Cluster::start(&options.server, &options.folder, encryption.as_ref())?;
    figure("server", cluster.version()?);
    let (bytes, resident) = (cluster.memory()?, resident_kib());
    // The threads of the workers use the swarms until the end of the program.
    let swarms: &'static [Swarm] = Vec::leak(swarms(options, &cluster)?);
    for swarm in swarms {
        // The thread and the queue of a store exist after its first call.
        swarm.report();
        swarm.store.record_detached(&workers::observation(u64::MAX, 0), "bash");
    }
    cluster::until("all stores have connected", || Ok(swarms.iter().all(Swarm::is_idle)))?;
    let count = u64::try_from(swarms.len())?;
    let of_store = (resident_kib() - resident) / count;

    let load = Load::new(options.workers, options.rate, Duration::from_secs(options.seconds));
    // Until then, all workers exist.
    let start = Instant::now() + Duration::from_secs(2);
    let crew = Crew::start(swarms, load, start);
    let trouble = trouble::cause(&mut cluster, swarms, options.fall, load, start)?;
    let mut made = crew.join()?;
    cluster::until("all calls are settled", || Ok(swarms.iter().all(Swarm::is_idle)))?;
    let took = start.elapsed();

    figure("workers, swarms", format!("{}, {count}", options.workers));
    figure("calls", made.calls());
    figure("calls a second", format!("{:.0}", made.rate(load.lasts)));
    figure("calls a second and shard", format!("{:.0}", made.rate(load.lasts) / 3.0));
    figure("connections of the process", count);
    made.looks.figure("local verdict before a call");
    made.waits.figure("wait after a call, a task");
    made.probes.figure("wait after a call, a thread");
    made.lateness_figures();
    figure("memory of the process per swarm", format!("{of_store} KiB"));
    let each = (resident_kib() - resident) * 1024 / options.workers;
    figure("memory of the process per worker, simulation included", format!("{each} B"));
    trouble.figures();

    let mut wrong = made.waited_too_long(DEADLINE);
    let audit = oracle::audit(&cluster, swarms, &made, &trouble)?;
    let keys = audit.keys.max(1);
    figure(
        "memory of the masters per call that counts",
        format!("{} B", (cluster.memory()? - bytes) / keys),
    );
    audit.figures();
    wrong.extend(audit.wrong);
    eprintln!("took {took:?}");
    Ok(wrong)
}

/// Opens a store for each swarm. A third of them is on each master.
fn swarms(options: &Options, cluster: &Cluster) -> Result<Vec<Swarm>, Failure> {
    let count = (options.workers / SWARM_SIZE).max(6);
    let mut number = 0;
    let mut swarm = |home: usize| loop {
        number += 1;
        let name = format!("fleet-{number}");
        let slot = cluster.slot_of(&name)?;
        if cluster.home(slot) != home {
            continue;
        }
        let rule = Rule::default().window(Window::Time { span: 24 * 3_600_000 });
        let settings =
            Settings::parse(&cluster.url(&name), SECRET)?.rule(rule)?.deadline(DEADLINE)?;
        let fate = match home {
            0 => Fate::Killed,
            _ => Fate::Unharmed,
        };
        let (store, reported) = (RedisStore::open(settings.clone()), AtomicU64::new(0));
        return Ok::<_, Failure>(Swarm { store, settings, name, slot, fate, reported });
    };
    let homes = (0..3).cycle().take(usize::try_from(count)?);
    let mut swarms = homes.map(&mut swarm).collect::<Result<Vec<_>, _>>()?;
    // The slot of one swarm on the second master moves to the third.
    swarms[1].fate = Fate::Moved;
    Ok(swarms)
}

/// Returns the memory of this process, in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
