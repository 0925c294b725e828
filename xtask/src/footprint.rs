//! What the engine takes: memory, code, stack, instructions; and whether that is within its budget.

mod budget;
mod code;
mod emulated;
mod host;
mod memory;
mod part;
mod readme;
mod table;

use std::process::ExitCode;

use clap::Args;

use crate::machine::Machine;
use crate::step::{Outcome, Step, Summary};
use crate::target::Target;

use budget::Budgets;
use part::Part;

/// What is measured, and what is done with the figures.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    /// Print one JSON array instead of tables
    #[arg(long)]
    json: bool,
    /// Make what was measured, and a little room, the budgets of `cargo xtask test`
    ///
    /// They stand in `benches/bare/budgets.toml`, from which the README has its sizes.
    #[arg(long)]
    record: bool,
    /// Fail if anything takes more than its budget, as `cargo xtask test` does
    #[arg(long, conflicts_with_all = ["json", "record", "targets"])]
    check: bool,
    /// Measure only for this processor; may be repeated
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<Target>,
}

/// Prints every figure, and records or checks it where that is asked for.
pub(crate) fn run(request: &Request, machine: Machine) -> ExitCode {
    if request.check {
        let summary = Summary { machine, steps: vec![Step::run("footprint", || check(machine))] };
        print!("\n{summary}");
        return if summary.all_is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let targets = if request.targets.is_empty() { &Target::ALL[..] } else { &request.targets };
    let done = measured(targets, machine).and_then(|parts| {
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

/// Nothing takes more than its budget, and no budget is far too large.
pub(crate) fn check(machine: Machine) -> Outcome {
    let (parts, budgets) = match measured(&Target::ALL, machine).and_then(with_budgets) {
        Ok(read) => read,
        Err(why) => return Outcome::Failed(why),
    };
    print!("{}", table::text(&parts));
    let misses = budgets.misses(&parts);
    for miss in &misses {
        println!("{miss}");
    }
    let left_out = parts.iter().find_map(|part| part.found.as_ref().err());
    match (misses.as_slice(), left_out) {
        ([], None) => Outcome::Passed,
        ([], Some(why)) => Outcome::LeftOut(why.clone()),
        ([only], _) => Outcome::Failed(only.to_string()),
        ([first, rest @ ..], _) => Outcome::Failed(format!("{first} (and {} more)", rest.len())),
    }
}

fn with_budgets(parts: Vec<Part>) -> Result<(Vec<Part>, Budgets), String> {
    Ok((parts, Budgets::read()?))
}

/// Makes `parts` the budgets, and the table in the README what they say.
fn record(parts: &[Part]) -> Result<(), String> {
    let mut budgets = Budgets::read()?;
    budgets.record(parts);
    budgets.write()?;
    readme::write(&budgets)
}

/// Everything that can be measured here.
///
/// # Errors
///
/// If anything fails but for lack of a tool.
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
