//! A call as the host reports it.

use std::sync::Arc;

use unstuck_core::Digest;
use unstuck_json::{Hash64 as _, Rapid};

use crate::payload::Payload;
use crate::prepared::PreparedCall;

/// The hash function of raw calls and checkpoints.
pub(crate) const HASH: Rapid = Rapid::new(0);

/// A call that an agent asks for.
///
/// ```
/// use unstuck::{Asked, Guard};
///
/// let mut guard = Guard::new();
/// let asked = Asked::new("bash", r#"{"command":"make"}"#).id("toolu_01").step(3);
/// let decision = guard.announce(&asked);
/// assert_eq!(guard.ticket("toolu_01"), decision.ticket());
/// ```
#[derive(Clone, Debug)]
#[must_use = "a call that is not announced is not watched"]
pub struct Asked<'a> {
    pub(crate) tool: &'a str,
    pub(crate) args: Payload<'a>,
    pub(crate) id: Option<&'a str>,
    pub(crate) step: Option<u64>,
    /// The digests, if the call was read ahead.
    pub(crate) prepared: Option<Arc<PreparedCall>>,
}

impl<'a> Asked<'a> {
    /// Creates a call of `tool` with `args`, a JSON text. Other text is taken literally.
    pub fn new(tool: &'a str, args: impl Into<Payload<'a>>) -> Self {
        Self { tool, args: args.into(), id: None, step: None, prepared: None }
    }

    /// Sets the host's id of the call. If the same call comes twice with the same id, as events from
    /// outside may, it counts once. [`Guard::ticket`](crate::Guard::ticket) finds the latest call with an id.
    pub fn id(mut self, id: &'a str) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets the step of the call: a number that only calls issued together share. Without it, the guard
    /// numbers the steps; see [`Guard::announce`](crate::Guard::announce).
    pub fn step(mut self, step: u64) -> Self {
        self.step = Some(step);
        self
    }

    /// Returns the digest of the raw call.
    pub(crate) fn digest(&self) -> Digest {
        let hash = |text: &str| Digest::new(HASH.hash(text.as_bytes()));
        let read = || hash(self.tool).mix(hash(self.args.as_str()));
        self.prepared.as_ref().map_or_else(read, |prepared| prepared.raw())
    }
}
