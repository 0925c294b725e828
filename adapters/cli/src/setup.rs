//! Reads configuration files and prints the mistakes in them.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use unstuck_report::mistake::Mistake;

use crate::exit::Exit;
use crate::output::{fail, show};

/// The longest file in bytes. A policy of eight rules takes some KiB, and so do a hundred loop ids.
const BYTES_MAX: u64 = 1 << 20;

/// The mark with which some editors begin a file.
pub(crate) const BOM: char = '\u{feff}';

/// Reads the file `path` and parses it with `read`. `expected` describes the contents for errors,
/// which are printed on standard error.
pub(crate) fn load<T>(
    path: &Path,
    expected: &str,
    read: impl FnOnce(&str) -> Result<T, Mistake>,
) -> Result<T, Exit> {
    let name = path.display().to_string();
    let text = text(path, expected).map_err(|why| fail(Exit::Setup, &name, &why))?;
    read(&text).map_err(|mistake| mistaken(&name, &text, &mistake))
}

/// Prints a mistake in the `text` of the file `name`, with its place and the line around it.
pub(crate) fn mistaken(name: &str, text: &str, mistake: &Mistake) -> Exit {
    let (line, column) = mistake.place(text);
    let exit = fail(Exit::Setup, &format!("{name}:{line}:{column}"), mistake.what());
    show(&mistake.quote(text));
    exit
}

/// Returns the file's text. The error says what is wrong with the file.
fn text(path: &Path, expected: &str) -> Result<String, String> {
    let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let mut bytes = Vec::new();
    let read = file.take(BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(format!("longer than 1 MiB: expected {expected}"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let byte = error.utf8_error().valid_up_to() + 1;
        format!("not UTF-8 at byte {byte}: expected {expected}")
    })?;
    Ok(text.trim_start_matches(BOM).to_owned())
}
