//! The budgets: the most that each thing may take, recorded in the repository and shown in the documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use serde::Deserialize;

use super::{Column, Section, compiler, grouped, short};
use crate::machine;
use crate::step::{Done, failed};
use crate::toolchain::EMULATED;

/// The file of budgets.
const FILE: &str = "benches/bare/budgets.toml";

/// The first lines of the file.
const HEAD: &str = "\
# Budgets of memory, code, stack and instructions. `cargo xtask test footprint` fails if a figure
# exceeds its budget, or is so far below it that the budget says nothing. With another compiler than
# the one named here, the step only prints its figures. Written by `cargo xtask footprint --record`,
# which adds a little room to each figure. The table of sizes in the documentation is made from it.

# the compiler that the programs were built with
[compiler]
";

/// The file that shows budgets, and the lines before and after its table.
const README: &str = "core/README.md";
const BEGIN: &str = "<!-- footprint: written by `cargo xtask footprint --record` -->\n";
const END: &str = "<!-- footprint ends -->\n";

/// The columns of that table: the name of a processor, and its target.
const COLUMNS: [(&str, &str); 4] = [
    ("Cortex-M0", "thumbv6m-none-eabi"),
    ("Cortex-M3", "thumbv7m-none-eabi"),
    ("Cortex-M4", "thumbv7em-none-eabi"),
    ("ESP32-C3", "riscv32imc-unknown-none-elf"),
];

/// The rows of that table: a title, and the budget that the row shows.
const ROWS: [(&str, Section, &str); 18] = [
    ("code of the engine", Section::Code, "engine"),
    ("… with JSON fingerprints", Section::Code, "engine, JSON"),
    ("… with JSON and masked results", Section::Code, "engine, JSON, masked results"),
    ("… with the default recipe", Section::Code, "engine, recipe"),
    ("… with the default recipe and similar calls", Section::Code, "engine, recipe, groups"),
    ("code of the README's program, in total", Section::Code, "the README's program"),
    ("text of nudges, in addition", Section::Code, "nudge text adds"),
    ("`save` and `restore`, in addition", Section::Code, "save and restore add"),
    ("`Detector<20>`", Section::Memory, "Detector<20>"),
    ("`Detector<20>` and `SimilarCalls`", Section::Memory, "Detector<20> and SimilarCalls"),
    ("`Worker<20>`, the memory of the README's program", Section::Memory, "Worker<20>"),
    ("stack of `announce` and `outcome`", Section::Stack, "announce: eight open calls settle"),
    (
        "… of `progress`, `retry`, `silence` and `false_positive`",
        Section::Stack,
        "progress, retry, silence, false_positive",
    ),
    ("… of `peek`", Section::Stack, "peek"),
    ("… of a call with the default recipe", Section::Stack, "call by the default recipe"),
    ("… of `save`", Section::Stack, "save"),
    ("… of `restore`", Section::Stack, "restore"),
    ("instructions of a new call", Section::Instructions, "a new call"),
];

/// The budgets of all figures.
#[derive(Debug, Deserialize)]
pub(super) struct Budgets {
    /// The compiler of each machine's programs. Another compiler gives other code sizes.
    #[serde(rename = "compiler")]
    pub(super) compilers: BTreeMap<String, String>,
    /// The budget of each kind of figure, on each machine, of each thing.
    #[serde(flatten)]
    figures: BTreeMap<Section, BTreeMap<String, BTreeMap<String, u64>>>,
}

