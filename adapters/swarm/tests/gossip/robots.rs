//! Swarms on a simulated network that loses, delays and repeats frames. A seed decides everything.

use std::fmt::Write as _;

use fastrand::Rng;
use unstuck_swarm::{Allowance, Digest, Limits, Observation, Replica, Rule, Tool, Window, Worker};

use crate::model::frame_of;

/// A tick: one second by the clock of the swarm. In each tick every replica receives, works and sends.
const TICK: u64 = 1_000;

/// The number of random peers to which each replica sends a frame in a tick.
const PEERS: usize = 2;

/// The number of cells of each replica: some hundred kilobytes.
const CELLS: usize = 512;

/// The tick in which the first workers reach the dead end.
const BEGIN: u64 = 20;

/// The ticks within which they reach it, and within which they try again.
const MEET: u64 = 5;

/// The maximum number of ticks.
const END: u64 = BEGIN + 120;

/// The trouble of a network.
#[derive(Clone, Copy)]
struct Trouble {
    name: &'static str,
    /// The percentage of lost frames.
    lost: u8,
    /// The percentage of repeated frames.
    twice: u8,
    /// The maximum delay of a frame in ticks, beyond one.
    late: u64,
    /// The ticks from [`BEGIN`] on in which the swarm is parted in two halves.
    parted: u64,
}

const GOOD: Trouble = Trouble { name: "no trouble", lost: 0, twice: 0, late: 0, parted: 0 };

const TROUBLES: [Trouble; 7] = [
    GOOD,
    Trouble { name: "10 % lost", lost: 10, ..GOOD },
    Trouble { name: "50 % lost", lost: 50, ..GOOD },
    Trouble { name: "up to 5 s late", late: 4, ..GOOD },
    Trouble { name: "half come twice", twice: 50, ..GOOD },
    Trouble { name: "parted for 30 s", parted: 30, ..GOOD },
    Trouble { name: "all of that", lost: 50, late: 4, twice: 50, parted: 30 },
];

/// A swarm on its network.
struct Network {
    trouble: Trouble,
    random: Rng,
    now: u64,
    replicas: Vec<Replica>,
    /// The central counter, which gets every call at once.
    central: Replica,
    /// The frames on their way: when and where they arrive.
    sent: Vec<(u64, usize, Vec<u8>)>,
    /// The times at which each stuck worker makes the call of the dead end.
    plans: Vec<[u64; 2]>,
    /// The time at which each of them knew the loop, and the central counter did.
    knew: Vec<Option<u64>>,
    central_knew: Option<u64>,
    frames: usize,
    bytes: usize,
    false_alarms: u64,
}

impl Network {
    fn new(workers: usize, stuck: usize, trouble: Trouble, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        // Every worker may read the map once.
        let rule = Rule::default()
            .window(Window::Time { span: 600 * TICK })
            .tool(Tool::named("read_map"), Allowance::Once);
        let replica = |worker, cells| {
            let limits = Limits { cells, ..Limits::default() };
            let (rule, swarm) = (rule.clone(), Digest::of(b"hall 3"));
            Replica::new(rule, swarm, name(worker), limits).expect("it can work")
        };
        let plans = (0..stuck).map(|_| {
            let first = BEGIN + random.u64(0..MEET);
            [first, first + random.u64(1..=MEET)]
        });
        Self {
            plans: plans.collect(),
            trouble,
            now: 0,
            replicas: (0..workers).map(|worker| replica(worker, CELLS)).collect(),
            central: replica(0, 1 << 20),
            sent: Vec::new(),
            knew: vec![None; stuck],
            central_knew: None,
            frames: 0,
            bytes: 0,
            false_alarms: 0,
            random,
        }
    }

    fn run(&mut self) {
        while self.now < END && self.knew.contains(&None) {
            self.receive();
            for worker in 0..self.replicas.len() {
                self.work(worker);
                self.send(worker);
            }
            self.now += 1;
        }
    }

    /// Delivers all due frames in random order.
    fn receive(&mut self) {
        self.random.shuffle(&mut self.sent);
        let sent = self.sent.drain(..);
        let (due, later): (Vec<_>, Vec<_>) = sent.partition(|(at, ..)| *at <= self.now);
        self.sent = later;
        for (_, to, frame) in due {
            self.replicas[to].merge(&frame, self.now * TICK).expect("a frame of now");
        }
    }

