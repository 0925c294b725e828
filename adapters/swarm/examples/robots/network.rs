//! A swarm on a simulated network that loses, delays and repeats frames. A seed decides everything.

use fastrand::Rng;
use unstuck_swarm::{
    Allowance, Digest, FRAME_MAX, Limits, Observation, Replica, Rule, Tool, Verdict, Window, Worker,
};

/// A tick: one second by the clock of the swarm. In each tick every replica receives, works and sends.
const TICK: u64 = 1_000;

/// The number of random peers to which each replica sends a frame in a tick.
pub(crate) const PEERS: usize = 2;

/// The number of cells of each replica: some hundred kilobytes.
pub(crate) const CELLS: usize = 512;

/// The time at which the first workers reach the dead end.
const BEGIN: u64 = 20;

/// The ticks within which they reach it, and within which they try again.
const MEET: u64 = 5;

/// The maximum number of ticks.
const END: u64 = BEGIN + 120;

/// A swarm and the trouble of its network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) workers: usize,
    /// The number of workers that reach a dead end.
    pub(crate) stuck: usize,
    /// The percentage of lost frames.
    pub(crate) lost: u8,
    /// The percentage of repeated frames.
    pub(crate) twice: u8,
    /// The maximum delay of a frame in ticks, beyond one.
    pub(crate) late: u64,
    /// The duration of a partition of the swarm in two halves, from the time at which the first workers reach the
    /// dead end.
    pub(crate) parted: u64,
}

/// The result of a run. Ticks are counted from the one in which a central counter finds the loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    /// Ticks from the first call of the loop until a central counter finds it.
    pub(crate) central: u64,
    /// The ticks until the first, half, and all of the stuck workers know the loop. `None` if they did not in time.
    pub(crate) known: [Option<u64>; 3],
    /// The frames that each worker sent until then.
    pub(crate) frames: u64,
    /// The average number of bytes that each worker sent in a tick.
    pub(crate) bytes: u64,
    /// The number of verdicts on calls that were no loop.
    pub(crate) false_alarms: u64,
}

/// A frame on its way.
struct Sent {
    at: u64,
    to: usize,
    frame: Vec<u8>,
}

/// A swarm on its network.
struct Network {
    scenario: Scenario,
    random: Rng,
    now: u64,
    replicas: Vec<Replica>,
    /// The central counter, which gets every call at once.
    central: Replica,
    on_their_way: Vec<Sent>,
    /// The times at which each stuck worker makes the call of the dead end.
    plans: Vec<[u64; 2]>,
    /// The time at which each of them knew the loop.
    knew: Vec<Option<u64>>,
    central_knew: Option<u64>,
    frames: u64,
    bytes: u64,
    false_alarms: u64,
}

/// The call that leads nowhere.
fn dead_end(worker: usize) -> Observation {
    let call = Digest::of(b"move_to dock 7");
    Observation::new(name(worker), Tool::named("move_to"), call).failed(Digest::of(b"no way"))
}

fn name(worker: usize) -> Worker {
    Worker::new(worker as u64)
}

/// Returns the rule: ten calls by two workers within ten minutes. Every worker may read the map once.
fn rule() -> Rule {
    Rule::default()
        .window(Window::Time { span: 600 * TICK })
        .tool(Tool::named("read_map"), Allowance::Once)
}

/// Runs a scenario.
pub(crate) fn run(scenario: Scenario, seed: u64) -> Report {
    let mut network = Network::new(scenario, seed);
    while network.now < END && !network.is_done() {
        network.tick();
    }
    network.report()
}

