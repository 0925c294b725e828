//! The README's table of sizes, which says what the budgets do.

use std::fmt::Write as _;
use std::fs;

use super::budget::Budgets;
use super::part::{SIZES_OF, Section};
use super::table::grouped;
use crate::machine;

/// Where it stands.
const FILE: &str = "core/README.md";

/// The lines before and after it.
const BEGIN: &str = "<!-- footprint: written by `cargo xtask footprint --record` -->\n";
const END: &str = "<!-- footprint ends -->\n";

/// What the table calls a processor, and its target.
const COLUMNS: [(&str, &str); 4] = [
    ("Cortex-M0", "thumbv6m-none-eabi"),
    ("Cortex-M3", "thumbv7m-none-eabi"),
    ("Cortex-M4", "thumbv7em-none-eabi"),
    ("ESP32-C3", "riscv32imc-unknown-none-elf"),
];

/// What the table tells.
const ROWS: [(&str, Section, &str); 13] = [
    ("code of the engine", Section::Code, "engine"),
    ("… with JSON fingerprints", Section::Code, "engine, JSON"),
    ("… with JSON and masked results", Section::Code, "engine, JSON, masked results"),
    ("… with the default recipe", Section::Code, "engine, recipe"),
    ("… with the default recipe and similar calls", Section::Code, "engine, recipe, groups"),
    ("text of nudges, in addition", Section::Code, "nudge text adds"),
    ("`save` and `restore`, in addition", Section::Code, "save and restore add"),
    ("`Detector<20>`", Section::Memory, "Detector<20>"),
    ("`Detector<20>` and `SimilarCalls`", Section::Memory, "Detector<20> and SimilarCalls"),
    ("stack of the engine's events", Section::Stack, "announce: eight open calls settle"),
    ("… of a call with the default recipe", Section::Stack, "call by the default recipe"),
    ("… of `restore`", Section::Stack, "restore"),
    ("instructions of a new call", Section::Instructions, "a new call"),
];

/// The table: what each thing takes at the most.
fn table(budgets: &Budgets) -> String {
    let names: Vec<_> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let mut table = format!("| at most | {} |\n", names.join(" | "));
    table.push_str(&"|---".repeat(1 + COLUMNS.len()));
    table.push_str("|\n");
    for (name, section, what) in ROWS {
        // Writing into a text does not fail.
        let _ = write!(table, "| {name} |");
        for (_, place) in COLUMNS {
            // Values have one size on every machine of 32 bits.
            let place = if section == Section::Memory { SIZES_OF.name() } else { place };
            let budget = budgets.of(section, place, what).map_or_else(String::new, grouped);
            let _ = write!(table, " {budget} |");
        }
        table.push('\n');
    }
    table
}

/// `text` with what the budgets say between the two lines.
///
/// # Errors
///
/// If the lines are not there.
fn updated(text: &str, budgets: &Budgets) -> Result<String, String> {
    let parts = text.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?)));
    let Some((head, (_, tail))) = parts else {
        return Err(format!("{FILE}: the table of sizes stands between {BEGIN}and {END}"));
    };
    Ok(format!("{head}{BEGIN}{}{END}{tail}", table(budgets)))
}

/// Makes the table in the README what the budgets say.
///
/// # Errors
///
/// If the README cannot be read or written, or has no place for the table.
pub(super) fn write(budgets: &Budgets) -> Result<(), String> {
    let (path, named) = (machine::root().join(FILE), |error| format!("{FILE}: {error}"));
    let text = fs::read_to_string(&path).map_err(named)?;
    fs::write(path, updated(&text, budgets)?).map_err(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_says_what_the_budgets_do() {
        let text = fs::read_to_string(machine::root().join(FILE)).expect("the README");
        let budgets = Budgets::read().expect("the budgets");
        assert_eq!(updated(&text, &budgets), Ok(text), "run `cargo xtask footprint --record`");
    }

    #[test]
    fn what_stood_between_the_lines_goes() {
        let text = format!("before\n{BEGIN}old\n{END}after\n");
        let new = updated(&text, &Budgets::default()).expect("both lines");
        assert!(new.starts_with("before\n") && new.ends_with("after\n"), "{new}");
        assert!(!new.contains("old") && new.contains("| `Detector<20>` |"), "{new}");
        assert!(updated("nothing", &Budgets::default()).is_err());
    }
}
