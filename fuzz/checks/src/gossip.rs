//! Claim: any bytes are a frame or change nothing, and a frame never lowers a count. Two replicas that
//! exchange frames, some of which are damaged, lost or late, converge to the calls that were made, and
//! never exceed them.

use arbitrary::{Result, Unstructured};
use unstuck_swarm::{
    Digest, FRAME_MAX, FRAME_MIN, Heat, Limits, Observation, Replica, Rule, Tool, Window, Worker,
};

/// The swarm of both replicas.
const SWARM: Digest = Digest::new(7);

/// The cells of a replica that must forget some, and of one that must not.
const FEW: usize = 16;
const MANY: usize = 4096;

/// Half the window.
const HALF: u64 = 100;

/// The start time.
const BEGIN: u64 = 10 * HALF;

/// Reads the bytes as a frame, and then as the events of two replicas.
///
/// # Panics
///
/// Panics if a replica counts more calls than were made, or fewer than it received.
pub fn check(bytes: &[u8]) {
    forge(bytes);
    forge(&sealed(bytes));
    let begun = [&[1], &SWARM.bits().to_le_bytes()[..4], &[10], bytes].concat();
    forge(&sealed(&begun));
    // A sequence of events ends with the bytes.
    let _ = Exchange::new(bytes).run(&mut Unstructured::new(bytes));
}

/// Returns the bytes with their checksum, as in a frame.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let sum = Digest::of(bytes).mix(SWARM).bits().to_le_bytes();
    [bytes, &sum[..4]].concat()
}

fn replica(number: u64, limits: Limits) -> Replica {
    let rule = Rule::default().window(Window::Time { span: 2 * HALF });
    Replica::new(rule, SWARM, Worker::new(number), limits).expect("a rule that works")
}

/// Returns one of a few calls, by one of the two workers of each replica.
fn observation(worker: u8, call: u8) -> Observation {
    let call = call % 8;
    let observation =
        Observation::new(Worker::new(worker.into()), Tool::new(1), Digest::of(&[call / 2]));
    if call.is_multiple_of(2) { observation } else { observation.failed(Digest::of(&[call])) }
}

/// Passes the bytes to a replica with some calls, and checks its state.
fn forge(bytes: &[u8]) {
    let mut replica = replica(0, Limits { cells: FEW, spread: 2 });
    for call in 0..8 {
        let _ = replica.record(&observation(0, call), BEGIN);
    }
    let mut copy = replica.clone();
    if hear(&mut copy, FEW, bytes, BEGIN).is_none() {
        assert_eq!(copy.hottest(usize::MAX, BEGIN), replica.hottest(usize::MAX, BEGIN));
    }
    assert!(copy.cells() <= FEW);
    // Merged cells are sent on, and other replicas merge them.
    let mut buffer = [0; FRAME_MAX];
    let frame = copy.frame(&mut buffer, BEGIN);
    let mut other = self::replica(1, Limits { cells: MANY, spread: 2 });
    assert!(hear(&mut other, MANY, frame, BEGIN) > Some(0), "a frame that says nothing");
}

/// Merges a possible frame into a replica with a number of cells. Returns the number of cells that were news.
fn hear(replica: &mut Replica, cells: usize, frame: &[u8], now: u64) -> Option<usize> {
    let before = replica.hottest(usize::MAX, now);
    let fits = replica.cells() + FRAME_MAX / 9 <= cells;
    let heard = replica.merge(frame, now);
    if fits || heard.is_err() {
        let after = replica.hottest(usize::MAX, now);
        for heat in before {
            assert!(calls_of(&after, &heat) >= heat.calls, "{heat:?}");
        }
    }
    let news = heard.ok()?.news;
    if fits {
        assert_eq!(replica.merge(frame, now).map(|again| again.news), Ok(0), "heard twice");
    }
    Some(news)
}

fn calls_of(heats: &[Heat], like: &Heat) -> u32 {
    let heats = heats.iter().filter(|heat| (heat.loop_id, heat.tool) == (like.loop_id, like.tool));
    heats.map(|heat| heat.calls).sum()
}

/// Two replicas, and every call that was recorded on either.
struct Exchange {
    replicas: [Replica; 2],
    calls: Vec<(Observation, u64)>,
    on_their_way: Vec<(usize, Vec<u8>)>,
    now: u64,
}