impl Network {
    fn new(scenario: Scenario, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let replica = |worker, cells| {
            let limits = Limits { cells, ..Limits::default() };
            Replica::new(rule(), Digest::of(b"hall 3"), name(worker), limits).expect("it can work")
        };
        let plans = (0..scenario.stuck).map(|_| {
            let first = BEGIN + random.u64(0..MEET);
            [first, first + random.u64(1..=MEET)]
        });
        Self {
            plans: plans.collect(),
            scenario,
            now: 0,
            replicas: (0..scenario.workers).map(|worker| replica(worker, CELLS)).collect(),
            central: replica(0, 1 << 20),
            on_their_way: Vec::new(),
            knew: vec![None; scenario.stuck],
            central_knew: None,
            frames: 0,
            bytes: 0,
            false_alarms: 0,
            random,
        }
    }

    fn is_done(&self) -> bool {
        self.knew.iter().all(Option::is_some)
    }

    fn tick(&mut self) {
        self.receive();
        for worker in 0..self.scenario.workers {
            self.work(worker);
            self.send(worker);
        }
        self.now += 1;
    }

    /// Delivers all due frames in random order.
    fn receive(&mut self) {
        self.random.shuffle(&mut self.on_their_way);
        let sent = self.on_their_way.drain(..);
        let (due, later): (Vec<_>, Vec<_>) = sent.partition(|sent| sent.at <= self.now);
        self.on_their_way = later;
        for Sent { to, frame, .. } in due {
            self.replicas[to].merge(&frame, self.now * TICK).expect("a frame of now");
        }
    }

    /// Makes the calls of a worker in this tick.
    fn work(&mut self, worker: usize) {
        if let Some(observation) = self.healthy(worker) {
            let verdicts = self.record(worker, &observation);
            self.false_alarms += verdicts.iter().filter(|verdict| verdict.rung > 0).count() as u64;
        }
        let Some(plan) = self.plans.get(worker) else { return };
        if plan.contains(&self.now) {
            let [_, central] = self.record(worker, &dead_end(worker));
            if central.rung > 0 {
                self.central_knew.get_or_insert(self.now);
            }
        }
        let dead_end = dead_end(worker).call;
        if self.replicas[worker].look(dead_end, self.now * TICK).rung > 0 {
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

    /// Records a call in the worker's replica and in the central counter.
    fn record(&mut self, worker: usize, observation: &Observation) -> [Verdict; 2] {
        let now = self.now * TICK;
        [self.replicas[worker].record(observation, now), self.central.record(observation, now)]
    }

    /// Sends a frame of a worker to each of some peers.
    fn send(&mut self, from: usize) {
        for _ in 0..PEERS {
            let to = (from + self.random.usize(1..self.scenario.workers)) % self.scenario.workers;
            let mut buffer = [0; FRAME_MAX];
            let frame = self.replicas[from].frame(&mut buffer, self.now * TICK).to_vec();
            if !frame.is_empty() {
                self.frames += 1;
                self.bytes += frame.len() as u64;
                self.deliver(from, to, &frame);
            }
        }
    }

    /// Loses, delays or repeats a frame.
    fn deliver(&mut self, from: usize, to: usize, frame: &[u8]) {
        let Scenario { lost, twice, late, parted, .. } = self.scenario;
        let is_parted = (BEGIN..BEGIN + parted).contains(&self.now) && from % 2 != to % 2;
        let copies = if self.random.u8(..100) < twice { 2 } else { 1 };
        for _ in 0..copies {
            let at = self.now + 1 + self.random.u64(..=late);
            if self.random.u8(..100) >= lost && !is_parted {
                self.on_their_way.push(Sent { at, to, frame: frame.to_vec() });
            }
        }
    }

    fn report(mut self) -> Report {
        let central = self.central_knew.expect("ten calls by two workers");
        self.knew.sort_by_key(|knew| knew.unwrap_or(u64::MAX));
        let last = self.knew.len() - 1;
        let workers = self.scenario.workers as u64;
        Report {
            central: central - BEGIN,
            known: [0, last / 2, last].map(|place| Some(self.knew[place]?.saturating_sub(central))),
            frames: self.frames / workers,
            bytes: self.bytes / workers / self.now,
            false_alarms: self.false_alarms,
        }
    }
}
