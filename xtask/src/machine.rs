//! Where the steps run, and what may be installed there.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::Outcome;

/// Whose machine this is. It decides what happens when a tool is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    /// A person's: nothing is installed, and a step without its tool is left out.
    Developer,
    /// One of continuous integration: what is missing is installed, and nothing
    /// is left out.
    Ci,
}

impl Machine {
    /// The machine that this runs on: CI's if the variable `CI` is set.
    pub(crate) fn here() -> Self {
        if env::var_os("CI").is_some() { Self::Ci } else { Self::Developer }
    }
}

/// The root of the repository, where every command runs.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// `program`, to be run at the root of the repository.
pub(crate) fn program(program: impl Into<PathBuf>) -> Command {
    let mut command = Command::new(program.into());
    command.current_dir(root());
    command
}

/// The `cargo` that runs this program, to be run at the root of the repository.
pub(crate) fn cargo() -> Command {
    program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Whether the program `name` is there, and says its version.
pub(crate) fn has(name: &str) -> bool {
    let mut probe = program(name);
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Passed where the program `name` is there. In CI the Debian `package` that has it is installed;
/// elsewhere the outcome says what to install.
pub(crate) fn ready(name: &str, package: &str, machine: Machine) -> Outcome {
    match machine {
        _ if has(name) => Outcome::Passed,
        Machine::Ci => apt_install(&[package]),
        Machine::Developer => Outcome::LeftOut(format!(
            "`{name}` is missing; on Debian `apt-get install {package}` brings it"
        )),
    }
}

/// Installs Debian packages, or brings them up to date.
pub(crate) fn apt_install(packages: &[&str]) -> Outcome {
    // One unreachable source out of several makes `update` fail. What counts is
    // whether the packages arrive, and `install` tells.
    let _ = Outcome::of(apt_get().arg("update"));
    let install = ["install", "--yes", "--no-install-recommends"];
    Outcome::of(apt_get().args(install).args(packages))
}

/// `apt-get` that asks nothing and outlasts a short hitch of the network or of
/// another process that holds the lock.
fn apt_get() -> Command {
    let mut command = program("apt-get");
    command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .args(["-o", "Acquire::Retries=3"])
        .args(["-o", "DPkg::Lock::Timeout=300"])
        // Without a terminal there is no progress to draw.
        .args(["-o", "Dpkg::Use-Pty=0"])
        .arg("--quiet=2");
    command
}
