//! Measures the code size of each part of the engine on a microcontroller, and finds forbidden symbols.

use std::path::Path;

use super::memory;
use super::part::{Part, SIZES_OF, Section};
use crate::machine::Machine;
use crate::microcontroller::{LINKED, link};
use crate::symbols::Program;
use crate::target::Target;

/// A linked program whose size is a row of the table.
struct LinkedProgram {
    /// The name of the row.
    what: &'static str,
    /// The exact contents of the program, for the legend.
    holds: &'static str,
    /// The name of the program.
    name: &'static str,
    /// The program whose size is subtracted.
    without: &'static str,
}

/// The program without contents.
const EMPTY: &str = "empty";

/// The program that holds the sizes of values.
const SIZES: &str = "sizes";

/// The rows of the table.
const PROGRAMS: [LinkedProgram; 9] = [
    LinkedProgram {
        what: "engine",
        holds: "`Detector::<20>::new(&BALANCED)`, `announce`, `outcome`, with digests of the host",
        name: "engine",
        without: EMPTY,
    },
    LinkedProgram {
        what: "JSON alone",
        holds: "`fingerprint` of raw arguments, no engine",
        name: "fingerprint",
        without: EMPTY,
    },
    LinkedProgram {
        what: "engine, JSON",
        holds: "the engine, and `fingerprint` for its call",
        name: "json",
        without: EMPTY,
    },
    LinkedProgram {
        what: "engine, JSON, masked results",
        holds: "the same, and `Masks::ALL.digest` for its outcome",
        name: "masked",
        without: EMPTY,
    },
    LinkedProgram {
        what: "engine, recipe",
        holds: "the engine, `Recipe::BALANCED.call` and `.outcome`: also kinds of tools, and failures \
                read from results",
        name: "recipe",
        without: EMPTY,
    },
    LinkedProgram {
        what: "engine, recipe, groups",
        holds: "the same with `call_among`: also calls that are nearly alike",
        name: "groups",
        without: EMPTY,
    },
    LinkedProgram {
        what: "the README's program",
        holds: "a `Worker<20>` with the default preset, and the text of nudges",
        name: "readme",
        without: EMPTY,
    },
    LinkedProgram {
        what: "nudge text adds",
        holds: "`Finding::nudge`, written into a `fmt::Write` of the host; the engine taken off",
        name: "nudge",
        without: "engine",
    },
    LinkedProgram {
        what: "save and restore add",
        holds: "`Detector::save` and `restore`; the engine taken off",
        name: "checkpoint",
        without: "engine",
    },
];

/// Returns the legend: a line for each row, with the exact contents of its program.
pub(super) fn legend() -> String {
    let line = |row: &LinkedProgram| format!("  {:<30} {}\n", row.what, row.holds);
    PROGRAMS.iter().map(line).collect()
}

/// Measures the code for `target`, and lists its forbidden symbols.
///
/// # Errors
///
/// If the programs cannot be linked or read, except because a tool is missing.
pub(super) fn parts(target: Target, machine: Machine) -> Result<Vec<Part>, String> {
    let place = target.name();
    let mut sections = vec![Section::Code, Section::Symbols];
    sections.extend((target == SIZES_OF).then_some(Section::Memory));
    match link(LINKED, target, machine) {
        Ok(folder) => sections.into_iter().map(|section| part(section, place, &folder)).collect(),
        Err(outcome) => {
            sections.into_iter().map(|section| Part::without(section, place, &outcome)).collect()
        }
    }
}

/// Returns the figures of the programs in `folder`.
fn part(section: Section, place: &'static str, folder: &Path) -> Result<Part, String> {
    let found = match section {
        Section::Memory => memory::read(&folder.join(SIZES)),
        Section::Code => each(|row| {
            let (with, without) = (read(folder, row.name)?, read(folder, row.without)?);
            Ok(with.size().saturating_sub(without.size()))
        }),
        _ => each(|row| {
            let program = read(folder, row.name)?;
            for (flaw, symbol) in program.flaws() {
                eprintln!("{place}, {}: `{symbol}` {flaw}", row.what);
            }
            Ok(program.flaws().len() as u64)
        }),
    };
    Ok(Part { section, place, found: Ok(found?) })
}

/// Returns each row with its amount.
fn each(
    amount: impl Fn(&LinkedProgram) -> Result<u64, String>,
) -> Result<Vec<(String, u64)>, String> {
    PROGRAMS.iter().map(|row| Ok((row.what.to_owned(), amount(row)?))).collect()
}

fn read(folder: &Path, name: &str) -> Result<Program, String> {
    Program::read(&folder.join(name)).map_err(|error| error.to_string())
}
