//! The hottest calls of a swarm, for a person.

use core::cmp::Reverse;
use core::fmt;
use std::collections::HashSet;
use std::string::String;
use std::vec::Vec;

use ::redis::Value;
use unstuck_core::{Action, LoopId};

use crate::observation::Key;
use crate::redis::error::RedisError;
use crate::redis::keys::Keys;
use crate::redis::link::Link;
use crate::redis::request::{self, Label, Reply, counted};
use crate::redis::settings::Settings;
use crate::rule::Rule;
use crate::verdict::Outcome;

/// A frequent call of a swarm, as [`Watch::hottest`] returns it.
///
/// ```no_run
/// use unstuck_swarm::redis::{Settings, Watch};
///
/// let settings = Settings::parse("redis://10.0.0.7:6379/?swarm=nightly", b"secret of this swarm")?;
/// for hot in Watch::open(&settings)?.hottest(10)? {
///     println!("{}: {} calls by {} workers", hot.tool, hot.calls, hot.workers);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hot {
    /// The id of the loop: the same as in a worker's verdict.
    pub loop_id: LoopId,
    /// The tool, as one plain word. Empty if no worker gave its name.
    pub tool: String,
    /// The number of calls, with the free ones.
    pub calls: u32,
    /// The number of workers that made them: exact up to 64, and beyond with a standard error of one in eight.
    pub workers: u32,
    /// The outcome of all of them.
    pub outcome: Outcome,
    /// The rung of the rule's ladder that is reached, counted from 1; 0 below the first.
    pub rung: u8,
    /// The action for the workers.
    pub action: Action,
    /// The milliseconds since the latest call.
    pub last_seen_ms_ago: u64,
}

/// A read-only view of a swarm.
///
/// It shows calls with at least half the number of calls, and the number of workers, that the rule asks for: the
/// 256 that were counted latest. The rule of the settings decides about the rung. It should be the workers' rule.
///
/// ```no_run
/// use unstuck_swarm::redis::{Settings, Watch};
///
/// let settings = Settings::parse("redis://10.0.0.7:6379/?swarm=nightly", b"secret of this swarm")?;
/// let mut watch = Watch::open(&settings)?;
/// println!("{} hot calls", watch.hottest(256)?.len());
/// watch.clear()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Watch {
    link: Link,
    keys: Keys,
    rule: Rule,
}

impl Watch {
    /// Connects to the server of `settings`. If servers accept connections but never reply, the error comes after
    /// some seconds for each of them.
    ///
    /// # Errors
    ///
    /// Returns a [`RedisError`] if no server can be asked.
    pub fn open(settings: &Settings) -> Result<Self, RedisError> {
        let mut link = Link::new(&settings.server);
        link.connect()?;
        let keys = Keys::new(&settings.swarm, &settings.secret);
        Ok(Self { link, keys, rule: settings.rule.clone() })
    }

    /// Returns the hottest calls of the swarm: at most `limit`, the one with the most calls first.
    ///
    /// # Errors
    ///
    /// Returns a [`RedisError`] if the server cannot be asked or sends an invalid reply. The next call connects
    /// again.
    pub fn hottest(&mut self, limit: usize) -> Result<Vec<Hot>, RedisError> {
        let labels = self.labels()?;
        if labels.is_empty() {
            return Ok(Vec::new());
        }
        let Value::Array(counts) = self.link.ask_one(&request::look(&labels, &self.keys))? else {
            return Err(RedisError::nonsense(&self.link.server()));
        };
        let server = self.link.server();
        let pairs = labels.into_iter().zip(&counts);
        let hot = |(label, count)| self.hot(label, &Reply::of(count, &server).ok()?);
        let mut hot: Vec<_> = pairs.filter_map(hot).collect();
        hot.sort_by_key(|hot| (Reverse(hot.calls), hot.loop_id));
        hot.truncate(limit);
        Ok(hot)
    }

    /// Returns the id of the loop that calls under this key are in this swarm: the same as [`Hot::loop_id`].
    ///
    /// A server does not know the calls. A host that has made them can find out which of its own are hot.
    pub fn loop_id(&self, key: Key) -> LoopId {
        self.keys.loop_id(key)
    }

    /// Clears all counts of the swarm. Its workers still know earlier verdicts for at most half the span of the
    /// rule's window.
    ///
    /// # Errors
    ///
    /// Returns a [`RedisError`] if the server cannot be asked.
    pub fn clear(&mut self) -> Result<(), RedisError> {
        match self.link.ask_one(&request::clear(&self.keys))? {
            Value::Okay => Ok(()),
            _ => Err(RedisError::nonsense(&self.link.server())),
        }
    }

    /// Returns the labels of calls that are hot, or were lately.
    fn labels(&mut self) -> Result<Vec<Label>, RedisError> {
        let members = match self.link.ask_one(&request::hot(&self.keys)) {
            Ok(Value::Array(members)) => members,
            // Another value has this name. The next hot call replaces it.
            Err(RedisError::Refused { why, .. }) if why.starts_with("WRONGTYPE") => Vec::new(),
            Ok(_) => return Err(RedisError::nonsense(&self.link.server())),
            Err(error) => return Err(error),
        };
        let label = |member: &Value| match member {
            Value::BulkString(bytes) => Label::of(bytes),
            _ => None,
        };
        let mut labels: Vec<_> = members.iter().filter_map(label).collect();
        // A call with two names of its tool is shown once, by the later name.
        let mut ids = HashSet::new();
        labels.retain(|label| ids.insert(label.id));
        Ok(labels)
    }

    /// Returns `None` if the call is no longer counted.
    fn hot(&self, label: Label, reply: &Reply) -> Option<Hot> {
        let &Reply::Counted { calls, workers, ago: last_seen_ms_ago } = reply else { return None };
        let Label { id, outcome, allowance, tool } = label;
        let (rung, action) = self.rule.rung(counted(calls, workers, allowance), workers);
        Some(Hot { loop_id: id, tool, calls, workers, outcome, rung, action, last_seen_ms_ago })
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("server", &self.link.server()).finish_non_exhaustive()
    }
}
