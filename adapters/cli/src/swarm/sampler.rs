//! Looks at a swarm repeatedly: the most frequent calls, and their rates.
//!
//! A server knows only digests of a call, so the call is looked up in the sessions that the agents on this machine have
//! written lately.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, SystemTime};

use unstuck_core::{Action, Digest, LoopId, Tool};
use unstuck_report::shown::{plain, shortened};
use unstuck_swarm::redis::{Hot, RedisError, Settings, Watch};
use unstuck_swarm::{Key, Observation, Worker};
use unstuck_text::{Answer, PRESETS};
use unstuck_trace::{Event, read};

use crate::read::inputs::{Input, Inputs};

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

/// The time since the last change of a session that is read. A loop that is shown goes on now.
const RECENT: Duration = Duration::from_secs(3600);

/// The number of searches for one call: its session may be written a moment later.
const SEARCHES_MAX: u8 = 3;

/// The most columns of a call that are kept.
const CALL_MAX: usize = 400;

/// Finds the sessions of all agents on this machine among inputs that were changed lately. The agents know where
/// they are, and use this module's settings, so they pass the function.
pub(crate) type FindSessions = fn(Inputs) -> Result<Inputs, String>;

/// The calls that were found, and the loops to look for.
pub(super) struct LocalCalls {
    find: FindSessions,
    calls: BTreeMap<LoopId, String>,
    searches: BTreeMap<LoopId, u8>,
}

impl LocalCalls {
    pub(super) fn new(find: FindSessions) -> Self {
        Self { find, calls: BTreeMap::new(), searches: BTreeMap::new() }
    }

    /// Returns the call of a loop, as it may be shown.
    pub(super) fn call(&self, id: LoopId) -> Option<&str> {
        self.calls.get(&id).map(String::as_str)
    }

    /// Looks for the calls of the loops `ids`. `loop_id` returns the id under which the swarm counts a call.
    pub(super) fn look(
        &mut self,
        ids: impl Iterator<Item = LoopId>,
        loop_id: impl Fn(Key) -> LoopId,
    ) {
        let ids: BTreeSet<LoopId> = ids.collect();
        self.calls.retain(|id, _| ids.contains(id));
        self.searches.retain(|id, _| ids.contains(id));
        let mut is_new = false;
        for id in ids {
            if self.calls.contains_key(&id) {
                continue;
            }
            let searches = self.searches.entry(id).or_default();
            if *searches < SEARCHES_MAX {
                *searches += 1;
                is_new = true;
            }
        }
        if !is_new {
            return;
        }
        let recent = Inputs::since(SystemTime::now().checked_sub(RECENT));
        // Without any session there is nothing to find.
        let Ok(sessions) = (self.find)(recent) else { return };
        for input in sessions.found {
            if let Input::File(path) = input {
                self.read(&path, &loop_id);
            }
        }
    }

    /// Looks for the calls in one session. A session that cannot be read has none.
    fn read(&mut self, path: &Path, loop_id: impl Fn(Key) -> LoopId) {
        let Ok(file) = File::open(path) else { return };
        // The recipe of hooks, unless they have a policy of their own. Their calls are not found.
        let recipe = PRESETS[0].recipe;
        // The calls without a result.
        let mut open: HashMap<usize, (String, String)> = HashMap::new();
        let mut take = |event: Event<'_>| match event {
            Event::Call(call) => {
                let args = call.compared_args().into_owned();
                open.insert(call.index, (call.tool.to_owned(), args));
            }
            Event::Outcome(outcome) => {
                let Some((tool, args)) = open.remove(&outcome.call) else { return };
                let call = recipe.call(&tool, &args);
                let answer = Answer::new(&tool, outcome.text, outcome.failed);
                let answer = Answer { cut: outcome.cut, kind: call.kind(), ..answer };
                let known = recipe.outcome_of(&answer);
                let worker = Worker::new(0);
                let made = Observation::new(worker, Tool::named(&tool), call.digest());
                let digest: Digest = known.digest();
                let made = if known.has_failed() { made.failed(digest) } else { made.ok(digest) };
                let id = loop_id(made.key());
                if self.searches.contains_key(&id) {
                    let shown = shortened(&plain(&args), CALL_MAX);
                    self.calls.entry(id).or_insert(shown);
                }
            }
            Event::Begin(_) => open.clear(),
            Event::Message(_) | Event::Usage(_) | Event::Time(_) => {}
        };
        // Calls before a broken record count.
        let _ = read(BufReader::new(file), None, &mut take);
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
