//! Compiles the crates for microcontrollers on a target without `std`.
//!
//! `cargo check` is enough: the steps `firmware`, `footprint` and `c` link programs.

use std::process::Command;

use crate::machine::Machine;
use crate::step::Outcome;
use crate::target::Target;
use crate::toolchain::Toolchain;

/// The crates that compile without `std` and without `alloc`, each with its flags.
const BUILDS: &[&[&str]] = &[
    &["unstuck-core"],
    &["unstuck-core", "--features", "postcard,defmt"],
    &["unstuck-json"],
    &["unstuck-text"],
    &["unstuck-text", "--features", "serde"],
];

/// The crates that compile without `std` and with `alloc`.
const ALLOC_BUILDS: &[&[&str]] = &[&["unstuck-swarm"]];

/// Compiles everything in [`BUILDS`] and [`ALLOC_BUILDS`] for a Cortex-M3.
///
/// Without a toolchain for it, the step is left out on a developer's machine. In CI Debian's toolchain
/// is installed.
pub(crate) fn build(machine: Machine) -> Outcome {
    let target = Target::Thumbv7m;
    let toolchain = match Toolchain::ready(target, machine) {
        Ok(toolchain) => toolchain,
        Err(outcome) => return outcome,
    };
    let folder = ["--target-dir", "target/no_std", "--package"];
    let run = |mut cargo: Command, package: &[&str]| Outcome::of(cargo.args(folder).args(package));
    let plain = BUILDS.iter().map(|package| run(toolchain.cargo("check", target), package));
    let alloc = ALLOC_BUILDS.iter();
    let alloc = alloc.map(|package| run(toolchain.cargo_with_alloc("check", target), package));
    let outcomes: Vec<_> = plain.chain(alloc).collect();
    let failure = outcomes.into_iter().find(|outcome| *outcome != Outcome::Passed);
    failure.unwrap_or(Outcome::Passed)
}
