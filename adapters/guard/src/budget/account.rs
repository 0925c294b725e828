//! What was spent of a budget, and what was said about it.

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{AtLimit, Budget, SCOPES, Share, Spent, UNITS};
use crate::decision::BLOCKS_MAX;

/// The indices of the scopes.
const TURN: usize = 0;
const SESSION: usize = 1;
const DAY: usize = 2;

/// Returns the number of days since 1970.
const fn day(now: Duration) -> u64 {
    now.as_secs() / (24 * 60 * 60)
}

/// What one agent has spent of a [`Budget`].
///
/// A [`Guard`](crate::Guard) with a budget keeps one. A host that decides by itself keeps it beside the guard:
///
/// ```
/// use std::time::Duration;
///
/// use unstuck::{Account, Budget, Limits, Spent};
///
/// let turn = Limits { minutes: Some(10), ..Limits::default() };
/// let mut account = Account::of(Budget { turn, ..Budget::default() });
/// let now = |seconds: u64| Duration::from_secs(1_800_000_000 + seconds);
/// account.tell_time(now(0));
/// account.spend(&Spent::CALL);
/// assert_eq!(account.note(), None);
/// account.tell_time(now(480));
/// let note = account.note().expect("80 % are spent");
/// assert!(note.starts_with("8 of 10 minutes of this turn are spent."));
/// // It is said once.
/// assert_eq!(account.note(), None);
/// ```
///
/// Its serialised form leaves the budget out: see [`Account::under`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    #[serde(skip)]
    budget: Budget,
    /// What others have spent in each scope.
    #[serde(skip)]
    others: [Spent; SCOPES.len()],
    spent: [Spent; SCOPES.len()],
    /// The number of days since 1970 in UTC.
    today: u64,
    /// The time that was told last, unless the user has spoken since.
    latest: Option<Duration>,
    /// What was said about each limit.
    said: [[Said; UNITS.len()]; SCOPES.len()],
    /// The number of calls that were refused since the user spoke.
    refused: u8,
}

/// What was said about a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Said {
    #[default]
    Nothing,
    Near,
    Reached,
    /// A person was asked, and decides from here on.
    Asked,
}

impl Account {
    /// Opens an account for a budget.
    pub fn of(budget: Budget) -> Self {
        Self { budget, ..Self::default() }
    }

    /// Returns a restored account under this budget. What was spent stays spent.
    #[must_use]
    pub fn under(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Returns a restored account of a guard with this budget.
    pub(crate) fn restored(saved: Option<Box<Self>>, budget: Option<Budget>) -> Option<Box<Self>> {
        saved.zip(budget).map(|(account, budget)| Box::new(account.under(budget)))
    }

    /// Adds what was spent.
    pub fn spend(&mut self, spent: &Spent) {
        for total in &mut self.spent {
            *total += *spent;
        }
    }

    /// Sets what others have spent of the same session and of the same day.
    pub fn set_others(&mut self, session: Spent, day: Spent) {
        self.others = [Spent::default(), session, day];
    }

    /// Returns what this agent has spent in the session.
    pub fn spent(&self) -> Spent {
        self.spent[SESSION]
    }

    /// Returns what this agent has spent on the day of the time `now`, since 1970 in UTC.
    pub fn spent_on_day(&self, now: Duration) -> Spent {
        if day(now) == self.today { self.spent[DAY] } else { Spent::default() }
    }

    /// Tells the time since 1970 in UTC. The time since the latest call of this function is spent, unless the user
    /// has spoken in between.
    pub fn tell_time(&mut self, now: Duration) {
        if day(now) != self.today {
            self.today = day(now);
            self.clear(DAY);
        }
        let before = self.latest.replace(now).unwrap_or(now);
        let time = now.saturating_sub(before);
        self.spend(&Spent { time, ..Spent::default() });
    }

    /// Notes that the user has spoken: the agent did not work until now. A new message begins a turn.
    pub fn user_spoke(&mut self, is_new: bool) {
        self.latest = None;
        if is_new {
            self.clear(TURN);
            self.refused = 0;
        }
    }

    /// Begins a scope anew.
    fn clear(&mut self, scope: usize) {
        self.spent[scope] = Spent::default();
        self.said[scope] = Default::default();
    }

    fn shares(&self) -> impl Iterator<Item = Share> + use<> {
        let mut spent = self.spent;
        for (total, others) in spent.iter_mut().zip(self.others) {
            *total += others;
        }
        self.budget.shares(spent)
    }

    /// Returns the note for the model, if 80 % or all of a limit are spent and that was not said yet.
    pub fn note(&mut self) -> Option<String> {
        let (mut text, mut loudest) = (String::new(), Said::Nothing);
        for share in self.shares().filter(Share::is_near) {
            let say = if share.is_reached() { Said::Reached } else { Said::Near };
            let said = self.said_of(&share);
            if *said < say {
                *said = say;
                loudest = loudest.max(say);
                // Writing to a string cannot fail.
                let _ = write!(text, "{share} are spent. ");
            }
        }
        let advice = match (loudest, self.budget.at_limit) {
            (Said::Nothing, _) => return None,
            (Said::Near | Said::Asked, _) => "Finish what matters, or say what is missing.",
            (Said::Reached, AtLimit::Note) => {
                "Come to an end: say what is done and what is missing."
            }
            (Said::Reached, AtLimit::Ask) => {
                "The user is asked about the next call: say what is done and what is missing."
            }
            (Said::Reached, AtLimit::Refuse) => {
                "Further calls are refused: say what is done and what is missing."
            }
        };
        Some(text + advice)
    }

    /// Returns the limit because of which no call may run now. The user is to be asked, or the call is refused:
    /// see [`AtLimit`].
    pub fn reached(&self) -> Option<Share> {
        let is_open = |share: &Share| self.said[share.place.0][share.place.1] < Said::Asked;
        let binds = self.budget.at_limit != AtLimit::Note;
        self.shares().find(|share| binds && share.is_reached() && is_open(share))
    }

    /// Notes that a person was asked about this limit. It refuses no call any more.
    pub fn asked(&mut self, share: &Share) {
        *self.said_of(share) = Said::Asked;
    }

    /// Notes that a call is refused. Returns whether the run ends with it, because the model insists: it is the
    /// [fifth](crate::BLOCKS_MAX) since the user has said something new.
    pub fn refuse(&mut self) -> bool {
        self.refused = self.refused.saturating_add(1);
        self.refused >= BLOCKS_MAX
    }

    fn said_of(&mut self, share: &Share) -> &mut Said {
        &mut self.said[share.place.0][share.place.1]
    }
}
