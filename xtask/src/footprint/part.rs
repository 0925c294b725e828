//! One column of the tables: figures of one kind, from one machine.

use crate::step::Outcome;
use crate::target::Target;

/// What kind of figure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    /// Bytes of values.
    Memory,
    /// Bytes of code and constants in linked programs.
    Code,
    /// Symbols in linked programs that must not be there.
    Symbols,
    /// Bytes of stack.
    Stack,
    /// Instructions that are executed.
    Instructions,
}

impl Section {
    /// Every section, in the order of the tables.
    pub(crate) const ALL: [Self; 5] =
        [Self::Memory, Self::Code, Self::Symbols, Self::Stack, Self::Instructions];

    /// The section's one spelling, wherever it is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Code => "code",
            Self::Symbols => "symbols",
            Self::Stack => "stack",
            Self::Instructions => "instructions",
        }
    }

    /// What its figures are.
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

/// The machine that runs this.
pub(crate) const HOST: &str = "host";

/// Figures of one kind, from one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) section: Section,
    /// The machine: [`HOST`], or the name of a target.
    pub(crate) place: &'static str,
    /// Each thing with its amount, in the order of the table, or what is missing to measure them.
    pub(crate) found: Result<Vec<(String, u64)>, String>,
}

impl Part {
    /// The part for `outcome`, where it is that something is missing.
    ///
    /// # Errors
    ///
    /// If something failed.
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

    /// The amount of `what`, if it was measured.
    pub(crate) fn amount(&self, what: &str) -> Option<u64> {
        let rows = self.found.as_deref().unwrap_or_default();
        rows.iter().find(|(name, _)| name == what).map(|(_, amount)| *amount)
    }
}

/// The processor that sizes of values are taken from: they are the same on all of 32 bits.
pub(crate) const SIZES_OF: Target = Target::Thumbv7m;
