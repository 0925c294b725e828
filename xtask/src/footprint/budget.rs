//! The budgets: the most that each thing may take, recorded in the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::fs;

use super::part::{Part, Section};
use super::table::{grouped, short};
use crate::machine;
use crate::target::Target;

/// The file of budgets.
const FILE: &str = "benches/bare/budgets.toml";

/// The first lines of the file.
const HEAD: &str = "\
# Budgets of memory, code, stack and instructions. `cargo xtask test footprint` fails if a figure
# exceeds its budget, or is so far below it that the budget says nothing. With another compiler than
# the one named here, the step only prints its figures. Written by `cargo xtask footprint --record`,
# which adds a little room to each figure. The table of sizes in the documentation is made from it.
";

/// The table of compilers.
const COMPILERS: &str = "compiler";

/// A kind of figure, and the machine that it is measured on.
type Column = (Section, String);

/// The budgets of all figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Budgets {
    columns: BTreeMap<Column, BTreeMap<String, u64>>,
    /// The compiler of each machine's programs. Another compiler gives other code sizes.
    compilers: BTreeMap<String, String>,
}

/// A figure and a budget that do not agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Miss {
    column: Column,
    what: String,
    why: Why,
}

/// The reason of a [`Miss`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// The figure exceeds its budget.
    Over { amount: u64, budget: u64 },
    /// The budget is so large that it no longer limits anything.
    Loose { amount: u64, budget: u64 },
    /// The figure has no budget.
    Unbudgeted { amount: u64 },
    /// The budget has no figure.
    Unmeasured { budget: u64 },
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column: (section, place), what, why } = self;
        write!(f, "{}, {}: `{what}` ", section.name(), short(place))?;
        match *why {
            Why::Over { amount, budget } => {
                let (amount, budget) = (grouped(amount), grouped(budget));
                write!(
                    f,
                    "takes {amount}, its budget is {budget}: make it less, or agree to more by"
                )
            }
            Why::Loose { amount, budget } => {
                let (amount, budget) = (grouped(amount), grouped(budget));
                write!(f, "takes {amount}, its budget of {budget} is far from that: tighten it by")
            }
            Why::Unbudgeted { amount } => {
                write!(f, "takes {} and has no budget: give it one by", grouped(amount))
            }
            Why::Unmeasured { budget } => {
                write!(f, "has a budget of {} and is not measured: forget it by", grouped(budget))
            }
        }?;
        f.write_str(" `cargo xtask footprint --record`")
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

/// Returns the most room that a budget may leave above `amount`.
fn room_max(section: Section, amount: u64) -> u64 {
    match section {
        Section::Memory | Section::Symbols => 0,
        _ => (amount / 10).max(4 * room(section, 0)),
    }
}

impl Budgets {
    /// Reads the recorded budgets.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or parsed.
    pub(super) fn read() -> Result<Self, String> {
        let named = |why: String| format!("{FILE}: {why}");
        let text = fs::read_to_string(machine::root().join(FILE));
        Self::parse(&text.map_err(|error| named(error.to_string()))?).map_err(named)
    }

    /// Parses the lines that [`Budgets::text`] writes: tables of quoted names with a number each, and
    /// one table of compilers.
    fn parse(text: &str) -> Result<Self, String> {
        let mut budgets = Self::default();
        let mut table = None;
        for (index, line) in text.lines().enumerate() {
            let wrong = || format!("line {}: `{line}` is no budget", index + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line.strip_prefix('[') {
                table = Some(Self::table(name.strip_suffix(']').ok_or_else(wrong)?)?);
                continue;
            }
            let (name, value) = line.split_once(" = ").ok_or_else(wrong)?;
            let name = unquoted(name).ok_or_else(wrong)?.to_owned();
            if let Some(column) = table.as_ref().ok_or_else(wrong)? {
                let budget = value.parse().map_err(|_| wrong())?;
                budgets.columns.entry(column.clone()).or_default().insert(name, budget);
            } else {
                let compiler = unquoted(value).ok_or_else(wrong)?.to_owned();
                budgets.compilers.insert(name, compiler);
            }
        }
        Ok(budgets)
    }

    /// Returns the column that a table heading names, or `None` for the table of compilers.
    fn table(name: &str) -> Result<Option<Column>, String> {
        if name == COMPILERS {
            return Ok(None);
        }
        let (section, place) = name.split_once('.').unwrap_or((name, ""));
        let found = Section::ALL.into_iter().find(|known| known.name() == section);
        let section = found.ok_or_else(|| format!("there is no section `{section}`"))?;
        Ok(Some((section, place.to_owned())))
    }

    /// Records the compiler of the programs that were measured at `place`.
    pub(super) fn record_compiler(&mut self, place: &str, compiler: String) {
        self.compilers.insert(place.to_owned(), compiler);
    }

    /// Returns the compiler that the budgets of `place` were recorded with.
    pub(super) fn compiler(&self, place: &str) -> Option<&str> {
        self.compilers.get(place).map(String::as_str)
    }

    /// Records the figures of the measured parts. The budgets of other parts stay.
    pub(super) fn record(&mut self, parts: &[Part]) {
        for Part { section, place, found } in parts {
            if let Ok(rows) = found {
                let budget = |(what, amount): &(String, u64)| {
                    (what.clone(), amount + room(*section, *amount))
                };
                let rows = rows.iter().map(budget).collect();
                self.columns.insert((*section, (*place).to_owned()), rows);
            }
        }
    }

    /// Writes the file of budgets.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(super) fn write(&self) -> Result<(), String> {
        let written = fs::write(machine::root().join(FILE), self.text());
        written.map_err(|error| format!("{FILE}: {error}"))
    }

    fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        if !self.compilers.is_empty() {
            // Writing to a `String` cannot fail.
            let _ =
                write!(text, "\n# the compiler that the programs were built with\n[{COMPILERS}]\n");
        }
        for (place, compiler) in &self.compilers {
            let _ = writeln!(text, "\"{place}\" = \"{compiler}\"");
        }
        for ((section, place), rows) in &self.columns {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\n# {}\n[{}.{place}]\n", section.about(), section.name());
            for (what, budget) in rows {
                let _ = writeln!(text, "\"{what}\" = {budget}");
            }
        }
        text
    }

    /// Returns the budget of `what`.
    pub(super) fn of(&self, section: Section, place: &str, what: &str) -> Option<u64> {
        self.columns.get(&(section, place.to_owned()))?.get(what).copied()
    }

    /// Removes the budgets of all microcontrollers but these.
    pub(super) fn without_others(mut self, targets: &[Target]) -> Self {
        let is_other = |place: &str| place.parse().is_ok_and(|place| !targets.contains(&place));
        self.columns.retain(|(_, place), _| !is_other(place));
        self
    }

    /// Returns every disagreement between figures and budgets. Parts that could not be measured are
    /// left out.
    pub(super) fn misses(&self, parts: &[Part]) -> Vec<Miss> {
        let measured: BTreeSet<Column> =
            parts.iter().map(|part| (part.section, part.place.to_owned())).collect();
        let gone = self.columns.iter().filter(|(column, _)| !measured.contains(*column));
        let gone = gone.flat_map(|(column, rows)| unmeasured(column, rows, |_| true));
        gone.chain(parts.iter().flat_map(|part| self.misses_of(part))).collect()
    }

    fn misses_of(&self, part: &Part) -> Vec<Miss> {
        let Ok(found) = &part.found else { return Vec::new() };
        let column = (part.section, part.place.to_owned());
        let budgets = self.columns.get(&column).cloned().unwrap_or_default();
        let miss = |(what, amount): &(String, u64)| {
            let why = why(part.section, *amount, budgets.get(what).copied())?;
            Some(Miss { column: column.clone(), what: what.clone(), why })
        };
        let mut misses: Vec<_> = found.iter().filter_map(miss).collect();
        misses.extend(unmeasured(&column, &budgets, |what| part.amount(what).is_none()));
        misses
    }
}

/// Removes the quotes around `text`.
fn unquoted(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.strip_suffix('"')
}

/// Returns the budgets among `rows` that have no figure, according to `is_missing`.
fn unmeasured(
    column: &Column,
    rows: &BTreeMap<String, u64>,
    is_missing: impl Fn(&str) -> bool,
) -> Vec<Miss> {
    let missing = rows.iter().filter(|(what, _)| is_missing(what));
    let miss = |(what, budget): (&String, &u64)| Miss {
        column: column.clone(),
        what: what.clone(),
        why: Why::Unmeasured { budget: *budget },
    };
    missing.map(miss).collect()
}

