//! The output formats of `scan`, one writer each.

use crate::exit::Exit;
use crate::output::{Closed, Output, Reader};
use crate::scan::human::{Human, View};
use crate::scan::kept::Needs;
use crate::scan::machine::{Document, Lines};
use crate::scan::report::{Report, Tally};
use crate::scan::targets::OutputFormat;

/// Writes the reports of a scan in one format.
pub(super) trait Writer {
    /// Takes in the report on an input, in the order of the inputs.
    fn report(&mut self, report: &mut Report, output: &mut Output) -> Result<(), Closed>;

    /// Takes in an input that could not be read at all.
    fn unread(&mut self, _path: &str, _why: &str) {}

    /// Writes the end, after the last report. Returns the exit code of a failure that it printed.
    fn finish(&mut self, tally: &Tally, output: &mut Output) -> Result<Exit, Closed>;
}

impl OutputFormat {
    /// Returns the reader that the format is made for.
    pub(super) fn reader(self) -> Reader {
        match self {
            Self::Human => Reader::Person,
            Self::Json | Self::Jsonl => Reader::Program,
        }
    }

    /// Returns the parts of the findings that the format shows.
    pub(super) fn needs(self) -> Needs {
        match self {
            Self::Human => Needs { loops: Human::LOOPS_MAX, ..Needs::default() },
            Self::Json | Self::Jsonl => Needs { lines: true, ..Needs::default() },
        }
    }

    pub(super) fn writer(self, view: View) -> Box<dyn Writer> {
        match self {
            Self::Human => Box::new(Human::new(view)),
            Self::Json => Box::new(Document::default()),
            Self::Jsonl => Box::new(Lines),
        }
    }
}
