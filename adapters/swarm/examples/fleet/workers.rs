//! The simulated workers. Each one thinks, makes a call, and notes what it did.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::LocalSet;
use unstuck_swarm::redis::{RedisStore, Settings};
use unstuck_swarm::{Digest, Observation, SwarmStore as _, Tool, Worker};

use crate::oracle::Fate;
use crate::{DEADLINE, Failure, figure};

/// The number of dead ends of each swarm: calls that its workers make again and again.
pub(crate) const DEAD_ENDS: usize = 20;

/// The number of threads that run the tasks of the workers.
const DRIVERS: u8 = 2;

/// The number of the first worker that is a thread.
const PROBES: u64 = 1 << 40;

/// A swarm with its store.
pub(crate) struct Swarm {
    pub(crate) store: RedisStore,
    pub(crate) settings: Settings,
    pub(crate) name: String,
    pub(crate) slot: u32,
    pub(crate) fate: Fate,
    /// The number of calls that workers reported to the store.
    pub(crate) reported: AtomicU64,
}

impl Swarm {
    /// Returns whether the store knows the end of all calls.
    pub(crate) fn is_idle(&self) -> bool {
        let health = self.store.health();
        health.answered + health.failed + health.dropped == self.reported.load(Ordering::Relaxed)
    }

    pub(crate) fn report(&self) {
        self.reported.fetch_add(1, Ordering::Relaxed);
    }
}

/// The number of workers, their pace and the time of the test.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    workers: u64,
    think: Duration,
    pub(crate) lasts: Duration,
}

impl Load {
    pub(crate) fn new(workers: u64, rate: u64, lasts: Duration) -> Self {
        let think = Duration::from_secs_f64(real(workers) / real(rate));
        Self { workers, think: think.min(lasts / 3), lasts }
    }
}

/// The calls of one worker.
pub(crate) struct Diary {
    pub(crate) worker: u64,
    /// The number of calls that nobody else makes, numbered from 0.
    pub(crate) own: u32,
    /// The number of calls of each dead end.
    pub(crate) dead: [u32; DEAD_ENDS],
}

impl Diary {
    const fn new(worker: u64) -> Self {
        Self { worker, own: 0, dead: [0; DEAD_ENDS] }
    }

    /// Notes the next call, and returns it.
    fn next(&mut self, random: &mut fastrand::Rng) -> Observation {
        if random.u32(..10) > 0 {
            self.own += 1;
            return observation(self.worker, self.own - 1);
        }
        let end = random.usize(..DEAD_ENDS);
        self.dead[end] += 1;
        dead_end(self.worker, end)
    }
}

/// Returns a call that nobody else makes.
pub(crate) fn observation(worker: u64, number: u32) -> Observation {
    let call = Digest::new(worker).mix(Digest::new(number.into()));
    Observation::new(Worker::new(worker), Tool::named("bash"), call).ok(Digest::of(b"done"))
}

/// Returns a call that fails for all workers alike.
pub(crate) fn dead_end(worker: u64, end: usize) -> Observation {
    let call = Digest::of(format!("dead end {end}").as_bytes());
    Observation::new(Worker::new(worker), Tool::named("bash"), call).failed(Digest::of(b"no rule"))
}

/// Everything that the workers did.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) diaries: Vec<Diary>,
    pub(crate) looks: Times,
    pub(crate) waits: Times,
    pub(crate) probes: Times,
    /// How late a timer ended that waited for nothing.
    lateness: Times,
    /// How late a task began that another thread woke.
    wakes: Times,
}

impl Made {
    fn add(&mut self, other: Self) {
        self.diaries.extend(other.diaries);
        self.looks.0.extend(other.looks.0);
        self.waits.0.extend(other.waits.0);
        self.probes.0.extend(other.probes.0);
        self.lateness.0.extend(other.lateness.0);
        self.wakes.0.extend(other.wakes.0);
    }

    pub(crate) fn calls(&self) -> u64 {
        let of = |diary: &Diary| {
            u64::from(diary.own) + diary.dead.iter().map(|n| u64::from(*n)).sum::<u64>()
        };
        self.diaries.iter().map(of).sum()
    }

    pub(crate) fn rate(&self, lasts: Duration) -> f64 {
        real(self.calls()) / lasts.as_secs_f64()
    }

    /// Prints how late this machine was without any network.
    pub(crate) fn lateness_figures(&self) {
        for (what, times) in [("a timer", &self.lateness), ("a task that is woken", &self.wakes)] {
            let most = times.at_most().as_secs_f64() * 1e3;
            figure(
                &format!("lateness of {what} on this machine, at most"),
                format!("{most:.1} ms"),
            );
        }
    }

    /// Returns what is wrong if a worker waited for longer than `deadline`. A timer that is late without any
    /// network is late here, too, and for a worker that is a task, a task that is woken late.
    pub(crate) fn waited_too_long(&self, deadline: Duration) -> Vec<String> {
        let timers = self.lateness.at_most();
        let tasks = timers.max(self.wakes.at_most());
        let kinds = [(&self.waits, tasks), (&self.probes, timers), (&self.looks, timers)];
        let wrong = kinds.into_iter().filter_map(|(times, lateness)| {
            let cap = deadline + 2 * lateness + Duration::from_millis(20);
            let most = Some(times.at_most()).filter(|most| *most > cap)?;
            Some(format!("a worker waited {most:?}, and {cap:?} at most are allowed"))
        });
        wrong.collect()
    }
}

/// Durations in nanoseconds.
#[derive(Default)]
pub(crate) struct Times(Vec<u32>);

impl Times {
    fn add(&mut self, time: Duration) {
        self.0.push(u32::try_from(time.as_nanos()).unwrap_or(u32::MAX));
    }

