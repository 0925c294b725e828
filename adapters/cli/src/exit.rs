//! Exit codes, each with one meaning.

use std::process::ExitCode;

/// The result of a run of the program. If there are several, the largest is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Nothing was found at `--fail-on` or above.
    Clean,
    /// A finding at `--fail-on` or above.
    Found,
    /// An input could not be read, at least in part. The others were.
    Input,
    /// The setup is wrong: a bad configuration, or an output that cannot be written.
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