impl Exchange {
    fn new(bytes: &[u8]) -> Self {
        let spread = bytes.len().to_le_bytes()[0];
        let limits = Limits { cells: MANY, spread };
        Self {
            replicas: [replica(0, limits), replica(1, limits)],
            calls: Vec::new(),
            on_their_way: Vec::new(),
            now: BEGIN,
        }
    }

    fn run(mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        while !bytes.is_empty() {
            let place = usize::from(bytes.arbitrary::<bool>()?);
            match bytes.int_in_range(0..=5)? {
                0 | 1 => self.record(place, bytes.arbitrary()?),
                2 => self.send(place, bytes.int_in_range(FRAME_MIN - 1..=FRAME_MAX + 1)?),
                3 => self.arrive(bytes)?,
                4 => self.damage(bytes)?,
                _ => self.now += u64::from(bytes.arbitrary::<u8>()?),
            }
        }
        self.settle();
        Ok(())
    }

    fn record(&mut self, place: usize, call: u8) {
        let worker = if call < 128 { place } else { place + 2 };
        let observation = observation(worker.to_le_bytes()[0], call);
        self.calls.push((observation, self.now));
        let verdict = self.replicas[place].record(&observation, self.now);
        let (calls, workers) = self.called(&observation);
        if let Some(finding) = verdict.finding {
            assert!(finding.calls <= calls && finding.workers <= workers, "{finding:?}");
        }
    }

    /// Returns the equal calls in the window, and their workers.
    fn called(&self, like: &Observation) -> (u32, u32) {
        let is_in_window = |time: u64| self.now / HALF - time / HALF < 2;
        let calls = self
            .calls
            .iter()
            .filter(|(call, time)| call.key() == like.key() && is_in_window(*time));
        let workers: Vec<_> = calls.map(|(call, _)| call.worker).collect();
        let distinct: std::collections::BTreeSet<_> = workers.iter().collect();
        let count = |number: usize| u32::try_from(number).expect("few calls");
        (count(workers.len()), count(distinct.len()))
    }

    fn send(&mut self, from: usize, length: usize) {
        let mut buffer = vec![0; length];
        let frame = self.replicas[from].frame(&mut buffer, self.now).to_vec();
        assert!(frame.len() <= FRAME_MAX && (frame.is_empty() || length >= FRAME_MIN));
        if !frame.is_empty() {
            self.on_their_way.push((1 - from, frame));
        }
    }

    /// Delivers a frame, which may arrive again.
    fn arrive(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        if !self.on_their_way.is_empty() {
            let (to, frame) = bytes.choose(&self.on_their_way)?;
            hear(&mut self.replicas[*to], MANY, frame, self.now);
        }
        Ok(())
    }

    /// Delivers a damaged frame.
    fn damage(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        if !self.on_their_way.is_empty() {
            let (to, frame) = bytes.choose(&self.on_their_way)?;
            let mut frame = frame.clone();
            let place = bytes.choose_index(frame.len())?;
            frame[place] ^= bytes.int_in_range(1..=u8::MAX)?;
            assert_eq!(hear(&mut self.replicas[*to], MANY, &frame, self.now), None, "byte {place}");
        }
        Ok(())
    }

    /// Delivers frames until there is no news. Both replicas then know all calls.
    fn settle(mut self) {
        self.on_their_way.clear();
        for from in [0, 1, 0, 1] {
            self.send(from, FRAME_MAX);
            for (to, frame) in self.on_their_way.drain(..) {
                assert!(hear(&mut self.replicas[to], MANY, &frame, self.now).is_some());
            }
        }
        for call in 0..8 {
            let like = observation(0, call);
            let (calls, workers) = self.called(&like);
            for replica in &mut self.replicas {
                let heats = replica.hottest(usize::MAX, self.now);
                let id = like.key().loop_id();
                let heat = heats.iter().find(|heat| heat.loop_id == id);
                let told = heat.map_or((0, 0), |heat| (heat.calls, heat.workers));
                // A worker counts for at most 21 calls a generation.
                let enough = calls.min(21);
                assert!(
                    told.1 == workers && (enough..=calls).contains(&told.0),
                    "{told:?}: {calls}"
                );
            }
        }
    }
}
