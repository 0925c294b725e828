//! Starting over: undoing the work of a run that no message gets out of its loop.

mod git;

use std::error::Error;
use std::fmt;

use unstuck_core::Action;

pub use git::{GitError, GitWorkTree, SavedState, WentBack};

use crate::decision::End;
use crate::decision::{Evidence, Message};
use crate::wording::Wording;

/// Puts the world that an agent acts on back to where the run began.
///
/// A verdict of [`Action::StartOver`] means that no weaker action will help. Only the host knows how to
/// undo the work: for work trees of git there is [`GitWorkTree`]; for everything else (a database, a
/// virtual machine, a document) a closure will do.
///
/// An implementation saves the work before it undoes it, and names the place: a detector may be wrong, and
/// a person will want to look.
///
/// ```
/// use unstuck::{Recovery, RecoveryError, Undone};
///
/// let mut steps = vec!["opened the door", "fell into the pit"];
/// let mut kept = Vec::new();
/// let mut recovery = || -> Result<Undone, RecoveryError> {
///     kept.append(&mut steps);
///     Ok(Undone::new("You stand before the door again.").kept_under("the journal"))
/// };
/// let message = recovery.start_over()?.message();
/// assert!(message.starts_with("You stand before the door again. What you did is kept"));
/// # Ok::<(), RecoveryError>(())
/// ```
pub trait Recovery {
    /// Saves the work since the run began, undoes it, and returns a description of it.
    ///
    /// # Errors
    ///
    /// If the work cannot be saved or cannot be undone. No work may be lost then.
    fn start_over(&mut self) -> Result<Undone, RecoveryError>;
}

impl<F: FnMut() -> Result<Undone, RecoveryError>> Recovery for F {
    fn start_over(&mut self) -> Result<Undone, RecoveryError> {
        self()
    }
}

/// A description of the undone work, in words for the model.
///
/// ```
/// use unstuck::Undone;
///
/// let undone = Undone::new("The table is empty again.").kept_under("backup 3");
/// assert!(undone.message().starts_with("The table is empty again. What you did is kept under backup 3"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    what: String,
    kept: Option<String>,
}

impl Undone {
    /// Creates the description: whole sentences that address the model.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), kept: None }
    }

    /// Names the place where the undone work is saved.
    #[must_use]
    pub fn kept_under(mut self, place: impl Into<String>) -> Self {
        self.kept = Some(place.into());
        self
    }

    /// Returns the description.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Returns the place where the undone work is saved, if it has one.
    pub fn kept(&self) -> Option<&str> {
        self.kept.as_deref()
    }

    /// Returns the message for the model: what was undone, and the advice to take another approach. It
    /// names neither files nor anything else that the model wrote.
    pub fn message(&self) -> String {
        format!(
            "{} You were going in circles: take another approach than the one that led \
             there, or say what blocks you.",
            self.facts()
        )
    }

    /// Returns the same message, with the loop that led there: which call it was, and how often it was
    /// made.
    pub fn message_about(&self, evidence: &Evidence) -> String {
        let evidence = Evidence { action: Action::StartOver, ..evidence.clone() };
        let reason = Message::of(&evidence, End::Possible, Wording::Named);
        format!("{reason} {} If you see no other approach, say what blocks you.", self.facts())
    }

    fn facts(&self) -> String {
        let kept = self.kept.as_deref().map_or_else(String::new, |place| {
            format!(" What you did is kept under {place}; do not bring it back.")
        });
        format!("{}{kept}", self.what)
    }
}

/// The reason why it was not possible to start over.
#[derive(Debug)]
pub struct RecoveryError(Box<dyn Error + Send + Sync>);

impl RecoveryError {
    /// Creates the error from another error or from words.
    pub fn new(why: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for RecoveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot start over: {}", self.0)
    }
}

impl Error for RecoveryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_is_undone_where_it_is_kept_and_what_to_do() {
        let undone = Undone::new("The table is empty again.");
        assert_eq!(
            undone.message(),
            "The table is empty again. You were going in circles: take another approach than the \
             one that led there, or say what blocks you."
        );
        let undone = undone.kept_under("backup 3");
        assert_eq!((undone.what(), undone.kept()), ("The table is empty again.", Some("backup 3")));
        assert_eq!(
            undone.message(),
            "The table is empty again. What you did is kept under backup 3; do not bring it back. \
             You were going in circles: take another approach than the one that led there, or say \
             what blocks you."
        );
    }

    #[test]
    fn a_closure_is_a_recovery_and_an_error_keeps_its_cause() {
        let mut asked = 0;
        let mut recovery = || {
            asked += 1;
            Err(RecoveryError::new("the tape is full"))
        };
        let error = recovery.start_over().expect_err("a full tape");
        assert_eq!(error.to_string(), "cannot start over: the tape is full");
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("the tape is full"));
        assert_eq!(asked, 1);
    }
}
