//! The rule of a swarm: how many calls, by how many workers, within what time.

use alloc::vec::Vec;
use core::fmt;

use unstuck_core::{Action, Tool};

use crate::observation::Observation;
use crate::verdict::Outcome;

/// The most workers that a rule may ask for. A ledger counts this many exactly.
pub const WORKERS_MAX: u32 = 15;

/// The most calls that a rule may ask for, so that no rung of its ladder is out of reach.
pub const CALLS_MAX: u32 = 1 << 24;

/// The window within which calls count.
///
/// Time is cut into generations of half the span. Calls of the current generation and of the previous one
/// count. So a call counts for at least half the span, and never for longer than all of it.
///
/// ```
/// use unstuck_swarm::Window;
///
/// let window = Window::Time { span: 600_000 };
/// assert_eq!((window.generation(299_999), window.generation(300_000)), (0, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// A number of ticks of the host's clock, by convention milliseconds.
    Time {
        /// The number of ticks.
        span: u64,
    },
    /// A number of calls of the whole swarm.
    Calls {
        /// The number of calls.
        span: u64,
    },
}

/// The calls of a tool that are free, that is, not counted.
///
/// ```
/// use unstuck_swarm::{Allowance, Rule, Tool};
///
/// let rule = Rule::default().tool(Tool::named("wait"), Allowance::Any);
/// assert_eq!(rule.tools[0].1, Allowance::Any);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allowance {
    /// No call is free.
    #[default]
    None,
    /// The first call of each worker is free. For example, every worker may read the README once.
    Once,
    /// All calls are free.
    Any,
}

/// The definition of a loop of a swarm, and the strongest action against it.
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
    /// The number of equal calls that make a loop: 2 or more.
    pub calls: u32,
    /// The minimum number of workers that make them: from 1 to [`WORKERS_MAX`].
    pub workers: u32,
    /// The window within which they count.
    pub window: Window,
    /// The strongest action.
    ///
    /// The workers are nudged at `calls` calls and warned at twice as many. At three times as many their call
    /// is blocked, and at four times as many their runs end. A stronger action than this one is never taken.
    pub strongest: Action,
    /// The free calls among those that worked. By default the first call of each worker is free.
    pub worked: Allowance,
    /// The free calls of single tools, whatever their result.
    pub tools: Vec<(Tool, Allowance)>,
}

impl Default for Rule {
    /// Ten calls by two workers within ten minutes, with a block as the strongest action. The first call of
    /// each worker is free if it worked: agents with one task begin alike, and most calls that several make
    /// once are reads.
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
    /// Sets the number of calls.
    #[must_use]
    pub const fn calls(mut self, calls: u32) -> Self {
        self.calls = calls;
        self
    }

    /// Sets the number of workers.
    #[must_use]
    pub const fn workers(mut self, workers: u32) -> Self {
        self.workers = workers;
        self
    }

    /// Sets the window.
    #[must_use]
    pub const fn window(mut self, window: Window) -> Self {
        self.window = window;
        self
    }

    /// Sets the strongest action.
    #[must_use]
    pub const fn strongest(mut self, action: Action) -> Self {
        self.strongest = action;
        self
    }

    /// Sets the free calls among those that worked.
    #[must_use]
    pub const fn worked(mut self, allowance: Allowance) -> Self {
        self.worked = allowance;
        self
    }

    /// Sets the free calls of `tool`, whatever their result. A later setting replaces an earlier one.
    #[must_use]
    pub fn tool(mut self, tool: Tool, allowance: Allowance) -> Self {
        self.tools.retain(|(known, _)| *known != tool);
        self.tools.push((tool, allowance));
        self
    }

    /// Checks the rule and returns it.
    ///
    /// # Errors
    ///
    /// Returns a [`RuleError`] for a value out of range. It names the valid range.
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

    /// Returns the free calls among those like this one.
    pub fn allowance(&self, observation: &Observation) -> Allowance {
        self.allowance_of(observation.tool, observation.outcome())
    }

    /// Returns the free calls among those of `tool` with this outcome.
    pub fn allowance_of(&self, tool: Tool, outcome: Outcome) -> Allowance {
        let own = self.tools.iter().find(|(own, _)| *own == tool);
        match (own, outcome) {
            (Some((_, allowance)), _) => *allowance,
            (None, Outcome::Worked) => self.worked,
            (None, Outcome::Failed | Outcome::Unknown) => Allowance::None,
        }
    }

    /// Returns the rung that `calls` counted calls of `workers` workers reach, counted from 1, and its action.
    /// Below the first rung these are 0 and [`Action::Proceed`].
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
    /// Returns the span, in ticks or calls.
    pub const fn span(self) -> u64 {
        match self {
            Self::Time { span } | Self::Calls { span } => span,
        }
    }

    /// Returns the generation of the time `now`.
    pub const fn generation(self, now: u64) -> u64 {
        match self.span().div_ceil(2) {
            0 => now,
            half => now / half,
        }
    }
}

/// An error in a rule.
///
/// ```
/// use unstuck_swarm::{Rule, RuleError};
///
/// assert_eq!(Rule::default().calls(1).check(), Err(RuleError::Calls { asked: 1 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleError {
    /// The number of calls is out of range.
    Calls {
        /// The number.
        asked: u32,
    },
    /// The number of workers is out of range.
    Workers {
        /// The number.
        asked: u32,
    },
    /// The window counts calls, but no store counts the calls of the whole swarm.
    Clock {
        /// The number of calls in the window.
        asked: u64,
    },
    /// The window is too short to be halved.
    Span {
        /// The span.
        asked: u64,
    },
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls { asked } => {
                write!(f, "a rule of {asked} calls is invalid: ask for 2 to {CALLS_MAX}")
            }
            Self::Workers { asked } => {
                write!(f, "a rule of {asked} workers is invalid: ask for 1 to {WORKERS_MAX}")
            }
            Self::Clock { asked } => write!(
                f,
                "a window of {asked} calls needs a store that counts all calls of the swarm, which \
                 gossip does not: ask for a window of time"
            ),
            Self::Span { asked } => {
                write!(f, "a window of {asked} cannot be cut into halves: ask for 2 or more")
            }
        }
    }
}

impl core::error::Error for RuleError {}
