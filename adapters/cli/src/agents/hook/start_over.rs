//! Starting over in a hook, if the user has said so: `install --start-over`.
//!
//! The first prompt of a session begins a run of `unstuck start-over` in the work tree of git. At a rung to start over,
//! the present state is saved, and the next call finds the tree as it was then. Nothing is lost: the refusal of that call
//! tells the person how to bring the work back.

use std::path::PathBuf;

use unstuck::{Action, Evidence, GitError, GitWorkTree, Ruling, SIGN, START_OVERS_MAX, Undone};
use unstuck_core::Digest;

use crate::agents::event::Event;
use crate::agents::reply::{Reply, Words};
use crate::agents::state::Key;

/// The run of a session.
#[derive(Clone)]
pub(super) struct StartOver {
    folder: PathBuf,
    run: String,
}

impl StartOver {
    /// Returns the run of the session, or `None` for a subagent: others work in the same tree.
    pub(super) fn of(event: &Event<'_>, key: &Key<'_>) -> Option<Self> {
        let folder = event.cwd.as_deref().filter(|_| event.subagent.is_none())?.into();
        let session = Digest::of(format!("{} {}", key.agent.name(), key.session).as_bytes());
        Some(Self { folder, run: format!("session-{:016x}", session.bits()) })
    }

    /// Saves the start of the session, unless it was saved before.
    pub(super) fn begin(&self) -> Result<(), GitError> {
        match GitWorkTree::begin(&self.folder, &self.run) {
            Ok(_) | Err(GitError::AlreadyBegun { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Stops the run instead if there is no way back, or if it was gone too often.
    pub(super) fn ruling(&self, evidence: &Evidence) -> Ruling {
        if evidence.action == Action::StartOver && !self.is_possible() {
            return Ruling::Instead(Action::Stop);
        }
        Ruling::Agree
    }

    fn is_possible(&self) -> bool {
        let saved = GitWorkTree::list(&self.folder).unwrap_or_default();
        let own = saved.iter().filter(|one| one.run == self.run && one.is_here);
        let (mut begun, mut times) = (false, 0);
        for one in own {
            match one.number {
                None => begun = true,
                Some(_) => times += 1,
            }
        }
        begun && times < START_OVERS_MAX
    }

    /// Goes back to the start of the session. Returns the refusal of the call that was about to run. `what` is what was
    /// found, for the person.
    pub(super) fn now(&self, what: &str) -> Reply {
        let went =
            GitWorkTree::open(&self.folder, Some(&self.run)).and_then(|mut tree| tree.start_over());
        let went = match went {
            Ok(went) => went,
            Err(error) => {
                let model = format!("{SIGN} This call was not run. Tell the user what blocks you.");
                let person =
                    format!("{SIGN} Ended the turn: {what}. It could not start over: {error}");
                return Reply::Stop(Words { model, person });
            }
        };
        let (run, number, reference) = (&went.run, went.number, &went.reference);
        let person = format!(
            "{SIGN} Started over: {what}. The work is saved under {reference}; to bring it back: \
             unstuck start-over restore {number} --run {run}"
        );
        let model =
            format!("{SIGN} This call was not run. {}", Undone::from(went.clone()).message());
        Reply::Refuse(Words { model, person })
    }
}
