//! Measures stack depth and instructions per call in the emulator.

use std::path::Path;
use std::process::Stdio;

use super::part::{Part, Section};
use crate::machine::Machine;
use crate::microcontroller::{EMULATED, link};
use crate::qemu;
use crate::step::Outcome;
use crate::target::Target;

/// The emulated processor.
pub(super) const TARGET: Target = Target::Thumbv7m;

/// Each program and the kind of figure that it measures.
const PROGRAMS: [(&str, Section); 2] =
    [("stack", Section::Stack), ("instructions", Section::Instructions)];

/// Measures the stack and the instructions of events.
///
/// # Errors
///
/// If the programs cannot be linked, except because a tool is missing, or if they fail.
pub(super) fn parts(machine: Machine) -> Result<Vec<Part>, String> {
    let folder = match qemu::ready(machine) {
        Outcome::Passed => link(EMULATED, TARGET, machine),
        outcome => Err(outcome),
    };
    let part = |(name, section)| match &folder {
        Ok(folder) => {
            Ok(Part { section, place: TARGET.name(), found: Ok(run(&folder.join(name))?) })
        }
        Err(outcome) => Part::without(section, TARGET.name(), outcome),
    };
    PROGRAMS.into_iter().map(part).collect()
}

/// Runs the program at `kernel` and parses its output. The emulator's clock advances one nanosecond per
/// instruction.
fn run(kernel: &Path) -> Result<Vec<(String, u64)>, String> {
    let mut command = qemu::run_large(kernel);
    command.args(["-icount", "shift=0"]).stderr(Stdio::null());
    let output = command.output().map_err(|error| format!("QEMU did not start: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    match rows(&said) {
        Some(rows) if output.status.success() => Ok(rows),
        _ => Err(format!("{} ended with {}:\n{said}", kernel.display(), output.status)),
    }
}

/// Parses lines of a name, a tab and a number.
pub(super) fn rows(lines: &str) -> Option<Vec<(String, u64)>> {
    let row = |line: &str| {
        let (what, amount) = line.split_once('\t')?;
        Some((what.to_owned(), amount.trim().parse().ok()?))
    };
    let rows: Option<Vec<_>> = lines.lines().map(row).collect();
    rows.filter(|rows| !rows.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_and_a_number() {
        let (save, restore) = (("save".to_owned(), 3916), ("restore".to_owned(), 7));
        for (lines, expected) in [
            ("save\t3916\nrestore\t7\n", Some(vec![save.clone(), restore])),
            ("save\t3916", Some(vec![save])),
            ("save\t3916\npanicked at src/main.rs\n", None),
            ("save\tmuch\n", None),
            ("", None),
        ] {
            assert_eq!(rows(lines), expected, "{lines}");
        }
    }
}
