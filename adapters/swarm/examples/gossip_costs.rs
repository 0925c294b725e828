//! Measures the costs of gossip on this machine: `cargo run --release -p unstuck-swarm --example gossip_costs`.

use std::hint::black_box;
use std::time::Instant;

use unstuck_swarm::{Digest, FRAME_MAX, Limits, Observation, Replica, Rule, Tool, Worker};

/// The number of repetitions.
const TIMES: u64 = 200_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let limits = Limits::default();
    let new = |number| Replica::new(Rule::default(), Digest::of(b"s"), Worker::new(number), limits);
    let (mut full, mut peer) = (new(0)?, new(1)?);
    let mut number = 0;
    timed("record a new call with full memory", || {
        number += 1;
        let _ = black_box(full.record(&call(0, number), 0));
    });
    timed("record a call that was made", || {
        let _ = black_box(full.record(&call(0, number), 0));
    });
    timed("look for a call", || {
        let _ = black_box(full.look(call(0, number).call, 0));
    });
    let mut buffer = [0; FRAME_MAX];
    timed("write a frame", || {
        black_box(full.frame(&mut buffer, 0));
    });
    let frames: Vec<_> = (0..400).map(|_| full.frame(&mut buffer, 0).to_vec()).collect();
    let mut next = frames.iter().cycle();
    let mut cells = 0;
    timed("merge a frame, at first all of it news", || {
        let frame = next.next().expect("some frames");
        cells += peer.merge(frame, 0).map_or(0, |merged| merged.news);
    });
    println!("{} cells were news, {} of {} are remembered", cells, peer.cells(), limits.cells);
    Ok(())
}

fn call(worker: u64, number: u64) -> Observation {
    let call = Digest::of(&number.to_le_bytes());
    Observation::new(Worker::new(worker), Tool::new(1), call).ok(call)
}

fn timed(what: &str, mut once: impl FnMut()) {
    let begin = Instant::now();
    for _ in 0..TIMES {
        once();
    }
    let each = begin.elapsed().as_nanos() / u128::from(TIMES);
    println!("{each:>6} ns to {what}");
}