/// Makes `columns` the budgets, and updates the table in the documentation.
pub(super) fn record(columns: &[Column<'_>]) -> Done {
    let mut budgets = Budgets::read()?;
    budgets.record(columns);
    fs::write(machine::root().join(FILE), budgets.text())?;
    let readme = machine::root().join(README);
    Ok(fs::write(&readme, updated(&fs::read_to_string(&readme)?, &budgets)?)?)
}

impl Budgets {
    /// Reads the file that [`Budgets::text`] writes.
    pub(super) fn read() -> Done<Self> {
        let text = fs::read_to_string(machine::root().join(FILE))?;
        toml::from_str(&text).or_else(|error| failed(format!("{FILE}: {error}")))
    }

    /// Returns the text of the file.
    fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        // Writing to a `String` cannot fail.
        for (place, compiler) in &self.compilers {
            let _ = writeln!(text, "\"{place}\" = \"{compiler}\"");
        }
        for (section, places) in &self.figures {
            let (name, about) = section.words();
            for (place, budgets) in places {
                let _ = write!(text, "\n# {about}\n[{name}.{place}]\n");
                for (what, budget) in budgets {
                    let _ = writeln!(text, "\"{what}\" = {budget}");
                }
            }
        }
        text
    }

    /// Takes the figures, with a little room, for new budgets. The budgets of other columns stay.
    fn record(&mut self, columns: &[Column<'_>]) {
        for Column { section, place, rows } in columns {
            let budget = |amount: u64| amount + room(*section, amount);
            let budgets = rows.iter().map(|(what, amount)| (what.clone(), budget(*amount)));
            let places = self.figures.entry(*section).or_default();
            places.insert((*place).to_owned(), budgets.collect());
            self.compilers.extend(compiler(place).map(|compiler| ((*place).to_owned(), compiler)));
        }
    }

    /// Returns every disagreement between figures and budgets of these machines.
    pub(super) fn misses(&self, columns: &[Column<'_>], places: &BTreeSet<&str>) -> Vec<String> {
        let mut all = BTreeMap::<_, (Option<u64>, Option<u64>)>::new();
        for Column { section, place, rows } in columns {
            for (what, amount) in rows {
                all.entry((*section, *place, what)).or_default().0 = Some(*amount);
            }
        }
        for (section, places) in &self.figures {
            for (place, budgets) in places {
                for (what, budget) in budgets {
                    all.entry((*section, place, what)).or_default().1 = Some(*budget);
                }
            }
        }
        let compared = all.into_iter().filter(|((_, place, _), _)| places.contains(place));
        let miss = |((section, place, what), (amount, budget))| {
            let why = why(section, amount, budget)?;
            let (name, place) = (section.words().0, short(place));
            Some(format!("{name}, {place}: `{what}` {why} by `cargo xtask footprint --record`"))
        };
        compared.filter_map(miss).collect()
    }
}

/// Returns the room that a recorded budget leaves above `amount`. Sizes of values are exact; code size
/// differs a little between compiler releases.
fn room(section: Section, amount: u64) -> u64 {
    let (percent, least) = match section {
        Section::Memory | Section::Symbols => (0, 0),
        Section::Code => (2, 16),
        Section::Stack => (5, 16),
        Section::Instructions => (5, 4),
    };
    (amount * percent).div_ceil(100).max(least)
}

/// Describes the disagreement between a figure and its budget, if there is one.
fn why(section: Section, amount: Option<u64>, budget: Option<u64>) -> Option<String> {
    // The most room that a budget may leave.
    let most = |amount: u64| match section {
        Section::Memory | Section::Symbols => 0,
        _ => (amount / 10).max(4 * room(section, 0)),
    };
    let (found, limit) = (amount.map(grouped), budget.map(grouped));
    let (found, limit) = (found.unwrap_or_default(), limit.unwrap_or_default());
    match (amount, budget) {
        (Some(amount), Some(budget)) if amount > budget => {
            Some(format!("takes {found}, its budget is {limit}: make it less, or agree to more"))
        }
        (Some(amount), Some(budget)) if budget - amount > most(amount) => {
            Some(format!("takes {found}, its budget of {limit} is far from that: tighten it"))
        }
        (Some(_), None) => Some(format!("takes {found} and has no budget: give it one")),
        (None, Some(_)) => Some(format!("has a budget of {limit} and is not measured: forget it")),
        _ => None,
    }
}

/// Replaces the table in the documentation.
fn updated(readme: &str, budgets: &Budgets) -> Done<String> {
    let parts =
        readme.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?)));
    let Some((head, (_, tail))) = parts else {
        return failed(format!("{README}: the table of sizes stands between {BEGIN}and {END}"));
    };
    let names = COLUMNS.map(|(name, _)| name).join(" | ");
    let mut table = format!("| at most | {names} |\n{}|\n", "|---".repeat(1 + COLUMNS.len()));
    for (name, section, what) in ROWS {
        let budget = |(_, place)| {
            // Values have the same size on all 32-bit machines.
            let place = if section == Section::Memory { EMULATED } else { place };
            let budgets = budgets.figures.get(&section).and_then(|places| places.get(place));
            let budget = budgets.and_then(|budgets| budgets.get(what));
            budget.copied().map_or_else(String::new, grouped)
        };
        // Writing to a `String` cannot fail.
        let _ = writeln!(table, "| {name} | {} |", COLUMNS.map(budget).join(" | "));
    }
    Ok(format!("{head}{BEGIN}{table}{END}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_compared_with_its_budget() {
        for (section, amount, budget, expected) in [
            (Section::Memory, 1024, 1024, ""),
            (Section::Memory, 1025, 1024, "takes 1,025, its budget is 1,024"),
            (Section::Memory, 1023, 1024, "takes 1,023, its budget of 1,024 is far"),
            (Section::Symbols, 0, 0, ""),
            (Section::Symbols, 1, 0, "takes 1, its budget is 0"),
            (Section::Symbols, 7, 8, "takes 7, its budget of 8 is far"),
            (Section::Code, 6144, 6144, ""),
            (Section::Code, 6145, 6144, "takes 6,145, its budget is 6,144"),
            (Section::Code, 6000, 6600, ""),
            (Section::Code, 6000, 6601, "takes 6,000, its budget of 6,601 is far"),
            (Section::Stack, 48, 112, ""),
            (Section::Stack, 48, 113, "takes 48, its budget of 113 is far"),
        ] {
            let why = why(section, Some(amount), Some(budget)).unwrap_or_default();
            assert!(why.starts_with(expected), "{why}");
            assert_eq!(why.is_empty(), expected.is_empty(), "{why}");
        }
    }

    #[test]
    fn the_file_and_the_table_of_the_repository_are_as_they_would_be_written() {
        let read = |file| fs::read_to_string(machine::root().join(file)).expect(file);
        let budgets = Budgets::read().expect("the budgets");
        assert_eq!(budgets.text(), read(FILE));
        let readme = read(README);
        assert_eq!(updated(&readme, &budgets), Ok(readme), "run `cargo xtask footprint --record`");
    }
}
