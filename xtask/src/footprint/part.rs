//! One column of the tables: figures of one kind, from one machine.

use crate::step::Outcome;
use crate::target::Target;

/// A kind of figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    /// Sizes of values, in bytes.
    Memory,
    /// Code and constants of linked programs, in bytes.
    Code,
    /// Forbidden symbols in linked programs.
    Symbols,
    /// Stack, in bytes.
    Stack,
    /// Executed instructions.
    Instructions,
}

impl Section {
    /// Every section, in the order of the tables.
    pub(crate) const ALL: [Self; 5] =
        [Self::Memory, Self::Code, Self::Symbols, Self::Stack, Self::Instructions];

    /// Returns the section's name in files and output.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Code => "code",
            Self::Symbols => "symbols",
            Self::Stack => "stack",
            Self::Instructions => "instructions",
        }
    }

    /// Returns a description of the figures.
    pub(crate) const fn about(self) -> &'static str {
        match self {
            Self::Memory => "bytes of a value, by `size_of`",
            Self::Code => {
                "bytes of code and constants: opt-level \"s\", LTO, without what an empty program has"
            }
            Self::Symbols => "symbols of panics and allocators in those programs",
            Self::Stack => "bytes of stack of an event, at the most of all that are tried",
            Self::Instructions => "instructions of a call and its outcome, on average",
        }
    }
}

/// The name of this machine.
pub(crate) const HOST: &str = "host";

/// Figures of one kind, from one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) section: Section,
    /// The machine: [`HOST`], or the name of a target.
    pub(crate) place: &'static str,
    /// Each thing with its amount, in the order of the table; or the tool that is missing to measure
    /// them.
    pub(crate) found: Result<Vec<(String, u64)>, String>,
}

impl Part {
    /// Returns a part without figures, if `outcome` says that a tool is missing.
    ///
    /// # Errors
    ///
    /// If the step failed for another reason.
    pub(crate) fn without(
        section: Section,
        place: &'static str,
        outcome: &Outcome,
    ) -> Result<Self, String> {
        match outcome {
            Outcome::LeftOut(why) => Ok(Self { section, place, found: Err(why.clone()) }),
            Outcome::Failed(why) => Err(why.clone()),
            Outcome::Passed => Err(format!("nothing was measured on {place}")),
        }
    }

    /// Returns the amount of `what`, if it was measured.
    pub(crate) fn amount(&self, what: &str) -> Option<u64> {
        let rows = self.found.as_deref().unwrap_or_default();
        rows.iter().find(|(name, _)| name == what).map(|(_, amount)| *amount)
    }
}

/// The processor for sizes of values. They are the same on all 32-bit processors.
pub(crate) const SIZES_OF: Target = Target::Thumbv7m;
