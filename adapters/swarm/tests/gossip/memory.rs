//! Bounded memory: frequent calls of many workers stay, and only calls that were made are counted.

use proptest::collection::vec;
use proptest::prelude::*;
use unstuck_swarm::{Allowance, Digest, Limits, Merged, Observation, Replica, Tool, Worker};

use crate::model::{Central, SWARM, found, frame_of, replica, rule};

fn small(cells: usize) -> Replica {
    let limits = Limits { cells, ..Limits::default() };
    Replica::new(rule(10, 2), SWARM, Worker::new(0), limits).expect("it can work")
}

fn call(worker: u64, call: u64) -> Observation {
    Observation::new(Worker::new(worker), Tool::new(1), Digest::new(call))
}

#[test]
fn a_loop_is_found_among_calls_that_do_not_fit() {
    let mut replica = small(16);
    let mut rung = 0;
    for number in 0..1_000 {
        let _ = replica.record(&call(0, 1_000 + number), 0);
        if number % 10 == 0 {
            rung = replica.record(&call(number % 3, 7), 0).rung;
        }
        assert!(replica.cells() <= 16);
    }
    assert_eq!(rung, 4);
}

#[test]
fn the_fewest_calls_are_forgotten_and_the_oldest_among_equals() {
    let mut replica = small(3);
    for number in [1, 2, 3, 1, 4] {
        let _ = replica.record(&call(0, number), 0);
    }
    let ids = |replica: &mut Replica| {
        let mut ids: Vec<_> = replica.hottest(9, 0).iter().map(|heat| heat.loop_id).collect();
        ids.sort();
        ids
    };
    let expected = |numbers: [u64; 3]| {
        let mut ids = numbers.map(|number| call(0, number).key().loop_id()).to_vec();
        ids.sort();
        ids
    };
    assert_eq!(ids(&mut replica), expected([1, 3, 4]));
    let _ = replica.record(&call(0, 5), 0);
    assert_eq!(ids(&mut replica), expected([1, 4, 5]));
}

#[test]
fn among_equals_the_one_without_recent_changes_is_forgotten() {
    let mut replica = small(3);
    for number in [1, 2, 2, 1, 3, 3, 4] {
        let _ = replica.record(&call(0, number), 0);
    }
    let heats = replica.hottest(9, 0);
    let is_known = |number| {
        let id = call(0, number).key().loop_id();
        heats.iter().any(|heat| heat.loop_id == id)
    };
    assert_eq!([1, 2, 3, 4].map(is_known), [true, false, true, true]);
}

#[test]
fn exempt_calls_take_no_room() {
    let free = rule(10, 2).tool(Tool::new(1), Allowance::Any);
    let limits = Limits::default();
    let mut free = Replica::new(free, SWARM, Worker::new(0), limits).expect("it can work");
    let _ = free.record(&call(0, 1), 0);
    assert_eq!(free.cells(), 0);
    // The same holds for frames of a replica that counts it.
    let mut other = replica(&rule(10, 2), 1);
    let _ = other.record(&call(1, 1), 0);
    assert_eq!(free.merge(&frame_of(&mut other, 0), 0), Ok(Merged::default()));
    assert_eq!(free.cells(), 0);
}

#[test]
fn calls_of_other_replicas_are_forgotten_before_own_ones() {
    let mut replica = small(3);
    let mut other = small(100);
    let _ = replica.record(&call(0, 1), 0);
    for number in 10..30 {
        let _ = other.record(&call(1, number), 0);
    }
    let merged = replica.merge(&frame_of(&mut other, 0), 0).expect("a frame of now");
    assert_eq!((merged.news, replica.cells()), (20, 3));
    assert!(replica.hottest(9, 0).iter().any(|heat| heat.loop_id == call(0, 1).key().loop_id()));
}

#[test]
fn one_key_may_take_all_of_the_room() {
    let mut replica = small(5);
    for worker in 0..9 {
        let _ = replica.record(&call(worker, 1), 0);
    }
    assert_eq!(replica.cells(), 5);
    let heat = replica.hottest(9, 0);
    assert_eq!((heat.len(), heat[0].calls, heat[0].workers), (1, 5, 5));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_counted_was_called(
        calls in vec((0..3_usize, 0..30_u64, 0..500_u64), 0..300),
        cells in 1..40_usize,
    ) {
        let rule = rule(10, 2);
        let mut central = Central::new(&rule);
        let mut replicas = [small(cells), small(cells), replica(&rule, 9)];
        let mut now = 0;
        for (place, number, wait) in calls {
            now += wait / 10;
            let observation = call(place as u64, number % 7 * (number / 7));
            central.record(&observation, now);
            let verdict = replicas[place].record(&observation, now);
            prop_assert!(found(&verdict) <= central.found(&observation, now));
            let frame = frame_of(&mut replicas[place], now);
            let next = &mut replicas[(place + 1) % 3];
            prop_assert!(frame.is_empty() || next.merge(&frame, now).is_ok());
            prop_assert!(replicas[..2].iter().all(|replica| replica.cells() <= cells));
            for replica in &mut replicas {
                let (verdict, known) = (replica.look(observation.call, now), central.found(&observation, now));
                prop_assert!(found(&verdict) <= known, "{:?} is more than {:?}", verdict, known);
            }
        }
    }
}
