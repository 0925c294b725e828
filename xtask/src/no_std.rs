//! The build for microcontrollers, where there is no `std` to fall back on.

use crate::machine::Machine;
use crate::step::Outcome;
use crate::target::Target;
use crate::toolchain::Toolchain;

/// What must build without `std` and without `alloc`: a package and its flags.
const BUILDS: &[&[&str]] = &[
    &["unstuck-core"],
    &["unstuck-core", "--features", "postcard,defmt"],
    &["unstuck-json"],
    &["unstuck-json", "--features", "serde"],
    &["unstuck-text"],
    &["unstuck-text", "--features", "serde"],
];

/// Builds everything in [`BUILDS`] for a Cortex-M3.
///
/// Without a toolchain for it the step is left out on a developer's machine; in CI Debian's is
/// installed.
pub(crate) fn build(machine: Machine) -> Outcome {
    let target = Target::Thumbv7m;
    let toolchain = match Toolchain::ready(target, machine) {
        Ok(toolchain) => toolchain,
        Err(outcome) => return outcome,
    };
    let folder = ["--target-dir", "target/no_std", "--package"];
    let run = |package: &&[&str]| {
        Outcome::of(toolchain.cargo("build", target).args(folder).args(*package))
    };
    let outcomes: Vec<_> = BUILDS.iter().map(run).collect();
    let failure = outcomes.into_iter().find(|outcome| *outcome != Outcome::Passed);
    failure.unwrap_or(Outcome::Passed)
}
