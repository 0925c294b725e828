//! What a worker spends of the budget in the policy file.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use unstuck::{Account, AtLimit, Budget, Limits, Spent};
use unstuck_report::cost::Prices;

use crate::agents::event::Event;
use crate::agents::host::Host;
use crate::agents::reply::Reply;
use crate::agents::state::{Folder, Key, StateFile, Trouble};
use crate::agents::transcript::Answers;

/// What a worker has spent, and its file.
pub(super) struct Spending {
    file: StateFile,
    saved: SavedSpending,
    at_limit: AtLimit,
    /// Whether a limit is about tokens or dollars.
    has_tokens: bool,
    prices: Prices,
}

/// The line of the log for a file that cannot be read.
const LOST: &str = "the budget is counted from zero: what was spent is in a file that is damaged or of another version";

/// The content of the file.
#[derive(Default, Serialize, Deserialize)]
struct SavedSpending {
    account: Account,
    answers: Answers,
}

impl Spending {
    /// Opens what a worker has spent, at the time `now` in milliseconds since 1970. If its agent cannot ask a person,
    /// calls at a limit are refused. A file that cannot be read counts as nothing spent, and
    /// `note` gets the line for the log.
    pub(super) fn open(
        folder: &Folder,
        key: &Key<'_>,
        budget: Budget,
        prices: &Prices,
        now: u64,
        note: impl FnOnce(&str),
    ) -> Result<Self, Trouble> {
        let at_limit = match budget.at_limit {
            AtLimit::Ask if !key.agent.host().can_ask() => AtLimit::Refuse,
            at_limit => at_limit,
        };
        let mut file = folder.open_spent(key)?;
        let saved = match file.read() {
            Err(Trouble::Damage(_)) => {
                note(LOST);
                None
            }
            read => read?,
        };
        let SavedSpending { account, answers } = saved.unwrap_or_default();
        let mut account = account.under(Budget { at_limit, ..budget });
        let of_day = budget.day != Limits::default();
        if of_day || budget.session != Limits::default() {
            let (session, day) = folder.spent_beside(key, of_day, Duration::from_millis(now));
            account.set_others(session, day);
        }
        let has_tokens = [budget.turn, budget.session, budget.day]
            .iter()
            .any(|limits| limits.tokens.is_some() || limits.dollars.is_some());
        let (saved, prices) = (SavedSpending { account, answers }, prices.clone());
        Ok(Self { file, saved, at_limit, has_tokens, prices })
    }

    /// Notes that the user has spoken.
    pub(super) fn user_spoke(&mut self, is_new: bool) {
        self.saved.account.user_spoke(is_new);
    }

    /// Tells the time of the event, in milliseconds since 1970.
    pub(super) fn tell_time(&mut self, now: u64) {
        self.saved.account.tell_time(Duration::from_millis(now));
    }

    /// Counts the tokens that are new in the transcript of the session, if a limit is about them. Subagents have
    /// transcripts of their own, which no event names.
    pub(super) fn read(&mut self, event: &Event<'_>, host: &Host) {
        let path =
            event.transcript.as_deref().filter(|_| self.has_tokens && event.subagent.is_none());
        if let Some(path) = path {
            let (tokens, dollars) = self.saved.answers.read_on(host, Path::new(path), &self.prices);
            self.saved.account.spend(&Spent { tokens, dollars, ..Spent::default() });
        }
    }

    /// Counts a call that is about to run. Returns its refusal, or a question about it, if nothing is left of a limit.
    /// `ends_turn` says whether an answer can end the turn.
    pub(super) fn before(&mut self, ends_turn: bool) -> Option<Reply> {
        let account = &mut self.saved.account;
        let reached = account.reached();
        if let Some(share) = reached.filter(|_| self.at_limit == AtLimit::Refuse) {
            let insists = account.refuse();
            return Some(Reply::over_budget(&share, insists && ends_turn));
        }
        account.spend(&Spent::CALL);
        reached.map(|share| {
            account.asked(&share);
            Reply::question_of_budget(&share)
        })
    }

    /// Adds the note of the budget, if one is due, to the reply to a call that has ended.
    pub(super) fn after(&mut self, reply: Reply) -> Reply {
        if !matches!(reply, Reply::Nothing | Reply::Tell(_)) {
            return reply;
        }
        match self.saved.account.note() {
            Some(note) => reply.with_note(&note),
            None => reply,
        }
    }

    /// Stores what was spent.
    pub(super) fn keep(&mut self) -> Result<(), Trouble> {
        self.file.write(&self.saved)
    }
}
