//! The rule of a swarm: how many calls, by how many workers, within what time.

use alloc::vec::Vec;
use core::fmt;

use unstuck_core::{Action, Tool};

use crate::observation::Observation;
use crate::verdict::Outcome;

/// The most workers that a rule may ask for: as many as a ledger tells apart
/// without a doubt.
pub const WORKERS_MAX: u32 = 15;

/// The most calls that a rule may ask for, so that no rung of its ladder is out of reach.
pub const CALLS_MAX: u32 = 1 << 24;

/// How far back calls count.
///
/// Time is cut into generations of half the span; what counts is the generation that goes on and the one
/// before it. So a call counts for half the span at least, and never for longer than all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// So many ticks of the host's clock; by convention milliseconds.
    Time {
        /// How many.
        span: u64,
    },
    /// So many calls of the whole swarm.
    Calls {
        /// How many.
        span: u64,
    },
}

/// Which calls of a tool are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allowance {
    /// All of them.
    #[default]
    None,
    /// All but the first by each worker: everybody may read the README once.
    Once,
    /// None of them.
    Any,
}

/// When equal calls of several workers are a loop of their swarm, and what to do about it.
///
/// ```
/// use unstuck_swarm::{Allowance, Rule, Tool, Window};
///
/// let rule = Rule::default()
///     .calls(20)
///     .workers(4)
///     .window(Window::Time { span: 60_000 })
///     .tool(Tool::named("read_file"), Allowance::Once)
///     .check()?;
/// assert_eq!(rule.calls, 20);
/// # Ok::<(), unstuck_swarm::RuleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// How many equal calls make a loop: 2 or more.
    pub calls: u32,
    /// By how many workers at least: from 1 to [`WORKERS_MAX`].
    pub workers: u32,
    /// How far back they count.
    pub window: Window,
    /// The most that is done about it.
    ///
    /// At `calls` calls the workers are nudged, at twice as many warned, at three times as many their call is
    /// blocked, at four times as many their runs end: each as far as this allows.
    pub strongest: Action,
    /// Which calls count that came back and did not fail: unless told otherwise, all but everybody's
    /// first.
    pub worked: Allowance,
    /// Which calls of single tools count, whatever came back.
    pub tools: Vec<(Tool, Allowance)>,
}

impl Default for Rule {
    /// Ten calls by two workers within ten minutes; blocks at most. Of calls that worked, everybody's
    /// first is free: agents with one task begin alike, and most of what several do once is reading.
    fn default() -> Self {
        Self {
            calls: 10,
            workers: 2,
            window: Window::Time { span: 600_000 },
            strongest: Action::Block,
            worked: Allowance::Once,
            tools: Vec::new(),
        }
    }
}

impl Rule {
    /// Asks for so many calls.
    #[must_use]
    pub const fn calls(mut self, calls: u32) -> Self {
        self.calls = calls;
        self
    }

    /// Asks for so many workers.
    #[must_use]
    pub const fn workers(mut self, workers: u32) -> Self {
        self.workers = workers;
        self
    }

    /// Counts as far back as `window` says.
    #[must_use]
    pub const fn window(mut self, window: Window) -> Self {
        self.window = window;
        self
    }

    /// Does no more than `action`.
    #[must_use]
    pub const fn strongest(mut self, action: Action) -> Self {
        self.strongest = action;
        self
    }

    /// Says which calls count that came back and did not fail.
    #[must_use]
    pub const fn worked(mut self, allowance: Allowance) -> Self {
        self.worked = allowance;
        self
    }

    /// Says which calls of `tool` count, whatever came back. Of two such words the later holds.
    #[must_use]
    pub fn tool(mut self, tool: Tool, allowance: Allowance) -> Self {
        self.tools.retain(|(known, _)| *known != tool);
        self.tools.push((tool, allowance));
        self
    }

    /// The rule, if it can work.
    ///
    /// # Errors
    ///
    /// [`RuleError`], which says what cannot and what would.
    pub fn check(self) -> Result<Self, RuleError> {
        let span = self.window.span();
        match self {
            Self { calls, .. } if !(2..=CALLS_MAX).contains(&calls) => {
                Err(RuleError::Calls { asked: calls })
            }
            Self { workers, .. } if !(1..=WORKERS_MAX).contains(&workers) => {
                Err(RuleError::Workers { asked: workers })
            }
            _ if span < 2 => Err(RuleError::Span { asked: span }),
            _ => Ok(self),
        }
    }

    /// Which calls like this one count.
    pub fn allowance(&self, observation: &Observation) -> Allowance {
        self.allowance_of(observation.tool, observation.outcome())
    }

    /// Which calls of `tool` count that came to this.
    pub fn allowance_of(&self, tool: Tool, outcome: Outcome) -> Allowance {
        let own = self.tools.iter().find(|(own, _)| *own == tool);
        match (own, outcome) {
            (Some((_, allowance)), _) => *allowance,
            (None, Outcome::Worked) => self.worked,
            (None, Outcome::Failed | Outcome::Unknown) => Allowance::None,
        }
    }

    /// The rung that so many counted calls of so many workers reach, counted from 1, and what to do
    /// there; 0 and nothing below the first.
    pub fn rung(&self, calls: u32, workers: u32) -> (u8, Action) {
        let times = if workers < self.workers { 0 } else { calls / self.calls.max(1) };
        let (rung, action) = match times {
            0 => return (0, Action::Proceed),
            1 => (1, Action::Nudge),
            2 => (2, Action::Warn),
            3 => (3, Action::Block),
            _ => (4, Action::Stop),
        };
        (rung, action.min(self.strongest))
    }
}

impl Window {
    /// How far it reaches back, in its own unit.
    pub const fn span(self) -> u64 {
        match self {
            Self::Time { span } | Self::Calls { span } => span,
        }
    }

    /// The generation that `now` is in.
    pub const fn generation(self, now: u64) -> u64 {
        match self.span().div_ceil(2) {
            0 => now,
            half => now / half,
        }
    }
}

/// Why a rule cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleError {
    /// So many calls make no loop.
    Calls {
        /// How many.
        asked: u32,
    },
    /// So many workers cannot be told apart, or are none.
    Workers {
        /// How many.
        asked: u32,
    },
    /// Nobody is there to count the calls of the whole swarm.
    Clock {
        /// How many of them the window was to hold.
        asked: u64,
    },
    /// So short a window has no half.
    Span {
        /// How long.
        asked: u64,
    },
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls { asked } => {
                write!(f, "a rule of {asked} calls cannot work: ask for 2 to {CALLS_MAX}")
            }
            Self::Workers { asked } => {
                write!(f, "a rule of {asked} workers cannot work: ask for 1 to {WORKERS_MAX}")
            }
            Self::Clock { asked } => write!(
                f,
                "a window of {asked} calls needs someone who counts all calls of the swarm, and where \
                 workers gossip nobody does: ask for a window of time"
            ),
            Self::Span { asked } => {
                write!(f, "a window of {asked} cannot be cut into halves: ask for 2 or more")
            }
        }
    }
}

impl core::error::Error for RuleError {}
