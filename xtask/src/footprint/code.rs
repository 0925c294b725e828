//! How much code each part of the engine is for a microcontroller, and what must not be in it.

use std::path::Path;

use super::memory;
use super::part::{Part, SIZES_OF, Section};
use crate::machine::Machine;
use crate::microcontroller::{LINKED, link};
use crate::symbols::Program;
use crate::target::Target;

/// A linked program whose size is a row of the table.
struct Row {
    /// What it is called there.
    what: &'static str,
    /// What is in it, for those who want to know exactly.
    holds: &'static str,
    /// The program.
    name: &'static str,
    /// The program whose size is taken off.
    without: &'static str,
}

/// The program with nothing in it.
const EMPTY: &str = "empty";

/// The program that says what values take.
const SIZES: &str = "sizes";

/// What is measured.
const ROWS: [Row; 8] = [
    Row {
        what: "engine",
        holds: "`Detector::<20>::new(&BALANCED)`, `announce`, `outcome`, with digests of the host",
        name: "engine",
        without: EMPTY,
    },
    Row {
        what: "JSON alone",
        holds: "`fingerprint` of raw arguments, no engine",
        name: "fingerprint",
        without: EMPTY,
    },
    Row {
        what: "engine, JSON",
        holds: "the engine, and `fingerprint` for its call",
        name: "json",
        without: EMPTY,
    },
    Row {
        what: "engine, JSON, masked results",
        holds: "the same, and `Masks::ALL.digest` for its outcome",
        name: "masked",
        without: EMPTY,
    },
    Row {
        what: "engine, recipe",
        holds: "the engine, `Recipe::BALANCED.call` and `.outcome`: also kinds of tools, and failures \
                read from results",
        name: "recipe",
        without: EMPTY,
    },
    Row {
        what: "engine, recipe, groups",
        holds: "the same with `call_among`: also calls that are nearly alike",
        name: "groups",
        without: EMPTY,
    },
    Row {
        what: "nudge text adds",
        holds: "`Finding::nudge`, written into a `fmt::Write` of the host; the engine taken off",
        name: "nudge",
        without: "engine",
    },
    Row {
        what: "save and restore add",
        holds: "`Detector::save` and `restore`; the engine taken off",
        name: "checkpoint",
        without: "engine",
    },
];

/// A line for each row: what exactly is in the program.
pub(super) fn legend() -> String {
    let line = |row: &Row| format!("  {:<30} {}\n", row.what, row.holds);
    ROWS.iter().map(line).collect()
}

/// The code for `target`, and the symbols in it that must not be there.
///
/// # Errors
///
/// If the programs are not linked, but for lack of a tool, or cannot be read.
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

/// The figures of the programs in `folder`.
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

/// Each row with its amount.
fn each(amount: impl Fn(&Row) -> Result<u64, String>) -> Result<Vec<(String, u64)>, String> {
    ROWS.iter().map(|row| Ok((row.what.to_owned(), amount(row)?))).collect()
}

fn read(folder: &Path, name: &str) -> Result<Program, String> {
    Program::read(&folder.join(name)).map_err(|error| error.to_string())
}
