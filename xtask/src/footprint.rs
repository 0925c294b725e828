//! How much memory the engine takes, and how much code it is.

use std::fmt::Write as _;
use std::io;
use std::process::{ExitCode, Stdio};

use clap::Args;
use unstuck_core::{Announced, Detector, Finding, Verdict};

use crate::bare::{self, Profile};
use crate::cortex_m;
use crate::machine::Machine;
use crate::step::Outcome;

/// How the figures are laid out.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Print one JSON array instead of a table
    #[arg(long)]
    json: bool,
}

/// Something, and how many bytes it takes.
type Figure = (&'static str, Bytes);

/// A number of bytes, where it could be found.
#[derive(Clone, Debug)]
enum Bytes {
    /// So many.
    Counted(u64),
    /// Unknown; what would have to be installed.
    Skipped(String),
}

/// Prints every figure.
pub(crate) fn print(layout: Layout) -> ExitCode {
    let mut figures = memory();
    for code in [code(), code_on_cortex_m()] {
        match code {
            Ok(code) => figures.extend(code),
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    print!("{}", if layout.json { json(&figures) } else { table(&figures) });
    ExitCode::SUCCESS
}

/// The size of values, which is all the memory that the engine takes.
fn memory() -> Vec<Figure> {
    let sizes = [
        ("Detector<8>", size_of::<Detector<'_, 8>>()),
        ("Detector<20>", size_of::<Detector<'_, 20>>()),
        ("Detector<64>", size_of::<Detector<'_, 64>>()),
        ("Announced", size_of::<Announced>()),
        ("Verdict", size_of::<Verdict>()),
        ("Finding", size_of::<Finding>()),
    ];
    sizes.map(|(what, bytes)| (what, Bytes::Counted(bytes as u64))).into()
}

/// The code of programs that call the engine, theirs included; none where they cannot be read.
fn code() -> io::Result<Vec<Figure>> {
    if let Some(why) = bare::unreadable() {
        eprintln!("no code: {why}");
        return Ok(Vec::new());
    }
    let small = Profile::Small;
    let built = small.build().arg("--quiet").stdin(Stdio::null()).status()?;
    if !built.success() {
        return Err(io::Error::other(format!("the programs were not built: {built}")));
    }
    let programs = [("code of a small host", bare::HOST), ("code of every entry", bare::ENTRIES)];
    let figure = |(what, name)| Ok((what, Bytes::Counted(small.program(name)?.code)));
    programs.into_iter().map(figure).collect()
}

/// The code and constants of programs for a microcontroller; skipped where nothing links them.
fn code_on_cortex_m() -> io::Result<Vec<Figure>> {
    let skipped = match cortex_m::link(Machine::here()) {
        Outcome::Passed => None,
        Outcome::LeftOut(why) => Some(why),
        Outcome::Failed(why) => return Err(io::Error::other(why)),
    };
    let programs = [
        ("Cortex-M, nothing", "empty"),
        ("Cortex-M, engine", "engine"),
        ("Cortex-M, fingerprint", "fingerprint"),
        ("engine and JSON", "json"),
        ("… and masked results", "masked"),
        ("… and whole recipe", "recipe"),
        ("… and groups", "groups"),
        ("engine, nudge text", "nudge"),
        ("engine, checkpoint", "checkpoint"),
    ];
    let figure = |(what, name)| match &skipped {
        Some(why) => Ok((what, Bytes::Skipped(why.clone()))),
        None => Ok((what, Bytes::Counted(cortex_m::size(name)?))),
    };
    programs.into_iter().map(figure).collect()
}

/// One line for each figure.
fn table(figures: &[Figure]) -> String {
    figures.iter().fold(String::new(), |mut table, (what, bytes)| {
        // Writing into a text does not fail.
        let _ = match bytes {
            Bytes::Counted(bytes) => writeln!(table, "{what:<21} {bytes:>7} bytes"),
            Bytes::Skipped(why) => writeln!(table, "{what:<21} skipped: {why}"),
        };
        table
    })
}

/// One array, with an object for each figure. No text needs an escape.
fn json(figures: &[Figure]) -> String {
    let object = |(what, bytes): &Figure| match bytes {
        Bytes::Counted(bytes) => format!(r#"{{"what":"{what}","bytes":{bytes}}}"#),
        Bytes::Skipped(why) => format!(r#"{{"what":"{what}","skipped":"{why}"}}"#),
    };
    format!("[{}]\n", figures.iter().map(object).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> [Figure; 3] {
        [
            ("Detector<8>", Bytes::Counted(1088)),
            ("code of every entry", Bytes::Counted(64_614)),
            ("Cortex-M, engine", Bytes::Skipped("install `it`".into())),
        ]
    }

    #[test]
    fn figures_stand_below_each_other() {
        assert_eq!(
            table(&figures()),
            "Detector<8>              1088 bytes\n\
             code of every entry     64614 bytes\n\
             Cortex-M, engine      skipped: install `it`\n"
        );
    }

    #[test]
    fn figures_are_one_array() {
        assert_eq!(
            json(&figures()),
            "[{\"what\":\"Detector<8>\",\"bytes\":1088},\
             {\"what\":\"code of every entry\",\"bytes\":64614},\
             {\"what\":\"Cortex-M, engine\",\"skipped\":\"install `it`\"}]\n"
        );
    }
}
