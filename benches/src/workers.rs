//! The simulated workers. Each one thinks, makes a call, and notes what it did.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fastrand::Rng;
use tokio::task::LocalSet;
use unstuck_swarm::{Digest, Key, Observation, SwarmStore as _, Tool, Worker};

use crate::fleet::Swarm;
use crate::process::Failure;
use crate::report::figure;

/// The time for which a worker waits for the network.
pub(crate) const DEADLINE: Duration = Duration::from_millis(10);

/// The number of dead ends of each swarm: calls that its workers make again and again.
const DEAD_ENDS: usize = 20;

/// The number of threads that run the tasks of the workers.
const DRIVERS: u8 = 2;

/// The number of the first worker that is a thread.
const PROBES: u64 = 1 << 40;

/// The number of workers, their pace and the time of the test.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    workers: u64,
    think: Duration,
    pub(crate) lasts: Duration,
}

impl Load {
    pub(crate) fn new(workers: u64, rate: u64, lasts: Duration) -> Self {
        let think = Duration::from_millis(workers * 1_000 / rate);
        Self { workers, think: think.min(lasts / 3), lasts }
    }
}

/// Returns a call that nobody else makes.
pub(crate) fn lone_call(worker: u64, number: u32) -> Observation {
    let call = Digest::new(worker).mix(Digest::new(number.into()));
    Observation::new(Worker::new(worker), Tool::named("bash"), call).ok(Digest::of(b"done"))
}

/// Returns a call that fails for all workers alike.
fn dead_end(worker: u64, end: usize) -> Observation {
    let call = Digest::of(format!("dead end {end}").as_bytes());
    Observation::new(Worker::new(worker), Tool::named("bash"), call).failed(Digest::of(b"no rule"))
}

/// Returns a call as agents make them: one of ten leads into a dead end.
fn any_call(worker: u64, number: u32, random: &mut Rng) -> Observation {
    if random.u32(..10) > 0 {
        return lone_call(worker, number);
    }
    dead_end(worker, random.usize(..DEAD_ENDS))
}

/// Everything that the workers did.
#[derive(Default)]
pub(crate) struct Made {
    /// The number of calls of each swarm with each key.
    pub(crate) calls: HashMap<(usize, Key), u64>,
    pub(crate) looks: Times,
    /// How long a worker waited after a call that is a thread.
    pub(crate) waits: Times,
    /// How late such a thread woke that waited for nothing.
    pub(crate) lateness: Times,
}

impl Made {
    fn add(&mut self, other: Self) {
        for (key, calls) in other.calls {
            *self.calls.entry(key).or_default() += calls;
        }
        self.looks.0.extend(other.looks.0);
        self.waits.0.extend(other.waits.0);
        self.lateness.0.extend(other.lateness.0);
    }

    /// Notes a call that a worker reports.
    pub(crate) fn note(&mut self, swarm: &Swarm, call: &Observation) {
        swarm.reported.fetch_add(1, Ordering::Relaxed);
        *self.calls.entry((swarm.number, call.key())).or_default() += 1;
    }

    /// Returns what is wrong if a worker waited for longer than its deadline, and the machine is not that late.
    pub(crate) fn too_long(&self) -> Option<String> {
        let most = self.looks.most().max(self.waits.most());
        let allowed = DEADLINE + 2 * self.lateness.most() + Duration::from_millis(20);
        (most > allowed).then(|| format!("a worker waited {most:?}, and {allowed:?} are allowed"))
    }
}

/// Durations.
#[derive(Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    fn most(&self) -> Duration {
        self.0.iter().max().copied().unwrap_or_default()
    }

    pub(crate) fn figure(&mut self, what: &str) {
        self.0.sort_unstable();
        let at = |percent: usize| self.0[(self.0.len() - 1) * percent / 100];
        let most = self.most();
        figure(what, format!("p50 {:.1?}, p99 {:.1?}, max {most:.1?}", at(50), at(99)));
    }
}

/// The threads of all workers.
pub(crate) struct Crew(Vec<JoinHandle<Made>>);

impl Crew {
    /// Starts all workers: tasks on a few threads, and a thread for each of the first three swarms.
    pub(crate) fn start(swarms: &'static [Swarm], load: Load, start: Instant) -> Self {
        let drive = |driver| thread::spawn(move || drive(driver, swarms, load, start));
        let probes = (PROBES..).zip(&swarms[..3]);
        let probe = |(worker, swarm)| thread::spawn(move || probe(worker, swarm, load, start));
        Self((0..DRIVERS).map(drive).chain(probes.map(probe)).collect())
    }

    /// Waits for all workers, and adds what they did.
    pub(crate) fn join(self, made: &mut Made) -> Result<(), Failure> {
        for thread in self.0 {
            made.add(thread.join().map_err(|_| "a thread of workers panicked")?);
        }
        Ok(())
    }
}

/// Runs the tasks of some workers.
fn drive(driver: u8, swarms: &'static [Swarm], load: Load, start: Instant) -> Made {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a thread can have a runtime");
    let (made, tasks) = (Rc::new(RefCell::new(Made::default())), LocalSet::new());
    let workers = (0..load.workers).zip(swarms.iter().cycle());
    for (worker, swarm) in workers.skip(driver.into()).step_by(DRIVERS.into()) {
        tasks.spawn_local(live(worker, swarm, load, start, Rc::clone(&made)));
    }
    runtime.block_on(tasks);
    made.take()
}

/// Lets a worker think and call until the end of the test.
async fn live(worker: u64, swarm: &Swarm, load: Load, start: Instant, made: Rc<RefCell<Made>>) {
    let mut random = Rng::with_seed(worker);
    let mut next = start + load.think.mul_f64(random.f64());
    for number in 0.. {
        if next >= start + load.lasts {
            return;
        }
        tokio::time::sleep_until(next.into()).await;
        let call = any_call(worker, number, &mut random);
        let begin = Instant::now();
        let _ = swarm.store.look(call.call);
        made.borrow_mut().looks.0.push(begin.elapsed());
        made.borrow_mut().note(swarm, &call);
        let _ = swarm.store.record_async(&call, "bash").await;
        next += load.think.mul_f64(0.5 + random.f64());
    }
}

/// Lets a thread make about a hundred calls a second in one swarm.
fn probe(worker: u64, swarm: &Swarm, load: Load, start: Instant) -> Made {
    let (mut made, mut random) = (Made::default(), Rng::with_seed(worker));
    for number in 0.. {
        if start.elapsed() >= load.lasts {
            break;
        }
        let call = any_call(worker, number, &mut random);
        made.note(swarm, &call);
        let begin = Instant::now();
        let _ = swarm.store.record_named(&call, "bash");
        made.waits.0.push(begin.elapsed());
        let begin = Instant::now();
        thread::sleep(DEADLINE);
        made.lateness.0.push(begin.elapsed().saturating_sub(DEADLINE));
    }
    made
}
