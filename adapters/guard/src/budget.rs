//! Budgets: what an agent may spend in a turn, a session and a day.
//!
//! A budget is no sign of a loop. No rule reads it, and its notes never speak of one. A guard without a budget
//! counts nothing.

mod account;
mod spending;

use std::fmt;
use std::ops::{Add, AddAssign};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::account::Account;

/// The limits of what an agent may spend, and what happens at them. The default has none.
///
/// The model reads a note when 80 % of a limit are spent, and another at 100 %.
///
/// ```
/// use unstuck::{AtLimit, Budget, Guard, Limits};
///
/// let session = Limits { calls: Some(5), ..Limits::default() };
/// let budget = Budget { session, at_limit: AtLimit::Refuse, ..Budget::default() };
/// let mut guard = Guard::builder().budget(budget).build()?;
/// let mut call = |name: &str| {
///     let before = guard.before("read_file", name);
///     if before.is_blocked() {
///         return before.refusal();
///     }
///     guard.after(before.ticket(), name, false).annotate(name).into_owned()
/// };
/// assert_eq!(["a", "b", "c"].map(&mut call), ["a", "b", "c"]);
/// assert!(call("d").ends_with("[unstuck] 4 of 5 calls of this session are spent. Finish what matters, or say what is missing."));
/// assert!(call("e").contains("5 of 5 calls of this session are spent. Further calls are refused"));
/// assert!(call("f").starts_with("[unstuck] This call was not run. 5 of 5 calls"));
/// # Ok::<(), unstuck::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// The limits since the user's last new message.
    pub turn: Limits,
    /// The limits of the whole session.
    pub session: Limits,
    /// The limits of a day, which begins at midnight UTC.
    pub day: Limits,
    /// What happens when all of a limit is spent.
    pub at_limit: AtLimit,
}

/// The limits of one [`Budget`] in one scope. `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The number of calls.
    pub calls: Option<u64>,
    /// The number of tokens, read and written.
    pub tokens: Option<u64>,
    /// US dollars.
    pub dollars: Option<f64>,
    /// Minutes in which the agent was at work. The time until the user's next message does not count.
    pub minutes: Option<u64>,
}

/// What happens when all of a limit is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtLimit {
    /// The model reads a note, and may go on.
    #[default]
    Note,
    /// A person is asked once about each limit. A host that cannot ask refuses.
    Ask,
    /// Further calls are refused.
    Refuse,
}

impl AtLimit {
    /// All values, the mildest first.
    pub const ALL: [Self; 3] = [Self::Note, Self::Ask, Self::Refuse];

    /// Returns the name that configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Ask => "ask",
            Self::Refuse => "refuse",
        }
    }
}

/// Something that was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// The number of calls.
    pub calls: u64,
    /// The number of tokens, read and written.
    pub tokens: u64,
    /// US dollars.
    pub dollars: f64,
    /// The time in which the agent was at work.
    pub time: Duration,
}

impl Spent {
    /// One call.
    pub const CALL: Self = Self { calls: 1, tokens: 0, dollars: 0.0, time: Duration::ZERO };
}

impl Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            tokens: self.tokens.saturating_add(other.tokens),
            dollars: self.dollars + other.dollars,
            time: self.time.saturating_add(other.time),
        }
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// A limit, and what is spent of it. Its `Display` is `240 of 300 calls of this session`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The place of the limit: the index of its scope, and of its unit.
    place: (usize, usize),
    spent: f64,
    limit: f64,
}

/// The scopes of limits, as notes name them.
const SCOPES: [&str; 3] = ["this turn", "this session", "today"];

/// The units of limits.
const UNITS: [&str; 4] = ["calls", "tokens", "dollars", "minutes"];

/// The place of the unit that is shown with cents.
const DOLLARS: usize = 2;

impl Share {
    /// Returns whether at least 80 % of the limit are spent.
    pub fn is_near(&self) -> bool {
        self.spent * 100.0 >= self.limit * 80.0
    }

    /// Returns whether all of the limit is spent.
    pub fn is_reached(&self) -> bool {
        self.spent >= self.limit
    }

    /// Returns the words to a model whose call is refused because the limit is reached.
    pub fn refusal(&self) -> String {
        format!("{self} are spent. Say what is done and what is missing.")
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place: (scope, unit), spent, limit } = *self;
        let scope = SCOPES[scope];
        if unit == DOLLARS {
            let ([spent, part], [limit, of]) = (cents(spent), cents(limit));
            return write!(f, "{spent}.{part:02} of {limit}.{of:02} dollars of {scope}");
        }
        write!(f, "{} of {} {} of {scope}", whole(spent), whole(limit), UNITS[unit])
    }
}

/// Returns dollars and cents. An engine for browsers is smaller without the code that writes numbers with a point.
fn cents(amount: f64) -> [u64; 2] {
    let cents = whole(amount * 100.0 + 0.5);
    [cents / 100, cents % 100]
}

/// Returns the whole part of an amount: a part of a minute is not spent yet.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the largest is near")]
fn whole(amount: f64) -> u64 {
    amount as u64
}

impl Budget {
    /// Returns whether there is no limit.
    pub fn is_empty(&self) -> bool {
        self.scopes().iter().all(|limits| *limits == Limits::default())
    }

    fn scopes(&self) -> [Limits; SCOPES.len()] {
        [self.turn, self.session, self.day]
    }

    /// Returns each limit with what is `spent` in its scope.
    fn shares(&self, spent: [Spent; SCOPES.len()]) -> impl Iterator<Item = Share> + use<> {
        let scopes = self.scopes().into_iter().zip(spent).enumerate();
        scopes.flat_map(|(scope, (limits, spent))| {
            let units = limits.amounts().into_iter().zip(spent.amounts()).enumerate();
            units.filter_map(move |(unit, (limit, spent))| {
                Some(Share { place: (scope, unit), spent, limit: limit? })
            })
        })
    }
}

impl Limits {
    fn amounts(self) -> [Option<f64>; UNITS.len()] {
        [self.calls.map(float), self.tokens.map(float), self.dollars, self.minutes.map(float)]
    }
}

impl Spent {
    fn amounts(self) -> [f64; UNITS.len()] {
        [float(self.calls), float(self.tokens), self.dollars, self.time.as_secs_f64() / 60.0]
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody spends 2^53 of anything")]
fn float(number: u64) -> f64 {
    number as f64
}
