//! The supervisor of the planner: the engine, this robot's rules, and their state as bytes.

use core::fmt;

use serde::Serialize as _;
use unstuck_core::{
    CheckpointError, Detector, Finding, Policy, PolicyError, Statistics, Verdict, presets,
};
use unstuck_text::{Announcement, Counter, Failures, Recipe, SimilarCalls, Ticket, Worker};

use crate::planner::{MissionState, ToolCall};
use crate::world::ToolResult;

/// The number of calls that the engine looks back. The policy needs twenty. A longer window would hold
/// records that no rule uses; see the crate's documentation.
pub const WINDOW: usize = 20;

/// The number of calls that may wait for their outcomes. A robot does one thing at a time.
const OPEN: usize = 1;

/// The engine of this robot.
pub type Engine = Detector<'static, WINDOW, OPEN>;

/// The rules.
pub static POLICY: Policy<'static> = presets::BALANCED;

/// Temperatures drift, whatever the robot does. A reading that matters must not be in this list, because
/// a change of it is progress.
static DRIFTING: [Counter<'static>; 1] = [match Counter::new(r#"_c":#"#) {
    Ok(counter) => counter,
    // Evaluated by the compiler, never at run time.
    Err(_) => panic!("a counter without its number"),
}];

/// The recipe of `balanced`, except that failures are not read from texts. This robot knows which calls
/// failed, and the readers of test reports would be a third of its code.
pub static RECIPE: Recipe =
    Recipe { failures: Failures::Told, counters: &DRIFTING, ..Recipe::BALANCED };

/// The reason why a supervisor cannot continue from some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreError {
    /// The bytes before the engine's checkpoint are not the state of this firmware.
    Malformed,
    /// The engine cannot continue from its checkpoint.
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
/// use unstuck_core::Action::{self, Block, Nudge, Proceed};
/// use unstuck_firmware::{Fault, Supervisor, ToolCall, World};
///
/// let (mut supervisor, mut world) = (Supervisor::new()?, World::new());
/// world.suffer(Fault::JammedWheel);
/// let call = ToolCall { tool: "drive", args: r#"{"cm":40}"# };
/// let mut actions = Vec::new();
/// while actions.last() != Some(&Block) {
///     let announced = supervisor.announce(call);
///     let result = world.run(call.tool, call.args);
///     actions.push(supervisor.outcome(announced.ticket, call, &result).action);
/// }
/// assert_eq!(actions, [Proceed, Proceed, Nudge, Nudge, Block]);
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Supervisor {
    worker: Worker<'static, WINDOW, OPEN>,
}

impl Supervisor {
    /// Creates a supervisor that has seen no call.
    ///
    /// # Errors
    ///
    /// The policy's error, if it looks back further than [`WINDOW`].
    pub fn new() -> Result<Self, PolicyError> {
        Ok(Self { worker: Worker::new(&POLICY, RECIPE)? })
    }

    /// Reports an order of a person.
    pub fn order(&mut self, order: &str) {
        // No rule of this policy is about repeated orders.
        let _ = self.worker.user_message(order);
        self.worker.digester.similar.clear();
    }

    /// Announces a call that the planner asks for. The call must not run if the announcement
    /// [is blocked](Announcement::is_blocked).
    #[inline(never)]
    pub fn announce(&mut self, call: ToolCall) -> Announcement {
        self.worker.announce(call.tool, call.args)
    }

    /// Reports the result of a call.
    #[inline(never)]
    pub fn outcome(&mut self, ticket: Ticket, call: ToolCall, result: &ToolResult) -> Verdict {
        self.worker.outcome(ticket, call.tool, result.text.as_str(), result.failed)
    }

    /// Reports that a call was refused and did not run.
    pub fn vetoed(&mut self, ticket: Ticket) -> Verdict {
        self.worker.vetoed(ticket)
    }

    /// Returns the name of the rule behind `finding`.
    pub fn rule_name(&self, finding: &Finding) -> &'static str {
        finding.rule_name(&POLICY)
    }

    /// Returns whether some rule has half of the calls of a finding, or more. Only then would a lost
    /// state delay a finding, and only then is a save worth a page of flash.
    pub fn has_something_to_lose(&self) -> bool {
        let nearest = self.worker.detector.nearest();
        nearest.is_some_and(|near| near.held.saturating_mul(2) >= near.needed)
    }

    /// Returns the counts of calls and findings so far.
    pub fn statistics(&self) -> &Statistics {
        self.worker.detector.statistics()
    }

    /// Writes the whole state and `mission` to the start of `buffer`. Returns the part that was written.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::BufferTooShort`].
    pub fn save<'b>(
        &self,
        mission: &MissionState,
        buffer: &'b mut [u8],
    ) -> Result<&'b [u8], CheckpointError> {
        let (length, enough) = (buffer.len(), Engine::CHECKPOINT_MAX);
        let short = CheckpointError::BufferTooShort { length, enough };
        let mut serializer =
            postcard::Serializer { output: postcard::ser_flavors::Slice::new(buffer) };
        let own = (mission, &self.worker.digester.similar);
        own.serialize(&mut serializer).map_err(|_| short)?;
        let own = postcard::ser_flavors::Flavor::finalize(serializer.output);
        let own = own.map_err(|_| short)?.len();
        let engine = buffer.get_mut(own..).ok_or(short)?;
        let engine = self.worker.detector.save(engine)?.len();
        buffer.get(..own.saturating_add(engine)).ok_or(short)
    }

    /// Continues from a saved state. Returns the state of the mission at that time. Any bytes may be
    /// given. Call it on a new supervisor; after an error the supervisor is still new.
    ///
    /// It works in place and in two parts, because everything that is read passes over the stack more
    /// than once.
    ///
    /// # Errors
    ///
    /// The reason why `bytes` are not a state of this firmware.
    pub fn resume(&mut self, bytes: &[u8]) -> Result<MissionState, RestoreError> {
        let (mission, rest) = self.resume_own(bytes)?;
        self.resume_engine(rest).inspect_err(|_| self.worker.digester.similar.clear())?;
        Ok(mission)
    }

    /// Reads the firmware's own part. Also returns the remaining bytes.
    #[inline(never)]
    fn resume_own<'b>(
        &mut self,
        bytes: &'b [u8],
    ) -> Result<(MissionState, &'b [u8]), RestoreError> {
        let own = postcard::take_from_bytes::<(MissionState, SimilarCalls)>(bytes);
        let ((mission, similar), rest) = own.map_err(|_| RestoreError::Malformed)?;
        self.worker.digester.similar = similar;
        Ok((mission, rest))
    }

    /// Reads the engine's part.
    #[inline(never)]
    fn resume_engine(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        self.worker.detector = Detector::restore(&POLICY, bytes).map_err(RestoreError::Engine)?;
        Ok(())
    }
}
