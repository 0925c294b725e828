//! Builds for microcontrollers, and links the programs that are measured.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::machine::{self, Machine};
use crate::step::Outcome;
use crate::target::Target;
use crate::toolchain::Toolchain;

/// The crate of the programs whose code is measured: one for each part of the engine.
pub(crate) const LINKED: &str = "benches/bare/microcontroller/Cargo.toml";

/// The crate of the programs that the emulator runs.
pub(crate) const EMULATED: &str = "benches/bare/emulated/Cargo.toml";

/// The target folder of all programs and libraries for microcontrollers. They have the same profile, so that `core` is
/// built once for each processor.
const FOLDER: &str = "target/microcontroller";

/// The profile, optimised for size.
const PROFILE: &str = "small";

/// Lets a build use the common folder and profile.
pub(crate) fn in_common_folder(build: &mut Command) -> &mut Command {
    build.args(["--target-dir", FOLDER, "--profile", PROFILE])
}

/// Returns the common folder of what is built for `target`.
pub(crate) fn folder(target: Target) -> PathBuf {
    machine::root().join(FOLDER).join(target.name()).join(PROFILE)
}

/// Links every program of the crate at `manifest` for `target`. Returns the folder of the programs.
///
/// # Errors
///
/// The outcome of the step, if the programs could not be linked.
pub(crate) fn link(manifest: &str, target: Target, machine: Machine) -> Result<PathBuf, Outcome> {
    let toolchain = Toolchain::ready(target, machine)?;
    let mut build = toolchain.cargo("build", target);
    build.args(["--manifest-path", manifest, "--bins", "--quiet"]);
    in_common_folder(&mut build).stdin(Stdio::null());
    let why = match build.status() {
        Ok(status) if status.success() => {
            return Ok(folder(target));
        }
        Ok(status) => format!("the programs for {} were not built: {status}", target.name()),
        Err(error) => format!("cargo did not start: {error}"),
    };
    Err(Outcome::Failed(why))
}
