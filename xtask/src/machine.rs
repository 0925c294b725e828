//! The machine that the steps run on: its commands, its tools, and the installation of missing ones.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::environment;
use crate::step::{Done, Failure, command};
use crate::toolchain::{TARGETS, Toolchain, WASM};

/// The Debian packages of programs that have another name.
const PACKAGES: [(&str, &str); 7] = [
    ("arm-none-eabi-gcc", "gcc-arm-none-eabi"),
    ("java", "openjdk-17-jre-headless"),
    ("node", "nodejs"),
    ("promtool", "prometheus"),
    ("script", "bsdutils"),
    ("timeout", "coreutils"),
    ("unshare", "util-linux"),
];

/// Returns whether this is a machine of continuous integration, on which missing tools are installed. On others, a step
/// that lacks a tool is left out.
pub(crate) fn is_ci() -> bool {
    env::var_os("CI").is_some()
}

/// Checks that tools are here: names with spaces between them. Each is a program, a target with its compiler and linker,
/// a Python that can make environments, or a folder of the target folder, which a command of its name fills. A missing
/// one is installed if that is allowed, and a folder is filled by the step itself; else the outcome says how.
pub(crate) fn tools(names: &str, may_install: bool) -> Done {
    names.split_whitespace().try_for_each(|name| tool(name, may_install))
}

fn tool(name: &str, may_install: bool) -> Done {
    let (is_here, way) = match name {
        "cargo-fmt" => (has(name), "rustup component add rustfmt".into()),
        "cargo-clippy" => (has(name), "rustup component add clippy".into()),
        "python" => {
            (environment::interpreter().is_some(), "apt-get install python3 python3-venv".into())
        }
        // Before version 3, it knows no `--version`.
        "openssl" => (is_well(program(name).arg("version")), "apt-get install openssl".into()),
        target if target == WASM || TARGETS.contains(&target) => {
            return Toolchain::ready(target, may_install).map(drop);
        }
        folder if folder.starts_with("target/") => {
            let task = folder.split('/').nth(1).unwrap_or_default();
            (root().join(folder).exists(), format!("cargo xtask {task}"))
        }
        _ => {
            let other = PACKAGES.iter().find(|(program, _)| *program == name);
            let package = other.map_or(name, |(_, package)| package);
            (has(name), format!("apt-get install {package}"))
        }
    };
    if is_here {
        return Ok(());
    }
    if !may_install {
        let tool = match name {
            "python" => "Python 3.10 or later with `venv`".into(),
            _ => format!("`{name}`"),
        };
        return Err(Failure::LeftOut(format!("{tool} is missing; `{way}` brings it")));
    }
    match way.strip_prefix("apt-get install ") {
        Some(packages) => apt_install(packages),
        None if way.starts_with("cargo xtask ") => Ok(()),
        None => command(&way),
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
