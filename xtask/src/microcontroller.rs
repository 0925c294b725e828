//! The programs for microcontrollers that are linked to be measured.

use std::path::PathBuf;
use std::process::Stdio;

use crate::machine::{self, Machine};
use crate::step::Outcome;
use crate::target::Target;
use crate::toolchain::Toolchain;

/// The crate of the programs that are looked at: one for each part of the code.
pub(crate) const LINKED: &str = "benches/bare/microcontroller/Cargo.toml";

/// The crate of the programs that the emulator runs.
pub(crate) const EMULATED: &str = "benches/bare/emulated/Cargo.toml";

/// Where both are built, whatever else is.
const FOLDER: &str = "target/microcontroller";

/// How they are built: as small as can be, in a profile of `benches/bare`.
const PROFILE: &str = "small";

/// Links every program of the crate at `manifest` for `target`; returns the folder of the programs.
///
/// # Errors
///
/// What came of it where they could not be linked.
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
