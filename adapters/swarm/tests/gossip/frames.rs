//! Frames are short, full, and of one swarm.

use proptest::collection::vec;
use proptest::prelude::*;
use unstuck_swarm::{Digest, FRAME_MAX, FRAME_MIN, FrameError, Limits, Replica, Worker};

use crate::model::{SWARM, frame_of, observation, replica, rule};

/// Returns the number of cells that a fresh replica takes from one frame.
fn cells_in(frame: &[u8]) -> usize {
    replica(&rule(10, 2), 99).merge(frame, 0).expect("a frame of now").news
}

#[test]
fn a_frame_holds_so_many_cells() {
    for (what, workers, calls, expected) in [
        ("one worker of one key", 1, 1, 1),
        ("many workers of one key, whose outcome is known", 1_000, 1, 107),
        ("one worker of many keys", 1, 200, 35),
    ] {
        let mut replica = replica(&rule(10, 2), 0);
        for worker in 0..workers {
            for call in 0..calls {
                let _ = replica.record(&observation(worker, if calls == 1 { 1 } else { call }), 0);
            }
        }
        let cells = cells_in(&frame_of(&mut replica, 0));
        assert_eq!(cells, expected, "{what}");
    }
}

#[test]
fn the_news_that_was_sent_least_is_sent_first() {
    let (mut from, mut to) = (replica(&rule(10, 2), 0), replica(&rule(10, 2), 1));
    for worker in 0..300 {
        let _ = from.record(&observation(worker, 1), 0);
    }
    for _ in 0..4 {
        to.merge(&frame_of(&mut from, 0), 0).expect("a frame of now");
    }
    assert_eq!(to.cells(), 300);
}

#[test]
fn cells_that_change_no_verdict_delay_no_news() {
    let once = Limits { spread: 1, ..Limits::default() };
    let new = |number| Replica::new(rule(10, 2), SWARM, Worker::new(number), once).unwrap();
    let (mut crowd, mut pair, mut between) = (new(0), new(1), new(2));
    for worker in 0..300 {
        let _ = crowd.record(&observation(worker, 1), 0);
    }
    for worker in 0..2 {
        let _ = pair.record(&observation(worker, 4), 0);
    }
    // After the first frame no more calls of the crowd are needed for the last rung.
    between.merge(&frame_of(&mut crowd, 0), 0).expect("a frame of now");
    frame_of(&mut between, 0);
    frame_of(&mut between, 0);
    between.merge(&frame_of(&mut crowd, 0), 0).expect("a frame of now");
    between.merge(&frame_of(&mut pair, 0), 0).expect("a frame of now");
    let mut last = new(3);
    let mut buffer = [0; FRAME_MIN];
    last.merge(between.frame(&mut buffer, 0), 0).expect("a frame of now");
    let id = observation(0, 4).key().loop_id();
    assert!(last.hottest(9, 0).iter().any(|heat| (heat.loop_id, heat.workers) == (id, 2)));
}

#[test]
fn an_empty_replica_writes_no_frame() {
    assert_eq!(frame_of(&mut replica(&rule(10, 2), 0), 0), b"");
}

#[test]
fn a_buffer_that_is_too_short_gets_no_frame() {
    for (length, says_something) in [(0, false), (FRAME_MIN - 1, false), (FRAME_MIN, true)] {
        let mut replica = replica(&rule(10, 2), 0);
        let _ = replica.record(&observation(0, 1), 0);
        let mut buffer = vec![0; length];
        assert_eq!(!replica.frame(&mut buffer, 0).is_empty(), says_something, "{length} bytes");
    }
}

#[test]
fn a_frame_of_another_swarm_is_refused() {
    let limits = Limits::default();
    let mut one = Replica::new(rule(10, 2), SWARM, Worker::new(0), limits).unwrap();
    let _ = one.record(&observation(0, 1), 0);
    let frame = frame_of(&mut one, 0);
    // The second differs in the half that frames do not carry.
    for (swarm, error) in [
        (Digest::new(8), FrameError::OtherSwarm),
        (Digest::new(SWARM.bits() | 1 << 63), FrameError::Damaged),
    ] {
        let mut other = Replica::new(rule(10, 2), swarm, Worker::new(1), limits).unwrap();
        assert_eq!(other.merge(&frame, 0), Err(error));
        assert_eq!((other.cells(), other.refused()), (0, 1));
        other.clear(SWARM);
        assert_eq!(other.merge(&frame, 0).map(|merged| merged.news), Ok(1));
    }
}

#[test]
fn a_cleared_replica_refuses_frames_on_their_way() {
    let mut replica = replica(&rule(2, 1), 0);
    let _ = replica.record(&observation(0, 1), 0);
    let _ = replica.record(&observation(0, 1), 0);
    let frame = frame_of(&mut replica, 0);
    assert_eq!(replica.look(observation(0, 1).call, 0).rung, 1);
    replica.clear(Digest::new(1));
    assert_eq!(replica.look(observation(0, 1).call, 0).rung, 0);
    assert_eq!(replica.merge(&frame, 0), Err(FrameError::OtherSwarm));
}

#[test]
fn every_refusal_says_what_is_wrong() {
    for (error, text) in [
        (FrameError::TooLong { length: 1_500 }, "the frame has 1500 bytes, but the limit is 1024"),
        (
            FrameError::Version { found: 9 },
            "the frame has version 9, but this replica reads 1: run one version in all of the swarm",
        ),
        (FrameError::OtherSwarm, "the frame belongs to another swarm"),
        (FrameError::Damaged, "the frame was damaged on its way"),
        (FrameError::Malformed, "no replica writes such a frame"),
        (
            FrameError::Generation { found: 3, now: 9 },
            "the frame is of generation 3, and here it is 9: set the clocks to within half a window of \
             each other",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_frame_is_too_long_and_every_cell_is_sent_in_the_end(
        calls in vec((0..300_u64, any::<u8>(), any::<bool>()), 0..400),
        length in FRAME_MIN..2 * FRAME_MAX,
        spread: u8,
    ) {
        let limits = Limits { spread, ..Limits::default() };
        let mut from = Replica::new(rule(10, 2), SWARM, Worker::new(0), limits).unwrap();
        let mut to = replica(&rule(10, 2), 1);
        for (worker, call, later) in calls {
            let _ = from.record(&observation(worker, call), if later { 1_999 } else { 0 });
        }
        let mut buffer = vec![0; length];
        // Each frame repeats at least two cells.
        for _ in 0..=from.cells() {
            let frame = from.frame(&mut buffer, 1_999);
            prop_assert!(frame.len() <= FRAME_MAX.min(length));
            if !frame.is_empty() {
                to.merge(frame, 1_999).expect("a frame of now");
            }
        }
        prop_assert_eq!(to.hottest(usize::MAX, 1_999), from.hottest(usize::MAX, 1_999));
    }
}
