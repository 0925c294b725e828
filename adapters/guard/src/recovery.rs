//! Starting over: what a host can undo when a run is too stuck to be talked out of it.

mod git;

use std::error::Error;
use std::fmt;

pub use git::{GitError, GitWorkTree, Kept, WentBack};

/// Puts the world that an agent acts on back to where the run began.
///
/// A verdict of [`Action::StartOver`](unstuck_core::Action::StartOver) says that nothing short of
/// that will help. What there is to undo only the host knows: for work trees of git there is
/// [`GitWorkTree`]; for everything else (a database, a virtual machine, a document) a closure
/// will do.
///
/// An implementation keeps what it undoes before it undoes it, and says so: a detector may be
/// wrong, and a person will want to look.
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
    /// Keeps what was done since the run began, undoes it, and says in words what that was.
    ///
    /// # Errors
    ///
    /// If it cannot be kept or cannot be undone, and then nothing may be lost.
    fn start_over(&mut self) -> Result<Undone, RecoveryError>;
}

impl<F: FnMut() -> Result<Undone, RecoveryError>> Recovery for F {
    fn start_over(&mut self) -> Result<Undone, RecoveryError> {
        self()
    }
}

/// What was undone, in words that the model can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    what: String,
    kept: Option<String>,
}

impl Undone {
    /// What was undone, as whole sentences that speak to the model.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), kept: None }
    }

    /// Names the place where everything that was undone is kept.
    #[must_use]
    pub fn kept_under(mut self, place: impl Into<String>) -> Self {
        self.kept = Some(place.into());
        self
    }

    /// What was undone.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Where it is kept, if it is.
    pub fn kept(&self) -> Option<&str> {
        self.kept.as_deref()
    }

    /// What to tell the model: what was undone, and to take another approach. It names neither
    /// files nor anything else that the model wrote.
    pub fn message(&self) -> String {
        let kept = self.kept.as_deref().map_or_else(String::new, |place| {
            format!(" What you did is kept under {place}; do not bring it back.")
        });
        format!(
            "{}{kept} You were going in circles: take another approach than the one that led \
             there, or say what blocks you.",
            self.what
        )
    }
}

/// Why it was not possible to start over.
#[derive(Debug)]
pub struct RecoveryError(Box<dyn Error + Send + Sync>);

impl RecoveryError {
    /// What went wrong, as an error or as words.
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
