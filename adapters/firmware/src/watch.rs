//! The watch over the planner: the engine, and how the robot's calls and readings become digests.

use core::fmt;

use serde::Serialize as _;
use unstuck_core::{
    Announced, CallId, CheckpointError, Detector, Finding, Policy, PolicyError, Statistics,
    Verdict, presets,
};
use unstuck_text::{Counter, Failures, Recipe, SimilarCalls};

use crate::planner::{Ask, Place};
use crate::world::Answer;

/// How many calls the engine looks back. The policy compares with twenty, and a longer window than
/// it asks for would hold records that nothing looks at; see the crate's documentation.
pub const WINDOW: usize = 20;

/// How many calls wait for their outcomes. A robot does one thing at a time.
const OPEN: usize = 1;

/// The engine of this robot.
pub type Engine = Detector<'static, WINDOW, OPEN>;

/// The rules.
pub static POLICY: Policy<'static> = presets::BALANCED;

/// Temperatures drift, whatever the robot does. A reading that matters must not be in this list: a
/// change of it is progress.
static DRIFTING: [Counter<'static>; 1] = [match Counter::new(r#"_c":#"#) {
    Ok(counter) => counter,
    // Evaluated by the compiler, never at run time.
    Err(_) => panic!("a counter without its number"),
}];

/// How digests are made: as for `balanced`, but failures are not read from texts. This robot knows
/// which calls failed, and has no use for the readers of test reports, which would be a third of its code.
pub static RECIPE: Recipe =
    Recipe { failures: Failures::Told, counters: &DRIFTING, ..Recipe::BALANCED };

/// Why no watch goes on from some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreError {
    /// What stands before the engine's checkpoint is not what this firmware saves there.
    Malformed,
    /// The engine cannot go on from its checkpoint.
    Engine(CheckpointError),
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("this is not what this firmware saves: begin afresh"),
            Self::Engine(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for RestoreError {}

/// Watches the calls of one planner.
///
/// ```
/// use unstuck_core::Action;
/// use unstuck_firmware::{Ask, Fault, Watch, World};
///
/// let (mut watch, mut world) = (Watch::new()?, World::new());
/// world.suffer(Fault::JammedWheel);
/// let ask = Ask { tool: "drive", args: r#"{"cm":40}"# };
/// let mut said = Vec::new();
/// while said.last() != Some(&Action::Block) {
///     let announced = watch.announce(ask);
///     let answer = world.run(ask.tool, ask.args);
///     said.push(watch.outcome(announced.id, ask, &answer).action);
/// }
/// use Action::{Block, Nudge, Proceed};
/// assert_eq!(said, [Proceed, Proceed, Nudge, Nudge, Block]);
/// # Ok::<(), unstuck_core::PolicyError<'_>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Watch {
    engine: Engine,
    /// Calls that are nearly alike.
    groups: SimilarCalls,
}

impl Watch {
    /// A watch that has seen nothing.
    ///
    /// # Errors
    ///
    /// The policy's, if it looked back further than [`WINDOW`].
    pub fn new() -> Result<Self, PolicyError<'static>> {
        Ok(Self { engine: Detector::new(&POLICY)?, groups: SimilarCalls::new() })
    }

    /// A person gives an order.
    pub fn order(&mut self, order: &str) {
        // No rule of this policy is about what a person says again.
        let _ = self.engine.user_message(RECIPE.message(order));
        self.groups.clear();
    }

    /// The planner asks for a call: may it run? Not from [`Action::Block`] on.
    ///
    /// [`Action::Block`]: unstuck_core::Action::Block
    #[inline(never)]
    pub fn announce(&mut self, ask: Ask) -> Announced {
        self.engine.announce(RECIPE.call_among(&mut self.groups, ask.tool, ask.args))
    }

    /// The call came back.
    #[inline(never)]
    pub fn outcome(&mut self, call: CallId, ask: Ask, answer: &Answer) -> Verdict {
        let outcome = RECIPE.outcome(ask.tool, answer.text.as_str(), answer.failed);
        self.engine.outcome(call, outcome)
    }

    /// The call was not run.
    pub fn refused(&mut self, call: CallId) -> Verdict {
        self.engine.vetoed(call)
    }

    /// The name of the rule behind `finding`.
    pub fn rule_name(&self, finding: &Finding) -> &'static str {
        finding.rule_name(&POLICY)
    }

    /// Whether some rule has half of what a finding takes, or more: only then would forgetting
    /// what was seen delay one, and only then is saving it worth a page of flash.
    pub fn has_something_to_lose(&self) -> bool {
        self.engine.nearest().is_some_and(|near| near.held.saturating_mul(2) >= near.needed)
    }

    /// What was seen and said so far.
    pub fn statistics(&self) -> &Statistics {
        self.engine.statistics()
    }

    /// Writes all this and `place` to the start of `buffer`; returns the part that was written.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::BufferTooShort`].
    pub fn save<'b>(
        &self,
        place: &Place,
        buffer: &'b mut [u8],
    ) -> Result<&'b [u8], CheckpointError> {
        let (length, enough) = (buffer.len(), Engine::CHECKPOINT_MAX);
        let short = CheckpointError::BufferTooShort { length, enough };
        let mut serializer =
            postcard::Serializer { output: postcard::ser_flavors::Slice::new(buffer) };
        (place, &self.groups).serialize(&mut serializer).map_err(|_| short)?;
        let own = postcard::ser_flavors::Flavor::finalize(serializer.output);
        let own = own.map_err(|_| short)?.len();
        let engine = buffer.get_mut(own..).ok_or(short)?;
        let engine = self.engine.save(engine)?.len();
        buffer.get(..own.saturating_add(engine)).ok_or(short)
    }

    /// Goes on as the watch that was saved; returns where the mission was then. Any bytes may be given,
    /// to a new watch, which is new still where nothing goes on from them.
    ///
    /// In place and in two parts: all that is read passes over the stack, and each part more than once.
    ///
    /// # Errors
    ///
    /// One that says why nothing goes on from `bytes`.
    pub fn resume(&mut self, bytes: &[u8]) -> Result<Place, RestoreError> {
        let (place, rest) = self.resume_own(bytes)?;
        self.resume_engine(rest).inspect_err(|_| self.groups.clear())?;
        Ok(place)
    }

    /// Reads what is the firmware's own; returns the rest, too.
    #[inline(never)]
    fn resume_own<'b>(&mut self, bytes: &'b [u8]) -> Result<(Place, &'b [u8]), RestoreError> {
        let own = postcard::take_from_bytes::<(Place, SimilarCalls)>(bytes);
        let ((place, groups), rest) = own.map_err(|_| RestoreError::Malformed)?;
        self.groups = groups;
        Ok((place, rest))
    }

    /// Reads what is the engine's.
    #[inline(never)]
    fn resume_engine(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        self.engine = Detector::restore(&POLICY, bytes).map_err(RestoreError::Engine)?;
        Ok(())
    }
}
