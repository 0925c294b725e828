//! Exit codes, each with one meaning.

use std::process::ExitCode;

/// How a run of the program ended. The larger of two is the one to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Nothing was found at `--fail-on` or above.
    Clean,
    /// Something was.
    Found,
    /// An input could not be read, or not wholly; the others were.
    Input,
    /// What the caller set up is wrong: a configuration is bad, or the output cannot be written.
    Setup,
    /// The command line is wrong.
    Usage,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Found => 1,
            Exit::Input => 3,
            Exit::Setup => 4,
            Exit::Usage => 64,
        })
    }
}
