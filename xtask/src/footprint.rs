//! How much memory the engine takes, and how much code it is.

use std::fmt::Write as _;
use std::io;
use std::process::{ExitCode, Stdio};

use clap::Args;
use unstuck_core::{Announced, Detector, Finding, Verdict};

use crate::bare::{self, Profile};

/// How the figures are laid out.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Print one JSON array instead of a table
    #[arg(long)]
    json: bool,
}

/// Something, and how many bytes it takes.
type Figure = (&'static str, u64);

/// Prints every figure.
pub(crate) fn print(layout: Layout) -> ExitCode {
    let mut figures = memory();
    match code() {
        Ok(code) => figures.extend(code),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
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
    sizes.map(|(what, bytes)| (what, bytes as u64)).into()
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
    let figure = |(what, name)| Ok((what, small.program(name)?.code));
    programs.into_iter().map(figure).collect()
}

/// One line for each figure.
fn table(figures: &[Figure]) -> String {
    figures.iter().fold(String::new(), |mut table, (what, bytes)| {
        // Writing into a text does not fail.
        let _ = writeln!(table, "{what:<20} {bytes:>7} bytes");
        table
    })
}

/// One array, with an object for each figure. No name needs an escape.
fn json(figures: &[Figure]) -> String {
    let object = |(what, bytes): &Figure| format!(r#"{{"what":"{what}","bytes":{bytes}}}"#);
    format!("[{}]\n", figures.iter().map(object).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURES: &[Figure] = &[("Detector<8>", 1088), ("code of every entry", 64_614)];

    #[test]
    fn figures_stand_below_each_other() {
        assert_eq!(
            table(FIGURES),
            "Detector<8>             1088 bytes\n\
             code of every entry    64614 bytes\n"
        );
    }

    #[test]
    fn figures_are_one_array() {
        assert_eq!(
            json(FIGURES),
            "[{\"what\":\"Detector<8>\",\"bytes\":1088},\
             {\"what\":\"code of every entry\",\"bytes\":64614}]\n"
        );
    }
}
