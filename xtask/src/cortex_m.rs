//! The programs for a Cortex-M that are linked to be measured.

use std::io;
use std::process::Stdio;

use crate::machine::{self, Machine};
use crate::step::Outcome;
use crate::symbols::Program;
use crate::target::Target;
use crate::toolchain::Toolchain;

/// The crate of the programs.
pub(crate) const MANIFEST: &str = "benches/bare/microcontroller/Cargo.toml";

/// Where they are built, whatever else is.
const FOLDER: &str = "target/microcontroller";

/// How they are built: as small as can be, in a profile of `benches/bare`.
const PROFILE: &str = "small";

/// The processor that they are for.
const TARGET: Target = Target::Thumbv7em;

/// Links every program; says what came of it.
pub(crate) fn link(machine: Machine) -> Outcome {
    let toolchain = match Toolchain::ready(TARGET, machine) {
        Ok(toolchain) => toolchain,
        Err(outcome) => return outcome,
    };
    let mut build = toolchain.cargo("build", TARGET);
    build.args(["--manifest-path", MANIFEST, "--bins", "--quiet"]);
    build.args(["--target-dir", FOLDER, "--profile", PROFILE]).stdin(Stdio::null());
    match build.status() {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) => {
            Outcome::Failed(format!("the programs for {} were not built: {status}", TARGET.name()))
        }
        Err(error) => Outcome::Failed(format!("cargo did not start: {error}")),
    }
}

/// How many bytes of code and constants the program `name` is, once it is linked.
///
/// # Errors
///
/// If it cannot be read.
pub(crate) fn size(name: &str) -> io::Result<u64> {
    let folder = machine::root().join(FOLDER).join(TARGET.name()).join(PROFILE);
    let Program { code, constants, .. } = Program::read(&folder.join(name))?;
    Ok(code + constants)
}
