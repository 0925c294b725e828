//! Forged frames: an invalid frame changes nothing, and a single liar cannot accuse a call.

use proptest::collection::vec;
use proptest::prelude::*;
use unstuck_swarm::{Digest, FRAME_MAX, FrameError, Observation, Replica, Worker};

use crate::model::{SWARM, frame_of, observation, replica, rule};

/// Returns the frame with its checksum.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = Digest::of(&bytes).mix(SWARM).bits().to_le_bytes();
    bytes.extend(&sum[..4]);
    bytes
}

/// Encodes a number in as few bytes as it needs, seven bits in each.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7F).unwrap() | 0x80);
        number >>= 7;
    }
    bytes.push(number.try_into().unwrap());
    bytes
}

/// Writes a frame by hand, after the description in `frame.rs`: workers and their calls under one key.
fn forged(generation: u64, like: &Observation, cells: &[(Worker, u32)]) -> Vec<u8> {
    let mut bytes = vec![1];
    bytes.extend(&SWARM.bits().to_le_bytes()[..4]);
    bytes.extend(varint(generation));
    bytes.extend(like.call.bits().to_le_bytes());
    bytes.extend(like.tool.id().to_le_bytes());
    match like.result {
        None => bytes.push(0),
        Some(result) => {
            bytes.push(if result.failed { 2 } else { 1 });
            bytes.extend(result.digest.bits().to_le_bytes());
        }
    }
    bytes.push(cells.len().try_into().unwrap());
    for (worker, calls) in cells {
        bytes.extend(worker.digest().bits().to_le_bytes());
        bytes.extend(varint((*calls).into()));
    }
    sealed(bytes)
}

#[test]
fn a_frame_follows_its_description() {
    for like in [observation(5, 0), observation(5, 1), observation(5, 2)] {
        let mut replica = replica(&rule(500, 2), 0);
        for _ in 0..300 {
            let _ = replica.record(&like, 7_000_000);
        }
        let frame = frame_of(&mut replica, 7_000_000);
        assert_eq!(frame, forged(7_000, &like, &[(like.worker, 300)]));
    }
}

#[test]
fn a_worker_that_counts_wrong_cannot_accuse_a_call() {
    let honest = observation(1, 1);
    for (times, rung) in [(1, 0), (4, 0), (5, 1), (9, 1), (10, 2), (15, 3), (20, 4)] {
        let mut replica = replica(&rule(10, 2), 1);
        let lie = forged(0, &honest, &[(Worker::new(0), u32::MAX)]);
        assert_eq!(replica.merge(&lie, 0).map(|merged| merged.news), Ok(1));
        assert_eq!(replica.look(honest.call, 0).rung, 0, "a lie and no call");
        let mut said = None;
        for _ in 0..times {
            said = Some(replica.record(&honest, 0));
        }
        assert_eq!(said.map(|verdict| verdict.rung), Some(rung), "a lie and {times} calls");
    }
}

#[test]
fn counts_end_before_they_wrap() {
    let like = observation(0, 1);
    let mut replica = replica(&rule(10, 1), 0);
    let workers: Vec<_> = (0..70).map(|number| (Worker::new(number), u32::MAX)).collect();
    for generation in [4, 5] {
        let _ = replica.merge(&forged(generation, &like, &workers), 5_000).expect("a whole frame");
    }
    let verdict = replica.record(&like, 5_000);
    let finding = verdict.finding.expect("a loop, of those who say they are in it");
    assert_eq!((verdict.rung, finding.calls, finding.workers), (4, 70 * 40, 70));
    let heat = replica.hottest(1, 5_000);
    assert_eq!(heat[0].calls, 70 * 2 * 41);
}

