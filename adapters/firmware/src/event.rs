//! What is logged, and in which words: the same on the board and on its host.

use core::fmt;

use unstuck_core::{Action, Finding};

use crate::planner::Ask;

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Housekeeping.
    Debug,
    /// What the robot does.
    Info,
    /// What the watch says.
    Warn,
    /// What goes wrong.
    Error,
}

impl Level {
    /// Its one spelling.
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
    /// The robot begins, and nothing in flash tells of a mission.
    Began,
    /// Half of the flash holds nothing that can be gone on from.
    Unusable {
        /// Which half.
        slot: &'static str,
        /// Why.
        why: &'e str,
    },
    /// The robot goes on where it was.
    WentOn {
        /// How often it has been switched on.
        boot: u16,
        /// Which of all that were ever saved it goes on from.
        number: u32,
        /// Where that stands.
        slot: &'static str,
        /// How many of the two slots hold a save that is whole.
        whole: usize,
    },
    /// A person gives an order.
    Ordered(&'e str),
    /// A call was made.
    Made {
        /// The number of the call.
        number: u64,
        /// The call.
        ask: Ask,
        /// Its result.
        result: &'e str,
    },
    /// A call was made and failed.
    Failed {
        /// The number of the call.
        number: u64,
        /// The call.
        ask: Ask,
        /// Its result.
        result: &'e str,
    },
    /// A call was refused, and not run.
    Refused {
        /// The number of the call.
        number: u64,
        /// The call.
        ask: Ask,
    },
    /// The watch found a loop.
    Found {
        /// What is to be done.
        action: Action,
        /// The name of the rule.
        rule: &'static str,
        /// The evidence.
        finding: &'e Finding,
    },
    /// The planner is told so.
    Told(&'e str),
    /// All that is known was saved.
    Saved {
        /// Which of all that were ever saved it is.
        number: u32,
        /// Where it stands.
        slot: &'static str,
        /// How long it is.
        bytes: usize,
    },
    /// It was not.
    NotSaved(&'e str),
    /// The processor is reset.
    Reset,
    /// The order is done with.
    Over {
        /// How many calls that took.
        calls: u16,
    },
    /// The watch ended the order.
    Stopped {
        /// After how many calls.
        calls: u16,
    },
    /// The mission is over.
    Home {
        /// How many calls were judged, those of earlier starts included.
        judged: u32,
        /// How many verdicts named a loop; a call that is refused has one before it and one after.
        found: u32,
    },
}

impl Event<'_> {
    /// How much it matters.
    pub const fn level(&self) -> Level {
        match self {
            Self::Saved { .. } => Level::Debug,
            Self::Found { .. } | Self::Told(_) | Self::Refused { .. } | Self::Stopped { .. } => {
                Level::Warn
            }
            Self::NotSaved(_) | Self::Reset | Self::Unusable { .. } => Level::Error,
            _ => Level::Info,
        }
    }
}

/// Gives events their words, which both formatters read alike, so that a line of the board's log is
/// a line of the host's.
macro_rules! words {
    ($($event:pat => $($words:expr),+;)+) => {
        impl fmt::Display for Event<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $($event => write!(f, $($words),+),)+
                }
            }
        }

        #[cfg(target_os = "none")]
        impl defmt::Format for Event<'_> {
            fn format(&self, f: defmt::Formatter<'_>) {
                match *self {
                    $($event => defmt::write!(f, $($words),+),)+
                }
            }
        }
    };
}

words! {
    Event::Began => "the flash holds no mission: this one begins";
    Event::Unusable { slot, why } => "slot {}: {}", slot, why;
    Event::WentOn { boot, number, slot, whole } =>
        "start {}: {} of 2 slots hold a whole save; going on from save {} in slot {}",
        boot, whole, number, slot;
    Event::Ordered(order) => "a person says: {}", order;
    Event::Made { number, ask, result } =>
        "#{} {} {} -> {}", number, ask.tool, ask.args, result;
    Event::Failed { number, ask, result } =>
        "#{} {} {} fails -> {}", number, ask.tool, ask.args, result;
    Event::Refused { number, ask } => "#{} {} {} is not run", number, ask.tool, ask.args;
    Event::Found { action, rule, finding } =>
        "{}: {} of period {}, {} laps, calls #{} to #{}, rule {}, loop {:016x}",
        action.name(), finding.kind.name(), finding.period, finding.laps, finding.first,
        finding.last, rule, finding.loop_id.bits();
    Event::Told(nudge) => "the planner reads: {}", nudge;
    Event::Saved { number, slot, bytes } =>
        "save {} into slot {}: {} bytes", number, slot, bytes;
    Event::NotSaved(why) => "not saved: {}", why;
    Event::Reset => "the processor is reset";
    Event::Over { calls } => "done with it, in {} calls", calls;
    Event::Stopped { calls } => "the order ends here, after {} calls: a person has to look", calls;
    Event::Home { judged, found } =>
        "the mission is over: {} calls judged, {} verdicts with a loop", judged, found;
}

/// An event, and when it happened: a line of the log.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'e> {
    /// How long the robot had been on, in milliseconds.
    pub at: u32,
    /// What happened.
    pub event: Event<'e>,
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, rest) = (self.at / 1000, self.at % 1000);
        write!(f, "{seconds}.{rest:03} {} {}", self.event.level().name(), self.event)
    }
}
