//! The log: its events and their text, which are the same on the board and on a computer.

use core::fmt;

use unstuck_core::{Action, Finding};

use crate::planner::ToolCall;

/// The severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Housekeeping.
    Debug,
    /// Work of the robot.
    Info,
    /// A message of the supervisor.
    Warn,
    /// A fault of the robot.
    Error,
}

impl Level {
    /// Returns the name of the level.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }
}

/// Declares the events, each with its level and its format. Both formatters are made from the one list, so that the board
/// and a computer log equal lines.
macro_rules! events {
    ($(
        $(#[$doc:meta])*
        $name:ident { $($field:ident: $type:ty),* } $level:ident $format:literal $(, $value:expr)*;
    )+) => {
        /// Something that happened. The format of each event says what its fields are.
        #[expect(missing_docs, reason = "the formats say what the fields are")]
        #[derive(Clone, Copy, Debug)]
        pub enum Event<'e> {
            $($(#[$doc])* $name { $($field: $type),* },)+
        }

        impl Event<'_> {
            /// Returns the severity of the event.
            pub const fn level(&self) -> Level {
                match self {
                    $(Self::$name { .. } => Level::$level,)+
                }
            }
        }

        impl fmt::Display for Event<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Self::$name { $($field),* } => write!(f, $format $(, $value)*),)+
                }
            }
        }

        #[cfg(target_os = "none")]
        impl defmt::Format for Event<'_> {
            fn format(&self, f: defmt::Formatter<'_>) {
                match *self {
                    $(Self::$name { $($field),* } => defmt::write!(f, $format $(, $value)*),)+
                }
            }
        }
    };
}

events! {
    /// The robot starts, and there is no mission in flash.
    Started {} Info "the flash holds no mission: this one begins";
    /// A slot of the flash holds a record that the robot cannot continue from.
    Unusable { slot: &'static str, why: &'e str } Error "slot {}: {}", slot, why;
    /// The robot continues from a save. `whole` slots hold a complete one, at most 2.
    Resumed { boot: u16, number: u32, slot: &'static str, whole: usize } Info
        "start {}: {} of 2 slots hold a whole save; going on from save {} in slot {}",
        boot, whole, number, slot;
    /// A person gives an order.
    Ordered { order: &'e str } Info "a person says: {}", order;
    /// A call succeeded.
    Succeeded { number: u64, call: ToolCall, result: &'e str } Info
        "#{} {} {} -> {}", number, call.tool, call.args, result;
    /// A call failed.
    Failed { number: u64, call: ToolCall, result: &'e str } Info
        "#{} {} {} fails -> {}", number, call.tool, call.args, result;
    /// A call was refused and did not run.
    Refused { number: u64, call: ToolCall } Warn
        "#{} {} {} is not run", number, call.tool, call.args;
    /// The supervisor found a loop.
    Loop { action: Action, rule: &'static str, finding: &'e Finding } Warn
        "{}: {} of period {}, {} laps, calls #{} to #{}, rule {}, loop {:016x}",
        action.name(), finding.kind.name(), finding.period, finding.laps, finding.first,
        finding.last, rule, finding.loop_id.bits();
    /// A nudge was sent to the planner.
    Nudged { nudge: &'e str } Warn "the planner reads: {}", nudge;
    /// The state was saved.
    Saved { number: u32, slot: &'static str, bytes: usize } Debug
        "save {} into slot {}: {} bytes", number, slot, bytes;
    /// The state was not saved.
    NotSaved { why: &'e str } Error "not saved: {}", why;
    /// The processor is reset.
    Reset {} Error "the processor is reset";
    /// The order is carried out.
    Done { calls: u16 } Info "done with it, in {} calls", calls;
    /// The supervisor ended the order.
    Stopped { calls: u16 } Warn
        "the order ends here, after {} calls: a person has to look", calls;
    /// The mission is over. Calls of earlier starts count, too. A refused call has a verdict before it and one after it.
    Home { checks: u32, findings: u32 } Info
        "the mission is over: {} calls judged, {} verdicts with a loop", checks, findings;
}

/// A line of the log: an event and its time.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'e> {
    /// The time since the robot was first switched on, in milliseconds.
    pub at: u32,
    /// The event.
    pub event: Event<'e>,
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, rest) = (self.at / 1000, self.at % 1000);
        write!(f, "{seconds}.{rest:03} {} {}", self.event.level().name(), self.event)
    }
}