/// Returns the disagreement between `amount` and its budget, if there is one.
fn why(section: Section, amount: u64, budget: Option<u64>) -> Option<Why> {
    let Some(budget) = budget else { return Some(Why::Unbudgeted { amount }) };
    if amount > budget {
        return Some(Why::Over { amount, budget });
    }
    let is_loose = budget - amount > room_max(section, amount);
    is_loose.then_some(Why::Loose { amount, budget })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::footprint::part::HOST;

    const PLACE: &str = "thumbv7m-none-eabi";

    fn part(section: Section, rows: &[(&str, u64)]) -> Part {
        let row = |&(what, amount): &(&str, u64)| (what.to_owned(), amount);
        Part { section, place: PLACE, found: Ok(rows.iter().map(row).collect()) }
    }

    fn code(amount: u64) -> [Part; 1] {
        [part(Section::Code, &[("engine", amount)])]
    }

    #[test]
    fn a_figure_is_compared_with_its_budget() {
        let (over, loose) = (
            |amount, budget| Some(Why::Over { amount, budget }),
            |amount, budget| Some(Why::Loose { amount, budget }),
        );
        for (section, amount, budget, expected) in [
            (Section::Memory, 1024, Some(1024), None),
            (Section::Memory, 1025, Some(1024), over(1025, 1024)),
            (Section::Memory, 1023, Some(1024), loose(1023, 1024)),
            (Section::Symbols, 0, Some(0), None),
            (Section::Symbols, 1, Some(0), over(1, 0)),
            (Section::Symbols, 7, Some(8), loose(7, 8)),
            (Section::Code, 6144, Some(6144), None),
            (Section::Code, 6145, Some(6144), over(6145, 6144)),
            (Section::Code, 6000, Some(6600), None),
            (Section::Code, 6000, Some(6601), loose(6000, 6601)),
            (Section::Stack, 48, Some(112), None),
            (Section::Stack, 48, Some(113), loose(48, 113)),
            (Section::Instructions, 1816, None, Some(Why::Unbudgeted { amount: 1816 })),
        ] {
            assert_eq!(why(section, amount, budget), expected, "{section:?} {amount} {budget:?}");
        }
    }

    #[test]
    fn budgets_of_other_microcontrollers_are_left_out() {
        let mut budgets = Budgets::default();
        let on = |place| Part { place, ..part(Section::Code, &[("engine", 6000)]) };
        budgets.record(&[on(PLACE), on("riscv32imc-unknown-none-elf"), on(HOST)]);
        assert_eq!(budgets.misses(&[on(PLACE)]).len(), 2);
        let of_one = budgets.without_others(&[Target::Thumbv7m]);
        assert_eq!(of_one.misses(&[on(PLACE)]).len(), 1, "this machine is measured");
        assert_eq!(of_one.misses(&[on(PLACE), on(HOST)]).len(), 0);
    }

    #[test]
    fn recorded_budgets_fit_the_measured_figures() {
        for section in Section::ALL {
            for amount in [0, 1, 9, 48, 1000, 18_764, 1_000_000] {
                let parts = [part(section, &[("it", amount)])];
                let mut budgets = Budgets::default();
                budgets.record(&parts);
                budgets.record_compiler(PLACE, "rustc 1.96.0 (built by Debian)".into());
                assert_eq!(budgets.misses(&parts), [], "{section:?} {amount}");
                assert_eq!(Budgets::parse(&budgets.text()), Ok(budgets));
            }
        }
    }

    #[test]
    fn rows_without_a_budget_and_budgets_without_a_row_are_named() {
        let mut budgets = Budgets::default();
        budgets.record(&[part(Section::Code, &[("engine", 0), ("gone", 0)])]);
        budgets.record(&[part(Section::Stack, &[("save", 0)])]);
        let misses = budgets.misses(&[part(Section::Code, &[("engine", 1000), ("new", 7)])]);
        let again = "`cargo xtask footprint --record`";
        assert_eq!(
            misses.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                format!(
                    "stack, thumbv7m: `save` has a budget of 16 and is not measured: forget it by {again}"
                ),
                format!(
                    "code, thumbv7m: `engine` takes 1,000, its budget is 16: make it less, or agree to more by {again}"
                ),
                format!("code, thumbv7m: `new` takes 7 and has no budget: give it one by {again}"),
                format!(
                    "code, thumbv7m: `gone` has a budget of 16 and is not measured: forget it by {again}"
                ),
            ]
        );
    }

    #[test]
    fn an_unmeasured_part_keeps_its_budget() {
        let mut budgets = Budgets::default();
        budgets.record(&code(1000));
        let before = budgets.clone();
        let parts = [Part { found: Err("install it".into()), ..code(0)[0].clone() }];
        budgets.record(&parts);
        assert_eq!(budgets, before);
        assert_eq!(budgets.misses(&parts), []);
    }

    #[test]
    fn the_budgets_of_the_repository_are_read() {
        let budgets = Budgets::read().expect("the file in the tree");
        assert!(budgets.of(Section::Code, PLACE, "engine").is_some());
        for (text, error) in [
            ("[speed.host]", "there is no section `speed`"),
            ("\"engine\" = 7", "line 1: `\"engine\" = 7` is no budget"),
            ("[code.host]\n\"engine\" = much", "line 2: "),
            ("[code.host]\nengine = 7", "line 2: "),
            ("[compiler]\n\"host\" = 7", "line 2: "),
            ("[code", "line 1: "),
        ] {
            let found = Budgets::parse(text).expect_err(text);
            assert!(found.starts_with(error), "{found}");
        }
    }
}
