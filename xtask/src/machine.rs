//! The machine that the steps run on: its commands, its tools, and the installation of missing ones.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::environment;
use crate::step::{Outcome, run};
use crate::target::Target;
use crate::toolchain::Toolchain;

/// The kind of machine. It decides what happens if a tool is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    /// A machine on which nothing is installed: a step that lacks a tool is left out.
    Developer,
    /// A machine of continuous integration: missing tools are installed.
    Ci,
}

impl Machine {
    /// Returns the kind of this machine: CI if the variable `CI` is set.
    pub(crate) fn here() -> Self {
        if env::var_os("CI").is_some() { Self::Ci } else { Self::Developer }
    }
}

/// A tool that a step needs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tool {
    /// A program, and its Debian package.
    Program(&'static str, &'static str),
    /// A program of the toolchain, and its component of `rustup`.
    Component(&'static str, &'static str),
    /// A compiler and a linker for a target.
    Compiler(Target),
    /// A Python from 3.10 on that can make environments.
    Python,
    /// Files of the target folder, and the command that downloads them. In CI, the step does so itself.
    Downloads(&'static str, &'static str),
}

impl Tool {
    /// Checks that the tool is here. In CI a missing one is installed; elsewhere the outcome says how.
    pub(crate) fn ready(self, machine: Machine) -> Outcome {
        match self {
            Self::Program(name, package) => ready(name, package, machine),
            Self::Component(name, component) => {
                let add = ["component", "add", component];
                let command = format!("rustup {}", add.join(" "));
                let install = || Outcome::of(program("rustup").args(add));
                brought(has(name), &format!("`{name}`"), &command, install, machine)
            }
            Self::Compiler(target) => Toolchain::ready(target, machine)
                .map_or_else(|missing| missing, |_| Outcome::Passed),
            Self::Python => environment::ready(machine),
            Self::Downloads(path, command) => {
                let is_here = root().join(path).exists();
                brought(is_here, &format!("`{path}`"), command, || Outcome::Passed, machine)
            }
        }
    }
}

/// Checks that a tool is here. In CI a missing one is installed; elsewhere the outcome names the command
/// that does so.
pub(crate) fn brought(
    is_here: bool,
    tool: &str,
    command: &str,
    install: impl FnOnce() -> Outcome,
    machine: Machine,
) -> Outcome {
    match machine {
        _ if is_here => Outcome::Passed,
        Machine::Ci => install(),
        Machine::Developer => Outcome::LeftOut(format!("{tool} is missing; `{command}` brings it")),
    }
}

/// Checks that the program `name` of a Debian `package` is here. See [`Tool::ready`].
pub(crate) fn ready(name: &str, package: &str, machine: Machine) -> Outcome {
    let install = || apt_install(&[package]);
    let command = format!("apt-get install {package}");
    brought(has(name), &format!("`{name}`"), &command, install, machine)
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
    is_well(program(name).arg("--version"))
}

/// Returns whether `command` succeeds. Discards its output.
pub(crate) fn is_well(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

/// The lock that keeps two processes of this program from using `apt-get` at the same time.
const APT_LOCK: &str = "target/apt.lock";

/// Installs or updates Debian packages.
pub(crate) fn apt_install(packages: &[&str]) -> Outcome {
    // `update` fails if one of several sources is unreachable. Only `install` shows whether the
    // packages are available.
    let _ = run(apt_get().arg("update"));
    let install = ["install", "--yes", "--no-install-recommends"];
    Outcome::of(apt_get().args(install).args(packages))
}

/// Returns an `apt-get` that asks no questions, retries downloads, and waits for a lock.
fn apt_get() -> Command {
    // Its own lock does not cover `update`.
    let mut command = program("flock");
    command.env("DEBIAN_FRONTEND", "noninteractive").arg(APT_LOCK);
    // A runner of GitHub is no root. There is no terminal for a progress bar.
    command.args(if has("sudo") {
        &["sudo", "--preserve-env", "apt-get"][..]
    } else {
        &["apt-get"]
    });
    command.args(["-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"]);
    command.args(["-o", "Dpkg::Use-Pty=0", "--quiet=2"]);
    command
}
