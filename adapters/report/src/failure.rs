//! The error of a writer.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io::{self, ErrorKind};

/// The reason why a writer cannot write its report, in an [`io::Error`].
#[derive(Debug)]
pub struct Failure {
    /// The file or the option that it is about.
    pub about: String,
    /// The mistake, or the cause of the failure.
    pub why: String,
    /// Lines that help to do better, with the styles of a terminal. May be empty.
    pub help: String,
}

impl Failure {
    /// Returns the error that something is wrong with the file `about`.
    pub fn error(about: &str, why: String) -> io::Error {
        io::Error::other(Self { about: about.to_owned(), why, help: String::new() })
    }

    /// Returns the error that nothing fits the option `about`.
    pub(crate) fn refusal(about: &str, why: &str, help: String) -> io::Error {
        let failure = Self { about: about.to_owned(), why: why.to_owned(), help };
        io::Error::new(ErrorKind::InvalidInput, failure)
    }

    /// Returns the failure in `error`, if it has one.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.about, self.why)
    }
}

impl Error for Failure {}
