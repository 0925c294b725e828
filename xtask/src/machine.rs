//! The machine that the steps run on: its commands, its tools, and the installation of missing ones.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::environment;
use crate::step::{Done, Outcome, command};
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

/// Checks that a tool is here: a program, a target with its compiler and linker, a Python that can make environments, or
/// a folder of the target folder, which a command of its name fills. In CI a missing one is installed, and a folder is
/// filled by the step itself; elsewhere the outcome says how.
pub(crate) fn tool(name: &str, machine: Machine) -> Done {
    let component = |component| {
        let add = format!("rustup component add {component}");
        brought(has(name), &format!("`{name}`"), &add, || command(&add), machine)
    };
    match name {
        "cargo-fmt" => component("rustfmt"),
        "cargo-clippy" => component("clippy"),
        "python" => environment::ready(machine),
        "thumbv7m-none-eabi" => Toolchain::ready(Target::Thumbv7m, machine).map(drop),
        "riscv32imc-unknown-none-elf" => Toolchain::ready(Target::Riscv32imc, machine).map(drop),
        "wasm32-unknown-unknown" => Toolchain::ready(Target::Wasm32, machine).map(drop),
        folder if folder.starts_with("target/") => {
            let task = folder.split('/').nth(1).unwrap_or_default();
            let is_here = root().join(folder).exists();
            let command = format!("cargo xtask {task}");
            brought(is_here, &format!("`{folder}`"), &command, || Ok(()), machine)
        }
        "arm-none-eabi-gcc" => ready(name, "gcc-arm-none-eabi", machine).done(),
        "node" => ready(name, "nodejs", machine).done(),
        "script" => ready(name, "bsdutils", machine).done(),
        "unshare" => ready(name, "util-linux", machine).done(),
        _ => ready(name, name, machine).done(),
    }
}

/// Checks that a tool is here. In CI a missing one is installed; elsewhere the outcome names the command
/// that does so.
pub(crate) fn brought(
    is_here: bool,
    tool: &str,
    command: &str,
    install: impl FnOnce() -> Done,
    machine: Machine,
) -> Done {
    match machine {
        _ if is_here => Ok(()),
        Machine::Ci => install(),
        Machine::Developer => {
            Err(Outcome::LeftOut(format!("{tool} is missing; `{command}` brings it")))
        }
    }
}

/// Checks that the program `name` of a Debian `package` is here. See [`tool`].
pub(crate) fn ready(name: &str, package: &str, machine: Machine) -> Outcome {
    let command = format!("apt-get install {package}");
    let install = || apt_install(package);
    brought(has(name), &format!("`{name}`"), &command, install, machine).into()
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

/// Installs or updates Debian packages. Asks no questions, retries downloads, and waits for a lock.
pub(crate) fn apt_install(packages: &str) -> Done {
    // A runner of GitHub is no root. The lock of `apt-get` does not cover `update`.
    let sudo = if has("sudo") { "sudo --preserve-env " } else { "" };
    let apt = format!(
        "DEBIAN_FRONTEND=noninteractive flock target/apt.lock {sudo}apt-get -o Acquire::Retries=3 \
        -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 --quiet=2"
    );
    // `update` fails if one of several sources is unreachable. Only `install` shows whether the
    // packages are available.
    let _ = command(&format!("{apt} update"));
    command(&format!("{apt} install --yes --no-install-recommends {packages}"))
}
