//! The table of sizes in the documentation, which shows the budgets.

use std::fmt::Write as _;
use std::fs;

use super::budget::Budgets;
use super::part::{SIZES_OF, Section};
use super::table::grouped;
use crate::machine;

/// The file that contains the table.
const FILE: &str = "core/README.md";

/// The lines before and after the table.
const BEGIN: &str = "<!-- footprint: written by `cargo xtask footprint --record` -->\n";
const END: &str = "<!-- footprint ends -->\n";

/// The columns: the name of a processor, and its target.
const COLUMNS: [(&str, &str); 4] = [
    ("Cortex-M0", "thumbv6m-none-eabi"),
    ("Cortex-M3", "thumbv7m-none-eabi"),
    ("Cortex-M4", "thumbv7em-none-eabi"),
    ("ESP32-C3", "riscv32imc-unknown-none-elf"),
];

/// The rows: a title, and the budget that the row shows.
const ROWS: [(&str, Section, &str); 15] = [
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
    ("stack of the engine's events", Section::Stack, "announce: eight open calls settle"),
    ("… of a call with the default recipe", Section::Stack, "call by the default recipe"),
    ("… of `restore`", Section::Stack, "restore"),
    ("instructions of a new call", Section::Instructions, "a new call"),
];

/// Returns the table of budgets.
fn table(budgets: &Budgets) -> String {
    let names: Vec<_> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let mut table = format!("| at most | {} |\n", names.join(" | "));
    table.push_str(&"|---".repeat(1 + COLUMNS.len()));
    table.push_str("|\n");
    for (name, section, what) in ROWS {
        // Writing to a `String` cannot fail.
        let _ = write!(table, "| {name} |");
        for (_, place) in COLUMNS {
            // Values have the same size on all 32-bit machines.
            let place = if section == Section::Memory { SIZES_OF.name() } else { place };
            let budget = budgets.of(section, place, what).map_or_else(String::new, grouped);
            let _ = write!(table, " {budget} |");
        }
        table.push('\n');
    }
    table
}

/// Replaces the table in `text`.
///
/// # Errors
///
/// If the two marking lines are missing.
fn updated(text: &str, budgets: &Budgets) -> Result<String, String> {
    let parts = text.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?)));
    let Some((head, (_, tail))) = parts else {
        return Err(format!("{FILE}: the table of sizes stands between {BEGIN}and {END}"));
    };
    Ok(format!("{head}{BEGIN}{}{END}{tail}", table(budgets)))
}

/// Updates the table in the documentation.
///
/// # Errors
///
/// If the file cannot be read or written, or has no place for the table.
pub(super) fn write(budgets: &Budgets) -> Result<(), String> {
    let (path, named) = (machine::root().join(FILE), |error| format!("{FILE}: {error}"));
    let text = fs::read_to_string(&path).map_err(named)?;
    fs::write(path, updated(&text, budgets)?).map_err(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_the_budgets() {
        let text = fs::read_to_string(machine::root().join(FILE)).expect("the README");
        let budgets = Budgets::read().expect("the budgets");
        assert_eq!(updated(&text, &budgets), Ok(text), "run `cargo xtask footprint --record`");
    }

    #[test]
    fn the_old_table_is_replaced() {
        let text = format!("before\n{BEGIN}old\n{END}after\n");
        let new = updated(&text, &Budgets::default()).expect("both lines");
        assert!(new.starts_with("before\n") && new.ends_with("after\n"), "{new}");
        assert!(!new.contains("old") && new.contains("| `Detector<20>` |"), "{new}");
        assert!(updated("nothing", &Budgets::default()).is_err());
    }
}
