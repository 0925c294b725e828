//! Measures the engine's memory, code, stack and instructions, and compares them with budgets.

mod budget;
mod code;
mod emulated;
mod host;
mod memory;
mod part;
mod readme;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;

use crate::machine::Machine;
use crate::step::{Outcome, Step, Summary};
use crate::target::Target;
use crate::toolchain::Toolchain;

use budget::Budgets;
use part::Part;

/// Measure memory, code, stack and instructions.
///
/// Prints the size of values, the code of the programs in `benches/bare`, the deepest stack of each event and the
/// instructions of a call: on this machine, on five microcontrollers, under QEMU and under valgrind. Figures whose tool is
/// missing are left out and say so.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    /// Print one JSON array instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the figures, with a little room, to `benches/bare/budgets.toml`, from which the table of sizes in the
    /// documentation is made
    #[arg(long)]
    pub(crate) record: bool,
    /// Compare all figures with the budgets. `cargo xtask test footprint` does so for two of the microcontrollers
    #[arg(long, conflicts_with_all = ["json", "record", "targets"])]
    pub(crate) check: bool,
    /// Measure this microcontroller only; may be repeated
    #[arg(long = "target", value_name = "TARGET")]
    pub(crate) targets: Vec<Target>,
}

impl Request {
    /// Returns the targets that are named, or all.
    fn targets(&self) -> &[Target] {
        if self.targets.is_empty() { &Target::ALL } else { &self.targets }
    }
}

/// Prints every figure, and records or checks the figures if asked to.
pub(crate) fn run(request: &Request, machine: Machine) -> ExitCode {
    if request.check {
        let mut notes = String::new();
        let step = Step::run("footprint", || checked(request.targets(), machine, &mut notes));
        let summary = Summary::of_named(vec![step]);
        print!("\n{summary}\n{notes}");
        return summary.exit_code();
    }
    let done = measured(request.targets(), machine).and_then(|parts| {
        print!("{}", if request.json { table::json(&parts) } else { table::text(&parts) });
        if request.record { record(&parts) } else { Ok(()) }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The microcontrollers of [`check`]: one with atomic exchange, which is emulated, and one without. Each of the
/// others would take another minute.
const BRIEFLY: [Target; 2] = [Target::Thumbv7m, Target::Riscv32imc];

/// Compares the figures of this machine and of some microcontrollers with their budgets, as a step of
/// `cargo xtask test`.
pub(crate) fn check(machine: Machine, notes: &mut String) -> Outcome {
    checked(&BRIEFLY, machine, notes)
}

/// Compares every figure with its budget.
///
/// Figures from another compiler than the budgets' are printed and not compared; `notes` gets a line
/// that says so.
fn checked(targets: &[Target], machine: Machine, notes: &mut String) -> Outcome {
    let (parts, budgets) = match measured(targets, machine).and_then(with_budgets) {
        Ok((parts, budgets)) => (parts, budgets.without_others(targets)),
        Err(why) => return Outcome::Failed(why),
    };
    print!("{}", table::text(&parts));
    let left_out = parts.iter().find_map(|part| part.found.as_ref().err().cloned());
    let comparable = comparable(parts, &budgets, notes, compiler);
    let misses = budgets.misses(&comparable);
    for miss in &misses {
        println!("{miss}");
    }
    match (misses.as_slice(), left_out) {
        ([], None) => Outcome::Passed,
        ([], Some(why)) => Outcome::LeftOut(why),
        ([only], _) => Outcome::Failed(only.to_string()),
        ([first, rest @ ..], _) => Outcome::Failed(format!("{first} (and {} more)", rest.len())),
    }
}

fn with_budgets(parts: Vec<Part>) -> Result<(Vec<Part>, Budgets), String> {
    Ok((parts, Budgets::read()?))
}

/// Returns `parts` without the figures of machines whose compiler differs from the budgets'.
fn comparable(
    parts: Vec<Part>,
    budgets: &Budgets,
    notes: &mut String,
    compiler: impl Fn(&str) -> Option<String>,
) -> Vec<Part> {
    let mut different = BTreeMap::new();
    for place in parts.iter().map(|part| part.place).collect::<BTreeSet<_>>() {
        let (Some(here), Some(recorded)) = (compiler(place), budgets.compiler(place)) else {
            continue;
        };
        if here != recorded {
            let why = format!("{place}: built by {here}, the budgets are for {recorded}");
            // Writing to a `String` cannot fail.
            let _ = writeln!(notes, "footprint not compared: {why}");
            different.insert(place, why);
        }
    }
    let part = |part: Part| match different.get(part.place) {
        Some(why) => Part { found: Err(why.clone()), ..part },
        None => part,
    };
    parts.into_iter().map(part).collect()
}

/// Returns the compiler that builds the programs of `place`, if there is one.
fn compiler(place: &str) -> Option<String> {
    match place.parse() {
        Ok(target) => Toolchain::find(target)?.compiler(),
        Err(_) => Toolchain::Installed.compiler(),
    }
}

/// Makes `parts` the budgets, and updates the table in the documentation.
fn record(parts: &[Part]) -> Result<(), String> {
    let mut budgets = Budgets::read()?;
    budgets.record(parts);
    for part in parts.iter().filter(|part| part.found.is_ok()) {
        if let Some(compiler) = compiler(part.place) {
            budgets.record_compiler(part.place, compiler);
        }
    }
    budgets.write()?;
    readme::write(&budgets)
}

/// Measures everything that can be measured on this machine.
///
/// # Errors
///
/// If anything fails, except because a tool is missing.
fn measured(targets: &[Target], machine: Machine) -> Result<Vec<Part>, String> {
    let mut parts = host::parts(machine)?;
    for &target in targets {
        parts.extend(code::parts(target, machine)?);
    }
    if targets.contains(&emulated::TARGET) {
        parts.extend(emulated::parts(machine)?);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use part::{HOST, Section};

    #[test]
    fn figures_of_another_compiler_are_not_compared() {
        let part = |place, amount| Part {
            section: Section::Code,
            place,
            found: Ok(vec![("engine".to_owned(), amount)]),
        };
        let parts = |amount| vec![part(HOST, amount), part("thumbv7m-none-eabi", amount)];
        let mut budgets = Budgets::default();
        budgets.record(&parts(1000));
        for place in [HOST, "thumbv7m-none-eabi"] {
            budgets.record_compiler(place, "rustc 1.95.0".into());
        }
        for (compiler, misses, lines) in [
            (["rustc 1.95.0", "rustc 1.95.0"], 2, 0),
            (["rustc 1.95.0", "rustc 1.96.0"], 1, 1),
            (["rustc 1.96.0", "rustc 1.96.0"], 0, 2),
        ] {
            let compiler = |place: &str| Some(compiler[usize::from(place != HOST)].to_owned());
            let mut notes = String::new();
            let comparable = comparable(parts(2000), &budgets, &mut notes, compiler);
            assert_eq!(budgets.misses(&comparable).len(), misses, "{notes}");
            assert_eq!(notes.lines().count(), lines, "{notes}");
        }
    }
}
