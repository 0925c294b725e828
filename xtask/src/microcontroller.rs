//! Links the programs for microcontrollers that are measured.

use std::path::PathBuf;
use std::process::Stdio;

use crate::machine::{self, Machine};
use crate::step::Outcome;
use crate::target::Target;
use crate::toolchain::Toolchain;

/// The crate of the programs whose code is measured: one for each part of the engine.
pub(crate) const LINKED: &str = "benches/bare/microcontroller/Cargo.toml";

/// The crate of the programs that the emulator runs.
pub(crate) const EMULATED: &str = "benches/bare/emulated/Cargo.toml";

/// The target folder of both crates.
const FOLDER: &str = "target/microcontroller";

/// The profile of both crates, optimised for size.
const PROFILE: &str = "small";

/// Links every program of the crate at `manifest` for `target`. Returns the folder of the programs.
///
/// # Errors
///
/// The outcome of the step, if the programs could not be linked.
pub(crate) fn link(manifest: &str, target: Target, machine: Machine) -> Result<PathBuf, Outcome> {
    let toolchain = Toolchain::ready(target, machine)?;
    let mut build = toolchain.cargo("build", target);
    build.args(["--manifest-path", manifest, "--bins", "--quiet"]);
    build.args(["--target-dir", FOLDER, "--profile", PROFILE]).stdin(Stdio::null());
    let why = match build.status() {
        Ok(status) if status.success() => {
            return Ok(machine::root().join(FOLDER).join(target.name()).join(PROFILE));
        }
        Ok(status) => format!("the programs for {} were not built: {status}", target.name()),
        Err(error) => format!("cargo did not start: {error}"),
    };
    Err(Outcome::Failed(why))
}
