//! Reads the sizes of values from a program for another machine.

use std::fs;
use std::path::Path;

use object::{File, Object as _, ObjectSection as _, ObjectSymbol as _};

/// The symbol of the table in the program.
const SYMBOL: &str = "SIZES";

/// The length of an entry in bytes: a name padded with zeros, and a 32-bit number.
const NAME_LENGTH: usize = 32;
const NUMBER_LENGTH: usize = 4;

/// Returns the name and size of each kind of value, from the program at `path`.
///
/// # Errors
///
/// If the program cannot be read, or has no table of sizes.
pub(crate) fn read(path: &Path) -> Result<Vec<(String, u64)>, String> {
    let named = |why: String| format!("{}: {why}", path.display());
    let bytes = fs::read(path).map_err(|error| named(error.to_string()))?;
    let table = table(&bytes).map_err(|error| named(error.to_string()))?;
    let rows = rows(&table);
    if rows.is_empty() {
        return Err(named(format!("there is no `{SYMBOL}` in it")));
    }
    Ok(rows)
}

/// Returns the bytes of the table in a program.
fn table(program: &[u8]) -> Result<Vec<u8>, object::Error> {
    let file = File::parse(program)?;
    let Some(symbol) = file.symbol_by_name(SYMBOL) else { return Ok(Vec::new()) };
    let Some(section) = symbol.section_index() else { return Ok(Vec::new()) };
    let section = file.section_by_index(section)?;
    let bytes = section.data_range(symbol.address(), symbol.size())?;
    Ok(bytes.unwrap_or_default().to_vec())
}

/// Parses the entries of `table`.
fn rows(table: &[u8]) -> Vec<(String, u64)> {
    let entries = table.chunks_exact(NAME_LENGTH + NUMBER_LENGTH);
    let row = |entry: &[u8]| {
        let (name, number) = entry.split_at(NAME_LENGTH);
        let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
        Some((name, u32::from_le_bytes(number.try_into().ok()?).into()))
    };
    entries.filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_name_and_a_number() {
        let mut table = b"Detector<8>".to_vec();
        table.resize(NAME_LENGTH, 0);
        table.extend(1304_u32.to_le_bytes());
        assert_eq!(rows(&table), [("Detector<8>".to_owned(), 1304)]);
        assert_eq!(rows(&table[1..]), []);
    }

    #[test]
    fn only_programs_are_read() {
        let error = read(&crate::machine::root().join("Cargo.toml"));
        let error = error.expect_err("a text");
        assert!(error.contains("Cargo.toml: "), "{error}");
    }
}