#[test]
fn the_error_says_what_is_wrong_with_a_frame() {
    let like = observation(0, 1);
    let good = forged(5, &like, &[(Worker::new(0), 3)]);
    let body = &good[..good.len() - 4];
    let with = |place: usize, byte: u8| {
        let mut bytes = body.to_vec();
        bytes[place] = byte;
        sealed(bytes)
    };
    let count = body.len() - 1;
    let length = count - 9;
    for (what, frame, error) in [
        ("nothing", vec![], FrameError::Damaged),
        ("a sum alone", sealed(vec![]), FrameError::Damaged),
        ("half of it", good[..good.len() / 2].to_vec(), FrameError::Damaged),
        ("another version", with(0, 2), FrameError::Version { found: 2 }),
        ("another swarm", with(1, 9), FrameError::OtherSwarm),
        ("another sum", [body, &[0; 4]].concat(), FrameError::Damaged),
        ("too long", vec![0; FRAME_MAX + 1], FrameError::TooLong { length: FRAME_MAX + 1 }),
        ("no call", with(count, 0), FrameError::Malformed),
        ("no cell", with(length, 0), FrameError::Malformed),
        ("a cell too few", with(length, 2), FrameError::Malformed),
        ("an unknown result", with(length - 9, 3), FrameError::Malformed),
        (
            "more calls than can be",
            sealed([&body[..count], &[0xFF; 5]].concat()),
            FrameError::Malformed,
        ),
        ("something after it", sealed([body, &[0]].concat()), FrameError::Malformed),
        ("a later generation", with(5, 7), FrameError::Generation { found: 7, now: 5 }),
        ("an earlier generation", with(5, 3), FrameError::Generation { found: 3, now: 5 }),
    ] {
        let mut replica = replica(&rule(10, 2), 0);
        assert_eq!(replica.merge(&frame, 5_000), Err(error), "{what}");
        assert_eq!((replica.cells(), replica.refused()), (0, 1), "{what}");
        assert_eq!(replica.merge(&good, 5_000).map(|merged| merged.news), Ok(1));
    }
}

/// Returns the visible state of a replica.
fn seen(replica: &mut Replica) -> impl PartialEq + std::fmt::Debug + use<> {
    (replica.hottest(usize::MAX, 5_000), replica.cells())
}

/// Returns a replica with some calls, and a frame of another one.
fn pair() -> (Replica, Vec<u8>) {
    let (mut one, mut other) = (replica(&rule(10, 2), 0), replica(&rule(10, 2), 1));
    for call in 0..9 {
        let _ = one.record(&observation(0, call), 4_000);
        let _ = other.record(&observation(1, call), 4_000);
        let _ = other.record(&observation(1, call), 5_000);
    }
    let frame = frame_of(&mut other, 5_000);
    (one, frame)
}

proptest! {
    #[test]
    fn any_bytes_are_a_frame_or_change_nothing(
        bytes in vec(any::<u8>(), 0..1_100),
        seal: bool,
        begun: bool,
    ) {
        let (mut one, frame) = pair();
        let mut bytes = bytes;
        if begun {
            // A valid beginning, so that the rest of the frame is read.
            bytes.splice(..0, frame[..6].iter().copied());
        }
        let bytes = if seal { sealed(bytes) } else { bytes };
        let before = seen(&mut one);
        if one.merge(&bytes, 5_000).is_err() {
            prop_assert_eq!(seen(&mut one), before);
        }
        prop_assert!(frame_of(&mut one, 5_000).len() <= FRAME_MAX);
    }

    #[test]
    fn a_frame_that_is_changed_anywhere_is_refused(place: prop::sample::Index, flip in 1..=u8::MAX) {
        let (mut one, mut frame) = pair();
        let before = seen(&mut one);
        let place = place.index(frame.len());
        frame[place] ^= flip;
        prop_assert!(one.merge(&frame, 5_000).is_err());
        prop_assert_eq!(seen(&mut one), before);
    }

    #[test]
    fn a_changed_frame_with_a_good_sum_breaks_nothing(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let (mut one, mut frame) = pair();
        frame.truncate(frame.len() - 4);
        for (place, byte) in changes {
            let place = place.index(frame.len());
            frame[place] = byte;
        }
        let before = seen(&mut one);
        let cells = one.cells();
        match one.merge(&sealed(frame), 5_000) {
            Err(_) => prop_assert_eq!(seen(&mut one), before),
            Ok(merged) => prop_assert!(one.cells() <= cells + merged.news),
        }
    }
}
