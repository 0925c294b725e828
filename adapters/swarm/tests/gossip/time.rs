//! Generations, and clocks that differ.

use unstuck_swarm::{FrameError, Limits, Replica, Rule, RuleError, Window, Worker};

use crate::model::{HALF, SWARM, frame_of, observation, replica, rule};

/// Returns the calls that a replica counts at a time.
fn calls(replica: &mut Replica, now: u64) -> u32 {
    replica.hottest(1, now).first().map_or(0, |heat| heat.calls)
}

#[test]
fn a_call_counts_in_its_generation_and_in_the_next() {
    for (later, expected) in
        [(0, 1), (1, 1), (HALF, 1), (2 * HALF - 1, 1), (2 * HALF, 0), (9 * HALF, 0)]
    {
        let mut replica = replica(&rule(10, 2), 0);
        let _ = replica.record(&observation(0, 1), 4 * HALF);
        assert_eq!(calls(&mut replica, 4 * HALF + later), expected, "{later} later");
        assert_eq!(replica.cells(), expected as usize, "{later} later");
    }
}

#[test]
fn clocks_may_differ_by_half_a_window() {
    // The time of sending, the time of arrival by the other clock, and the number of counted calls. The frame has
    // one call in its own generation and one in the previous one.
    let sent = 7 * HALF;
    for (comes, expected) in [
        (sent - HALF - 1, Err(FrameError::Generation { found: 7, now: 5 })),
        (sent - HALF, Ok(1)),
        (sent - 1, Ok(1)),
        (sent, Ok(2)),
        (sent + HALF, Ok(1)),
        (sent + 2 * HALF, Err(FrameError::Generation { found: 7, now: 9 })),
    ] {
        let (mut one, mut other) = (replica(&rule(10, 2), 0), replica(&rule(10, 2), 1));
        let _ = one.record(&observation(0, 1), sent - 1);
        let _ = one.record(&observation(0, 1), sent);
        let frame = frame_of(&mut one, sent);
        let counted = other.merge(&frame, comes).map(|_| calls(&mut other, comes));
        assert_eq!(counted, expected, "at {comes}");
    }
}

#[test]
fn calls_of_the_next_generation_wait_for_it() {
    let (mut ahead, mut behind) = (replica(&rule(10, 2), 0), replica(&rule(10, 2), 1));
    let _ = ahead.record(&observation(0, 1), 5 * HALF);
    let frame = frame_of(&mut ahead, 5 * HALF);
    assert_eq!(behind.merge(&frame, 5 * HALF - 1).map(|merged| merged.news), Ok(1));
    let times = [5 * HALF - 1, 5 * HALF, 6 * HALF, 7 * HALF];
    assert_eq!(times.map(|now| calls(&mut behind, now)), [0, 1, 1, 0]);
}

#[test]
fn old_calls_are_left_out_of_a_frame() {
    let (mut one, mut other) = (replica(&rule(10, 2), 0), replica(&rule(10, 2), 1));
    let _ = one.record(&observation(0, 1), 4 * HALF);
    let _ = one.record(&observation(0, 2), 5 * HALF);
    let frame = frame_of(&mut one, 5 * HALF);
    let merged = other.merge(&frame, 6 * HALF).expect("a frame of the generation before");
    assert_eq!((merged.news, merged.stale), (1, 1));
}

#[test]
fn a_clock_that_is_set_back_stands_still_or_starts_over() {
    for (back, expected) in [(1, 2), (HALF, 2), (HALF + 1, 1), (5 * HALF, 1)] {
        let mut replica = replica(&rule(10, 2), 0);
        let _ = replica.record(&observation(0, 1), 6 * HALF);
        let _ = replica.record(&observation(0, 1), 6 * HALF - back);
        assert_eq!(calls(&mut replica, 6 * HALF - back), expected, "{back} back");
    }
}

#[test]
fn a_window_of_calls_is_refused() {
    let refused = |rule: Rule| Replica::new(rule, SWARM, Worker::new(0), Limits::default()).err();
    let counting = Rule::default().window(Window::Calls { span: 100 });
    let error = refused(counting).expect("a refusal");
    assert_eq!(error, RuleError::Clock { asked: 100 });
    assert_eq!(
        error.to_string(),
        "a window of 100 calls needs a store that counts all calls of the swarm, which gossip does not: \
         ask for a window of time"
    );
    assert_eq!(refused(Rule::default().calls(1)), Some(RuleError::Calls { asked: 1 }));
}
