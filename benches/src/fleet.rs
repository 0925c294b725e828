//! The load test of swarms: many simulated workers on a cluster, while one node fails and one slot moves.

use std::env;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use unstuck_swarm::redis::{RedisStore, Settings};
use unstuck_swarm::{Rule, Window};

use crate::cluster::Cluster;
use crate::process::{Failure, memory_kib, until};
use crate::report::figure;
use crate::workers::{self, Crew, DEADLINE, Load, Made};
use crate::{oracle, trouble};

/// The secret of the swarms.
const SECRET: &[u8] = b"of the simulated fleet alone";

/// The number of workers that share a swarm.
const SWARM_SIZE: u64 = 1_000;

/// `SWARM_WORKERS`, `SWARM_RATE` and `SWARM_SECONDS` make the test smaller.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The program of the servers
    #[arg(long, default_value = "redis-server")]
    pub(crate) server: String,
    /// The folder of the servers, which is removed first
    #[arg(long, default_value = "target/fleet/swarm")]
    pub(crate) folder: PathBuf,
    /// Encrypts everything; `SSL_CERT_FILE` has to name the file `ca.crt` in the folder
    #[arg(long)]
    pub(crate) tls: bool,
    /// Lets the master hang with all its connections, instead of killing it
    #[arg(long)]
    pub(crate) hung: bool,
}

/// What happens to the slot of a swarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing.
    Unharmed,
    /// It moves to another master.
    Moved,
    /// Its master fails, and a replica takes over.
    Failed,
}

/// A swarm with its store.
pub(crate) struct Swarm {
    pub(crate) store: RedisStore,
    pub(crate) settings: Settings,
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) slot: u32,
    pub(crate) fate: Fate,
    /// The number of calls that workers reported to the store.
    pub(crate) reported: AtomicU64,
}

impl Swarm {
    /// Returns whether the store knows the end of all calls.
    fn is_idle(&self) -> bool {
        let health = self.store.health();
        health.answered + health.failed + health.dropped == self.reported.load(Ordering::Relaxed)
    }

    pub(crate) fn answered(&self) -> u64 {
        self.store.health().answered
    }
}

/// Runs the workers, prints the figures, and compares the counts of the servers with those of the workers.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let workers = size("SWARM_WORKERS", 100_000)?;
    let (rate, seconds) = (size("SWARM_RATE", 10_000)?, size("SWARM_SECONDS", 60)?);
    if workers < 100 || seconds < 15 || rate == 0 {
        return Err("ask for 100 workers, 15 seconds and one call a second at least".into());
    }
    let resident = || memory_kib(process::id(), "VmRSS:").ok_or("no memory");
    let mut cluster = Cluster::start(options)?;
    figure("server", cluster.version()?);
    let (bytes, before) = (cluster.memory()?, resident()?);
    // The threads of the workers use the swarms until the end of the program.
    let swarms: &'static [Swarm] = Vec::leak(swarms((workers / SWARM_SIZE).max(6), &cluster)?);
    let mut made = Made::default();
    for swarm in swarms {
        // The thread and the queue of a store exist after its first call.
        let call = workers::lone_call(u64::MAX, 0);
        made.note(swarm, &call);
        swarm.store.record_detached(&call, "bash");
    }
    until("all stores have connected", || Ok(swarms.iter().all(Swarm::is_idle)))?;
    let of_stores = resident()? - before;

    let load = Load::new(workers, rate, Duration::from_secs(seconds));
    // Until then, all workers exist.
    let start = Instant::now() + Duration::from_secs(2);
    let crew = Crew::start(swarms, load, start);
    let trouble = trouble::cause(&mut cluster, swarms, options.hung, load, start)?;
    crew.join(&mut made)?;
    until("all calls are settled", || Ok(swarms.iter().all(Swarm::is_idle)))?;

    figure("workers, swarms", format!("{workers}, {}", swarms.len()));
    let calls: u64 = made.calls.values().sum();
    figure("calls, calls a second", format!("{calls}, {}", calls / seconds));
    made.looks.figure("local verdict before a call");
    made.waits.figure("wait after a call, a thread");
    made.lateness.figure("lateness of a timer on this machine");
    figure("memory of the process for a swarm, KiB", of_stores / swarms.len() as u64);
    trouble.figures();
    let (keys, wrong) = oracle::audit(&cluster, swarms, &made, &trouble)?;
    let of_masters = cluster.memory()?.saturating_sub(bytes);
    figure("memory of the masters for a call that counts, B", of_masters / keys.max(1));
    let wrong: Vec<_> = made.too_long().into_iter().chain(wrong).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Returns the number in a variable of the environment.
fn size(name: &str, default: u64) -> Result<u64, Failure> {
    env::var(name).map_or(Ok(default), |text| Ok(text.parse()?))
}

/// Opens a store for each swarm. A third of them is on each master.
fn swarms(count: u64, cluster: &Cluster) -> Result<Vec<Swarm>, Failure> {
    let mut swarms = Vec::new();
    for candidate in 1_u64.. {
        let (name, number) = (format!("fleet-{candidate}"), swarms.len());
        let (slot, home) = cluster.place(&name)?;
        if number as u64 == count {
            break;
        }
        if home != number % 3 {
            continue;
        }
        let rule = Rule::default().window(Window::Time { span: 24 * 3_600_000 });
        let settings = Settings::parse(&cluster.url(&name), SECRET)?;
        let settings = settings.rule(rule)?.deadline(DEADLINE)?;
        let (store, reported) = (RedisStore::open(settings.clone()), AtomicU64::new(0));
        // The first master fails, and one slot of the second moves to the third.
        let fate = match (home, number) {
            (0, _) => Fate::Failed,
            (_, 1) => Fate::Moved,
            _ => Fate::Unharmed,
        };
        swarms.push(Swarm { store, settings, number, name, slot, fate, reported });
    }
    Ok(swarms)
}
