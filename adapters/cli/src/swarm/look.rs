//! One look at a swarm after the other: which calls are hottest, and how fast they come.

use std::collections::BTreeMap;

use unstuck_core::{Action, LoopId};
use unstuck_swarm::redis::{Hot, RedisError, Settings, Watch};

/// What a look shows.
pub(super) struct Look {
    /// When, in milliseconds since 1970.
    pub(super) at: u64,
    pub(super) rows: Result<Vec<HotCall>, RedisError>,
}

/// A call, and how often it is made in a minute; not known before the second look.
pub(super) struct HotCall {
    pub(super) hot: Hot,
    pub(super) rate: Option<f64>,
}

impl Look {
    /// How many of the calls are loops.
    pub(super) fn loops(&self) -> usize {
        let rows = self.rows.iter().flatten();
        rows.filter(|row| row.hot.action > Action::Proceed).count()
    }
}

/// More than a server keeps: what is not shown is counted all the same.
const ALL: usize = 1000;

/// Someone who looks at a swarm again and again.
pub(super) struct Looker {
    settings: Settings,
    watch: Option<Watch>,
    before: Before,
}

impl Looker {
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings, watch: None, before: Before::default() }
    }

    /// Looks at the time `now`.
    pub(super) fn look(&mut self, now: u64) -> Look {
        let hottest = self.hottest();
        Look { at: now, rows: hottest.map(|hot| self.before.rows(hot, now)) }
    }

    fn hottest(&mut self) -> Result<Vec<Hot>, RedisError> {
        let mut watch = match self.watch.take() {
            Some(watch) => watch,
            None => Watch::open(&self.settings)?,
        };
        let hottest = watch.hottest(ALL)?;
        self.watch = Some(watch);
        Ok(hottest)
    }
}

/// What was counted at the look before.
#[derive(Default)]
struct Before {
    at: u64,
    calls: BTreeMap<LoopId, u32>,
}

impl Before {
    /// The rows of a look, which then is the one before.
    fn rows(&mut self, hottest: Vec<Hot>, now: u64) -> Vec<HotCall> {
        let rate = |hot: &Hot| self.rate(hot.loop_id, hot.calls, now);
        let rates: Vec<_> = hottest.iter().map(rate).collect();
        self.at = now;
        self.calls = hottest.iter().map(|hot| (hot.loop_id, hot.calls)).collect();
        hottest.into_iter().zip(rates).map(|(hot, rate)| HotCall { hot, rate }).collect()
    }

    /// How many calls a minute there were since. Of a number that fell, as it does when calls get too
    /// old to count, nothing is known.
    fn rate(&self, id: LoopId, calls: u32, now: u64) -> Option<f64> {
        let more = calls.checked_sub(*self.calls.get(&id)?)?;
        let passed = u32::try_from(now.checked_sub(self.at)?).ok().filter(|passed| *passed > 0)?;
        Some(f64::from(more) * 60_000.0 / f64::from(passed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_of_the_time_between_two_looks() {
        let id = LoopId::from_bits(7);
        let before = Before { at: 10_000, calls: BTreeMap::from([(id, 12)]) };
        for (id, calls, now, rate) in [
            (7, 14, 12_000, Some(60.0)),
            (7, 12, 12_000, Some(0.0)),
            (7, 9, 12_000, None),
            (7, 14, 10_000, None),
            (7, 14, 9_000, None),
            (8, 14, 12_000, None),
        ] {
            assert_eq!(before.rate(LoopId::from_bits(id), calls, now), rate, "{calls} at {now}");
        }
    }
}
