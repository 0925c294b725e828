//! Exit codes, each with one meaning.

use std::process::ExitCode;

/// The result of a run of the program. If there are several, the last one in this order is reported: a
/// finding is not hidden by a file beside it that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Nothing was found at `--fail-on` or above.
    Clean,
    /// An input could not be read, at least in part. The others were.
    Input,
    /// A finding at `--fail-on` or above.
    Found,
    /// The setup is wrong: a bad configuration, or an output that cannot be written.
    Setup,
    /// The command line is wrong.
    Usage,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Input => 3,
            Exit::Found => 1,
            Exit::Setup => 4,
            Exit::Usage => 64,
        })
    }
}
