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

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'e> {
    /// The robot starts, and there is no mission in flash.
    Started,
    /// A slot of the flash holds a record that the robot cannot continue from.
    Unusable {
        /// The name of the slot.
        slot: &'static str,
        /// The reason.
        why: &'e str,
    },
    /// The robot continues from a save.
    Resumed {
        /// The number of starts so far.
        boot: u16,
        /// The number of the save.
        number: u32,
        /// The name of its slot.
        slot: &'static str,
        /// The number of slots with a complete save, at most 2.
        whole: usize,
    },
    /// A person gives an order.
    Ordered(&'e str),
    /// A call succeeded.
    Succeeded {
        /// The number of the call.
        number: u64,
        /// The call.
        call: ToolCall,
        /// Its result.
        result: &'e str,
    },
    /// A call failed.
    Failed {
        /// The number of the call.
        number: u64,
        /// The call.
        call: ToolCall,
        /// Its result.
        result: &'e str,
    },
    /// A call was refused and did not run.
    Refused {
        /// The number of the call.
        number: u64,
        /// The call.
        call: ToolCall,
    },
    /// The supervisor found a loop.
    Loop {
        /// The action.
        action: Action,
        /// The name of the rule.
        rule: &'static str,
        /// The evidence.
        finding: &'e Finding,
    },
    /// A nudge was sent to the planner.
    Nudged(&'e str),
    /// The state was saved.
    Saved {
        /// The number of the save.
        number: u32,
        /// The name of its slot.
        slot: &'static str,
        /// Its length in bytes.
        bytes: usize,
    },
    /// The state was not saved, for this reason.
    NotSaved(&'e str),
    /// The processor is reset.
    Reset,
    /// The order is carried out.
    Done {
        /// The number of calls that it took.
        calls: u16,
    },
    /// The supervisor ended the order.
    Stopped {
        /// The number of calls before that.
        calls: u16,
    },
    /// The mission is over.
    Home {
        /// The number of calls, including calls of earlier starts.
        checks: u32,
        /// The number of verdicts with a finding. A refused call has one before it and one after it.
        findings: u32,
    },
}

impl Event<'_> {
    /// Returns the severity of the event.
    pub const fn level(&self) -> Level {
        match self {
            Self::Saved { .. } => Level::Debug,
            Self::Loop { .. } | Self::Nudged(_) | Self::Refused { .. } | Self::Stopped { .. } => {
                Level::Warn
            }
            Self::NotSaved(_) | Self::Reset | Self::Unusable { .. } => Level::Error,
            _ => Level::Info,
        }
    }
}

/// Implements both formatters from one list of formats, so that the board and a computer log equal
/// lines.
macro_rules! formats {
    ($($event:pat => $($format:expr),+;)+) => {
        impl fmt::Display for Event<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $($event => write!(f, $($format),+),)+
                }
            }
        }

        #[cfg(target_os = "none")]
        impl defmt::Format for Event<'_> {
            fn format(&self, f: defmt::Formatter<'_>) {
                match *self {
                    $($event => defmt::write!(f, $($format),+),)+
                }
            }
        }
    };
}

formats! {
    Event::Started => "the flash holds no mission: this one begins";
    Event::Unusable { slot, why } => "slot {}: {}", slot, why;
    Event::Resumed { boot, number, slot, whole } =>
        "start {}: {} of 2 slots hold a whole save; going on from save {} in slot {}",
        boot, whole, number, slot;
    Event::Ordered(order) => "a person says: {}", order;
    Event::Succeeded { number, call, result } =>
        "#{} {} {} -> {}", number, call.tool, call.args, result;
    Event::Failed { number, call, result } =>
        "#{} {} {} fails -> {}", number, call.tool, call.args, result;
    Event::Refused { number, call } => "#{} {} {} is not run", number, call.tool, call.args;
    Event::Loop { action, rule, finding } =>
        "{}: {} of period {}, {} laps, calls #{} to #{}, rule {}, loop {:016x}",
        action.name(), finding.kind.name(), finding.period, finding.laps, finding.first,
        finding.last, rule, finding.loop_id.bits();
    Event::Nudged(nudge) => "the planner reads: {}", nudge;
    Event::Saved { number, slot, bytes } =>
        "save {} into slot {}: {} bytes", number, slot, bytes;
    Event::NotSaved(why) => "not saved: {}", why;
    Event::Reset => "the processor is reset";
    Event::Done { calls } => "done with it, in {} calls", calls;
    Event::Stopped { calls } => "the order ends here, after {} calls: a person has to look", calls;
    Event::Home { checks, findings } =>
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
