//! The calls of a swarm that agents on this machine made. A server knows only digests of a call, so the call is
//! looked up in the sessions that the agents have written lately.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, SystemTime};

use unstuck_core::{Digest, LoopId, Tool};
use unstuck_report::shown::{plain, shortened};
use unstuck_swarm::{Key, Observation, Worker};
use unstuck_text::{Answer, PRESETS};
use unstuck_trace::{Event, read};

use crate::read::inputs::{Input, Inputs};

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