    /// Makes the calls of a worker in this tick.
    fn work(&mut self, worker: usize) {
        if let Some(observation) = self.healthy(worker) {
            let rungs = self.record(worker, &observation);
            self.false_alarms += rungs.iter().filter(|rung| **rung > 0).count() as u64;
        }
        let Some(plan) = self.plans.get(worker) else { return };
        let call = Digest::of(b"move_to dock 7");
        if plan.contains(&self.now) {
            let made = Observation::new(name(worker), Tool::named("move_to"), call);
            let [_, central] = self.record(worker, &made.failed(Digest::of(b"no way")));
            if central > 0 {
                self.central_knew.get_or_insert(self.now);
            }
        }
        if self.replicas[worker].look(call, self.now * TICK).rung > 0 {
            self.knew[worker].get_or_insert(self.now);
        }
    }

    /// Makes calls that are no loop: one of this worker alone, one with a different result each time, and one that
    /// every worker makes once.
    fn healthy(&mut self, worker: usize) -> Option<Observation> {
        let unique = Digest::new(self.random.u64(..));
        let of = |tool, call| Observation::new(name(worker), Tool::named(tool), call);
        if self.now == worker as u64 % (2 * BEGIN) {
            return Some(of("read_map", Digest::of(b"read_map")).ok(Digest::of(b"the map")));
        }
        match self.random.u8(..100) {
            0..15 => Some(of("look_at", unique).ok(unique)),
            15..20 => Some(of("look_at", unique).failed(unique)),
            20..25 => Some(of("battery", Digest::of(b"battery")).ok(unique)),
            _ => None,
        }
    }

    /// Records a call in the worker's replica and in the central counter, and returns the rungs.
    fn record(&mut self, worker: usize, observation: &Observation) -> [u8; 2] {
        let now = self.now * TICK;
        [&mut self.replicas[worker], &mut self.central].map(|it| it.record(observation, now).rung)
    }

    /// Sends a frame of a worker to each of some peers. The network loses, delays or repeats it.
    fn send(&mut self, from: usize) {
        let Trouble { lost, twice, late, parted, .. } = self.trouble;
        for _ in 0..PEERS {
            let workers = self.replicas.len();
            let to = (from + self.random.usize(1..workers)) % workers;
            let frame = frame_of(&mut self.replicas[from], self.now * TICK);
            if frame.is_empty() {
                continue;
            }
            self.frames += 1;
            self.bytes += frame.len();
            let is_parted = (BEGIN..BEGIN + parted).contains(&self.now) && from % 2 != to % 2;
            let copies = if self.random.u8(..100) < twice { 2 } else { 1 };
            for _ in 0..copies {
                let at = self.now + 1 + self.random.u64(..=late);
                if self.random.u8(..100) >= lost && !is_parted {
                    self.sent.push((at, to, frame.clone()));
                }
            }
        }
    }
}

fn name(worker: usize) -> Worker {
    Worker::new(worker as u64)
}

/// Runs a swarm, and writes a line of the table.
fn line(table: &mut String, workers: usize, trouble: Trouble, seed: u64) {
    let stuck = if workers > 10 { 10 } else { 8 };
    let mut network = Network::new(workers, stuck, trouble, seed);
    network.run();
    let Network { mut knew, now, frames, bytes, false_alarms, .. } = network;
    let central = network.central_knew.expect("ten calls by two workers");
    knew.sort_by_key(|knew| knew.unwrap_or(u64::MAX));
    let [first, half, all] = [0, (stuck - 1) / 2, stuck - 1].map(|place| {
        knew[place].map_or("never".to_owned(), |knew| knew.saturating_sub(central).to_string())
    });
    let (central, frames) = (central - BEGIN, frames / workers);
    let bytes = (bytes / workers) as u64 / now;
    writeln!(
        table,
        "{workers:>7}  {stuck:>5}  {:<15}  {central:>7}  {first:>5}  {half:>5}  {all:>5}  {frames:>6}  {bytes:>7}  \
         {false_alarms:>12}",
        trouble.name
    )
    .expect("a string takes any text");
}

mod needs_time {
    use super::*;

    #[test]
    fn a_swarm_finds_out_on_any_network() {
        let mut table = format!(
            "Each worker sends {PEERS} frames a second and remembers {CELLS} cells. Some come to one dead end, \
         and call\nit twice each: a loop at ten calls. Seconds until a counter in the middle knows of it, and then until\n\
         the first of them, half and all of them know, too:\n\n\
         workers  stuck  network          counter  first   half    all  frames  bytes/s  false alarms\n"
        );
        for workers in [10, 100] {
            for trouble in TROUBLES {
                line(&mut table, workers, trouble, 1);
            }
        }
        insta::assert_snapshot!(table);
    }
}
