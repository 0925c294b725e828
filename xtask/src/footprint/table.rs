//! Prints figures as tables for people, and as JSON for programs.

use std::fmt::Write as _;

use super::code;
use super::part::{Part, Section};

/// The widths of the column of names and of a column of numbers.
const NAMES: usize = 44;
const NUMBERS: usize = 12;

/// Returns a table for each section, with a column for each machine, and a list of missing tools.
pub(super) fn text(parts: &[Part]) -> String {
    let tables = Section::ALL.map(|section| {
        let columns: Vec<_> = parts.iter().filter(|part| part.section == section).collect();
        if columns.is_empty() { String::new() } else { table(section, &columns) }
    });
    tables.concat() + "what is in the programs:\n" + &code::legend()
}

fn table(section: Section, columns: &[&Part]) -> String {
    let mut table = format!("{}: {}\n{:NAMES$}", section.name(), section.about(), "");
    // Writing to a `String` cannot fail.
    for column in columns {
        let _ = write!(table, "{:>NUMBERS$}", short(column.place));
    }
    table.push('\n');
    for what in names(columns) {
        let _ = write!(table, "  {what:<0$}", NAMES - 2);
        for column in columns {
            let amount = column.amount(what).map_or_else(|| "–".to_owned(), grouped);
            let _ = write!(table, "{amount:>NUMBERS$}");
        }
        table.push('\n');
    }
    for column in columns {
        if let Err(why) = &column.found {
            let _ = writeln!(table, "  left out: {}: {why}", column.place);
        }
    }
    table + "\n"
}

/// Returns the names of all rows in order, without duplicates.
fn names<'p>(columns: &[&'p Part]) -> Vec<&'p str> {
    let mut names = Vec::new();
    for (what, _) in columns.iter().flat_map(|part| part.found.iter().flatten()) {
        if !names.contains(&what.as_str()) {
            names.push(what.as_str());
        }
    }
    names
}

/// Shortens the name of a target.
pub(super) fn short(place: &str) -> String {
    place.replace("-unknown-none-elf", "").replace("-none-eabi", "")
}

/// Formats `number` with a comma before every three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns one array with an object for each figure, or for the missing tool. No text needs an escape.
pub(super) fn json(parts: &[Part]) -> String {
    let objects = parts.iter().flat_map(|Part { section, place, found }| {
        let head = format!(r#"{{"section":"{}","place":"{place}""#, section.name());
        match found {
            Ok(rows) => {
                let row = |(what, amount): &(String, u64)| {
                    format!(r#"{head},"what":"{what}","amount":{amount}}}"#)
                };
                rows.iter().map(row).collect()
            }
            Err(why) => vec![format!(r#"{head},"left_out":"{why}"}}"#)],
        }
    });
    format!("[{}]\n", objects.collect::<Vec<_>>().join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> [Part; 3] {
        let part = |section, place, found| Part { section, place, found };
        let row = |what: &str, amount| (what.to_owned(), amount);
        [
            part(Section::Memory, "host", Ok(vec![row("Detector<8>", 1304), row("Call", 40)])),
            part(Section::Memory, "thumbv7m-none-eabi", Ok(vec![row("Detector<8>", 1208)])),
            part(Section::Stack, "thumbv7m-none-eabi", Err("install `it`".into())),
        ]
    }

    #[test]
    fn a_column_stands_for_a_machine() {
        let text = text(&parts());
        let (tables, _) = text.split_once("what is in").expect("a legend");
        assert_eq!(
            tables,
            "memory: bytes of a value, by `size_of`\n\
             \x20                                                   host    thumbv7m\n\
             \x20 Detector<8>                                      1,304       1,208\n\
             \x20 Call                                                40           –\n\
             \n\
             stack: bytes of stack of an event, at the most of all that are tried\n\
             \x20                                               thumbv7m\n\
             \x20 left out: thumbv7m-none-eabi: install `it`\n\
             \n"
        );
    }

    #[test]
    fn figures_are_one_array() {
        assert_eq!(
            json(&parts()),
            "[{\"section\":\"memory\",\"place\":\"host\",\"what\":\"Detector<8>\",\"amount\":1304},\n\
             {\"section\":\"memory\",\"place\":\"host\",\"what\":\"Call\",\"amount\":40},\n\
             {\"section\":\"memory\",\"place\":\"thumbv7m-none-eabi\",\"what\":\"Detector<8>\",\
             \"amount\":1208},\n\
             {\"section\":\"stack\",\"place\":\"thumbv7m-none-eabi\",\"left_out\":\"install `it`\"}]\n"
        );
    }

    #[test]
    fn large_numbers_are_grouped() {
        for (number, expected) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), expected);
        }
    }
}
