//! Looks at a swarm repeatedly: the most frequent calls, and their rates.

use std::collections::BTreeMap;

use unstuck_core::{Action, LoopId};
use unstuck_swarm::redis::{Hot, RedisError, Settings, Watch};

use super::local::{FindSessions, LocalCalls};

/// The result of one look.
pub(super) struct Sample {
    /// The time in milliseconds since 1970.
    pub(super) at: u64,
    pub(super) rows: Result<Vec<HotCall>, RedisError>,
}

/// A frequent call and its rate per minute. The rate is unknown at the first look.
pub(super) struct HotCall {
    pub(super) hot: Hot,
    pub(super) rate: Option<f64>,
    /// The arguments as they may be shown, if an agent on this machine made the call.
    pub(super) call: Option<String>,
}

impl Sample {
    /// Returns the number of calls that are loops.
    pub(super) fn loops(&self) -> usize {
        let rows = self.rows.iter().flatten();
        rows.filter(|row| row.hot.action > Action::Proceed).count()
    }
}

/// More calls than a server keeps, so that all loops are counted, shown or not.
const ALL: usize = 1000;

/// A client that looks at a swarm repeatedly.
pub(super) struct Sampler {
    settings: Settings,
    watch: Option<Watch>,
    before: Before,
    local: LocalCalls,
}

impl Sampler {
    pub(super) fn new(settings: Settings, find: FindSessions) -> Self {
        Self { settings, watch: None, before: Before::default(), local: LocalCalls::new(find) }
    }

    /// Asks the server. `now` is the current time.
    pub(super) fn look(&mut self, now: u64) -> Sample {
        let hottest = self.hottest();
        let rows = hottest.map(|hot| self.before.rows(hot, now));
        let rows = rows.map(|mut rows| {
            for row in &mut rows {
                row.call = self.local.call(row.hot.loop_id).map(str::to_owned);
            }
            rows
        });
        Sample { at: now, rows }
    }

    fn hottest(&mut self) -> Result<Vec<Hot>, RedisError> {
        let mut watch = match self.watch.take() {
            Some(watch) => watch,
            None => Watch::open(&self.settings)?,
        };
        let hottest = watch.hottest(ALL)?;
        self.local.look(hottest.iter().map(|hot| hot.loop_id), |key| watch.loop_id(key));
        self.watch = Some(watch);
        Ok(hottest)
    }
}

/// The counts of the previous look.
#[derive(Default)]
struct Before {
    at: u64,
    calls: BTreeMap<LoopId, u32>,
}

impl Before {
    /// Returns the calls with their rates, and stores the counts for the next look.
    fn rows(&mut self, hottest: Vec<Hot>, now: u64) -> Vec<HotCall> {
        let rate = |hot: &Hot| self.rate(hot.loop_id, hot.calls, now);
        let rates: Vec<_> = hottest.iter().map(rate).collect();
        self.at = now;
        self.calls = hottest.iter().map(|hot| (hot.loop_id, hot.calls)).collect();
        hottest
            .into_iter()
            .zip(rates)
            .map(|(hot, rate)| HotCall { hot, rate, call: None })
            .collect()
    }

    /// Returns the calls per minute since the previous look. The rate is unknown if the count fell,
    /// which happens when old calls expire.
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
