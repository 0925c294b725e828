//! The programs for a Cortex-M that are linked to be measured.

use std::io;
use std::process::{Command, Stdio};

use crate::machine;
use crate::no_std::{DEBIAN_PACKAGES, TARGET, Toolchain};
use crate::symbols::Program;

/// The crate of the programs.
pub(crate) const MANIFEST: &str = "benches/bare/cortex-m/Cargo.toml";

/// Where they are built, whatever else is.
const FOLDER: &str = "target/cortex-m";

/// How they are built: as small as can be, in a profile of `benches/bare`.
const PROFILE: &str = "small";

/// The linker where the toolchain brings none, and the Debian package that has it.
const LINKER: (&str, &str) = ("ld.lld", "lld");

/// The variable that tells cargo which linker to take for [`TARGET`].
const LINKER_VARIABLE: &str = "CARGO_TARGET_THUMBV7M_NONE_EABI_LINKER";

/// Links every program.
///
/// # Errors
///
/// If nothing here can, with what would help; or if it did not succeed.
pub(crate) fn link() -> io::Result<()> {
    let toolchain = Toolchain::find().ok_or_else(missing)?;
    let mut build = toolchain.build();
    if let Toolchain::WithSource(_) = toolchain {
        let found = Command::new(LINKER.0).arg("--version").stdout(Stdio::null()).status();
        found.map_err(|_| missing())?;
        build.env(LINKER_VARIABLE, LINKER.0);
    }
    build.args(["--manifest-path", MANIFEST, "--bins", "--quiet"]);
    build.args(["--target-dir", FOLDER, "--profile", PROFILE]).stdin(Stdio::null());
    let status = build.status()?;
    if status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("the programs for {TARGET} were not built: {status}")))
}

/// How many bytes of code and constants the program `name` is, once it is linked.
///
/// # Errors
///
/// If it cannot be read.
pub(crate) fn size(name: &str) -> io::Result<u64> {
    let folder = machine::root().join(FOLDER).join(TARGET).join(PROFILE);
    let Program { code, constants, .. } = Program::read(&folder.join(name))?;
    Ok(code + constants)
}

/// What a person reads where nothing can link for [`TARGET`].
fn missing() -> io::Error {
    let packages = DEBIAN_PACKAGES.join(" ");
    let linker = LINKER.1;
    let why = format!("`rustup target add {TARGET}`, or `apt-get install {packages} {linker}`");
    io::Error::new(io::ErrorKind::NotFound, why)
}
