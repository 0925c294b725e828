//! A circuit breaker: it decides if a worker waits for a server that did not reply lately.

use core::time::Duration;
use std::time::Instant;

/// Decides if a worker waits for a server that did not reply lately.
///
/// After some misses in a row no worker waits during a pause. At its end one worker waits. If it misses too, the
/// next pause is twice as long.
#[derive(Debug)]
pub(super) struct Breaker {
    misses_max: u32,
    pause_min: Duration,
    pause_max: Duration,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed { misses: u32 },
    Open { until: Instant, pause: Duration, probed: bool },
}

impl Breaker {
    pub(super) const fn new(misses_max: u32, pause_min: Duration, pause_max: Duration) -> Self {
        Self { misses_max, pause_min, pause_max, state: State::Closed { misses: 0 } }
    }

    /// Returns whether a worker may wait at `now`. After a pause one worker may. The others may after another
    /// pause, because the first one may never report its result.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        match &mut self.state {
            State::Closed { .. } => true,
            State::Open { until, .. } if now < *until => false,
            State::Open { until, pause, probed } => {
                (*until, *probed) = (now + *pause, true);
                true
            }
        }
    }

    /// Notes that a worker waited and got a reply.
    pub(super) const fn answered(&mut self) {
        self.state = State::Closed { misses: 0 };
    }

    /// Notes that a worker waited in vain. A worker that began to wait before the breaker opened changes nothing.
    pub(super) fn missed(&mut self, now: Instant) {
        let pause = match &mut self.state {
            State::Closed { misses } => {
                *misses += 1;
                if *misses < self.misses_max {
                    return;
                }
                self.pause_min
            }
            State::Open { probed: false, .. } => return,
            State::Open { pause, .. } => pause.saturating_mul(2).min(self.pause_max),
        };
        self.state = State::Open { until: now + pause, pause, probed: false };
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn open(now: Instant) -> Breaker {
        let mut breaker = Breaker::new(3, SECOND, 5 * SECOND);
        for _ in 0..3 {
            assert!(breaker.allows(now));
            breaker.missed(now);
        }
        breaker
    }

    #[test]
    fn some_misses_in_a_row_open_it() {
        let now = Instant::now();
        let mut breaker = Breaker::new(3, SECOND, SECOND);
        for miss in [true, true, false, true, true] {
            if miss {
                breaker.missed(now);
            } else {
                breaker.answered();
            }
            assert!(breaker.allows(now));
        }
        breaker.missed(now);
        assert!(breaker.is_open() && !breaker.allows(now));
    }

    #[test]
    fn one_worker_waits_after_each_pause_and_each_pause_is_longer() {
        let start = Instant::now();
        let mut breaker = open(start);
        let mut let_through = Vec::new();
        for second in 0..=20 {
            let now = start + second * SECOND;
            if breaker.allows(now) {
                assert!(!breaker.allows(now), "a second one");
                let_through.push(second);
                breaker.missed(now);
            }
        }
        assert_eq!(let_through, [1, 3, 7, 12, 17]);
    }

    #[test]
    fn a_reply_closes_it() {
        let now = Instant::now();
        let mut breaker = open(now);
        assert!(breaker.allows(now + SECOND));
        breaker.answered();
        assert!(!breaker.is_open() && breaker.allows(now) && breaker.allows(now));
    }

    #[test]
    fn workers_that_waited_already_make_no_pause_longer() {
        let now = Instant::now();
        let mut breaker = open(now);
        for _ in 0..8 {
            breaker.missed(now);
        }
        assert!(breaker.allows(now + SECOND));
    }

    #[test]
    fn a_worker_without_a_report_is_followed_by_another() {
        let now = Instant::now();
        let mut breaker = open(now);
        assert!(breaker.allows(now + SECOND));
        assert!(!breaker.allows(now + SECOND) && breaker.allows(now + 2 * SECOND));
    }
}
