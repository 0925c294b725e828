//! The machine that the steps run on, and the installation of missing tools.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::Outcome;

/// The kind of machine. It decides what happens if a tool is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    /// A developer's machine: a step that lacks its tool is left out.
    Developer,
    /// A machine of continuous integration: missing tools are installed, and no step is left out.
    Ci,
}

impl Machine {
    /// Returns the kind of this machine: CI if the variable `CI` is set.
    pub(crate) fn here() -> Self {
        if env::var_os("CI").is_some() { Self::Ci } else { Self::Developer }
    }
}

/// Returns the root of the repository, where every command runs.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// Returns a command that runs `program` at the root of the repository.
pub(crate) fn program(program: impl Into<PathBuf>) -> Command {
    let mut command = Command::new(program.into());
    command.current_dir(root());
    command
}

/// Returns a command for the `cargo` that runs this program, at the root of the repository.
pub(crate) fn cargo() -> Command {
    program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns whether the program `name` is installed and prints its version.
pub(crate) fn has(name: &str) -> bool {
    let mut probe = program(name);
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Checks that the program `name` is installed. In CI its Debian `package` is installed; elsewhere the
/// outcome names it.
pub(crate) fn ready(name: &str, package: &str, machine: Machine) -> Outcome {
    match machine {
        _ if has(name) => Outcome::Passed,
        Machine::Ci => apt_install(&[package]),
        Machine::Developer => Outcome::LeftOut(format!(
            "`{name}` is missing; on Debian `apt-get install {package}` brings it"
        )),
    }
}

/// The lock that keeps two processes of this program from using `apt-get` at the same time.
const APT_LOCK: &str = "target/apt.lock";

/// Installs or updates Debian packages.
pub(crate) fn apt_install(packages: &[&str]) -> Outcome {
    // `update` fails if one of several sources is unreachable. Only `install` shows whether the
    // packages are available.
    let _ = Outcome::of(apt_get().arg("update"));
    let install = ["install", "--yes", "--no-install-recommends"];
    Outcome::of(apt_get().args(install).args(packages))
}

/// Returns an `apt-get` that asks no questions, retries downloads, and waits for a lock.
fn apt_get() -> Command {
    // Its own lock does not cover `update`.
    let mut command = program("flock");
    command
        .args([APT_LOCK, "apt-get"])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .args(["-o", "Acquire::Retries=3"])
        .args(["-o", "DPkg::Lock::Timeout=300"])
        // There is no terminal for a progress bar.
        .args(["-o", "Dpkg::Use-Pty=0"])
        .arg("--quiet=2");
    command
}