    fn at_most(&self) -> Duration {
        Duration::from_nanos(self.0.iter().max().copied().unwrap_or(0).into())
    }

    pub(crate) fn figure(&mut self, what: &str) {
        self.0.sort_unstable();
        let part = |thousandths: usize| {
            let time = self.0.get(self.0.len().saturating_sub(1) * thousandths / 1_000);
            f64::from(time.copied().unwrap_or(0)) / 1e3
        };
        let (half, most, last) = (part(500), part(990), part(1_000));
        figure(what, format!("p50 {half:.1} µs, p99 {most:.1} µs, max {last:.0} µs"));
    }
}

/// The threads of all workers.
pub(crate) struct Crew(Vec<JoinHandle<Result<Made, String>>>);

impl Crew {
    /// Starts all workers: tasks on a few threads, and a thread for each of the first three swarms.
    pub(crate) fn start(swarms: &'static [Swarm], load: Load, start: Instant) -> Self {
        let (senders, receivers): (Vec<_>, Vec<_>) =
            (0..DRIVERS).map(|_| unbounded_channel()).unzip();
        let drivers = (0_u64..).zip(receivers).map(|(driver, wakes)| {
            thread::spawn(move || drive(driver, swarms, load, start, wakes))
        });
        let probe = |number| thread::spawn(move || Ok(probe(number, swarms, load, start)));
        let mut threads: Vec<_> = drivers.collect();
        threads.extend((0..3).map(probe));
        threads.push(thread::spawn(move || Ok(control(load, start, &senders))));
        Self(threads)
    }

    pub(crate) fn join(self) -> Result<Made, Failure> {
        let mut made = Made::default();
        for thread in self.0 {
            made.add(thread.join().map_err(|_| "a thread of workers panicked")??);
        }
        Ok(made)
    }
}

/// Returns the swarm of a worker.
pub(crate) fn swarm_of(worker: u64, swarms: usize) -> usize {
    usize::try_from((worker & !PROBES) % (swarms as u64)).unwrap_or(0)
}

/// Runs the tasks of some workers.
fn drive(
    driver: u64,
    swarms: &'static [Swarm],
    load: Load,
    start: Instant,
    mut wakes: UnboundedReceiver<Instant>,
) -> Result<Made, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let (made, tasks) = (Rc::new(RefCell::new(Made::default())), LocalSet::new());
    let late = Rc::clone(&made);
    tasks.spawn_local(async move {
        tokio::time::sleep_until(start.into()).await;
        while start.elapsed() < load.lasts {
            let begin = Instant::now();
            tokio::time::sleep(DEADLINE).await;
            late.borrow_mut().lateness.add(begin.elapsed().saturating_sub(DEADLINE));
        }
    });
    // A reply wakes a task from another thread, for which the runtime has another queue than for its timers.
    let late = Rc::clone(&made);
    tasks.spawn_local(async move {
        while let Some(begin) = wakes.recv().await {
            late.borrow_mut().wakes.add(begin.elapsed());
        }
    });
    for worker in (driver..load.workers).step_by(usize::from(DRIVERS)) {
        let swarm = &swarms[swarm_of(worker, swarms.len())];
        tasks.spawn_local(live(worker, swarm, load, start, Rc::clone(&made)));
    }
    runtime.block_on(tasks);
    Ok(made.take())
}

/// Lets a worker think and call until the end of the test.
async fn live(worker: u64, swarm: &Swarm, load: Load, start: Instant, made: Rc<RefCell<Made>>) {
    let (mut diary, mut random) = (Diary::new(worker), fastrand::Rng::with_seed(worker));
    let mut next = start + load.think.mul_f64(random.f64());
    while next < start + load.lasts {
        tokio::time::sleep_until(next.into()).await;
        let call = diary.next(&mut random);
        let begin = Instant::now();
        let _ = swarm.store.look(call.call);
        made.borrow_mut().looks.add(begin.elapsed());
        swarm.report();
        let begin = Instant::now();
        let _ = swarm.store.record_async(&call, "bash").await;
        made.borrow_mut().waits.add(begin.elapsed());
        next += load.think.mul_f64(0.5 + random.f64());
    }
    made.borrow_mut().diaries.push(diary);
}

/// Lets a thread make about a hundred calls a second in one swarm.
fn probe(number: u64, swarms: &[Swarm], load: Load, start: Instant) -> Made {
    let worker = PROBES | number;
    let swarm = &swarms[swarm_of(worker, swarms.len())];
    let (mut made, mut diary) = (Made::default(), Diary::new(worker));
    let mut random = fastrand::Rng::with_seed(worker);
    while start.elapsed() < load.lasts {
        let call = diary.next(&mut random);
        swarm.report();
        let begin = Instant::now();
        let _ = swarm.store.record_named(&call, "bash");
        made.probes.add(begin.elapsed());
        thread::sleep(DEADLINE);
    }
    made.diaries.push(diary);
    made
}

/// Measures how late a thread of this machine wakes up that waits for nothing. Wakes a task of each driver, which
/// measures the same.
fn control(load: Load, start: Instant, wakers: &[UnboundedSender<Instant>]) -> Made {
    let mut made = Made::default();
    let (_sender, never) = mpsc::channel::<()>();
    thread::sleep(start.saturating_duration_since(Instant::now()));
    while start.elapsed() < load.lasts {
        let begin = Instant::now();
        let _ = never.recv_timeout(DEADLINE);
        made.lateness.add(begin.elapsed().saturating_sub(DEADLINE));
        for waker in wakers {
            let _ = waker.send(Instant::now());
        }
    }
    made
}

/// Returns a number for a figure.
#[expect(clippy::cast_precision_loss, reason = "figures are rounded")]
pub(crate) const fn real(number: u64) -> f64 {
    number as f64
}
