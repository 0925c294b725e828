//! The compilers for microcontrollers and for WebAssembly, and where they are found.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::{self, cargo, is_ci, program};
use crate::step::{Done, Failure, command};

/// The microcontrollers, as the compiler names them: Cortex-M0, which has no atomic exchange and no division; Cortex-M3,
/// which QEMU emulates; Cortex-M4 and -M7; the same with floats in hardware; ESP32-C3 and similar chips, which have no
/// atomics.
pub(crate) const TARGETS: [&str; 5] =
    ["thumbv6m-none-eabi", EMULATED, "thumbv7em-none-eabi", "thumbv7em-none-eabihf", RISC_V];
pub(crate) const EMULATED: &str = "thumbv7m-none-eabi";
pub(crate) const RISC_V: &str = "riscv32imc-unknown-none-elf";

/// WebAssembly, for JavaScript. It has `std`.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// The Debian packages to use if `rustup` has no such target: a compiler, the source of `core` in the
/// same version, and a linker.
const DEBIAN_PACKAGES: &str = "rustc-web rust-web-src lld";

/// A compiler for a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// The current compiler, with a target installed by `rustup`.
    Installed,
    /// This compiler, which builds `core` from its source first.
    WithSource(PathBuf),
}

impl Toolchain {
    /// Returns a toolchain for `target`. If there is none, one is installed if that is allowed; else the outcome says how.
    pub(crate) fn ready(target: &str, may_install: bool) -> Done<Self> {
        let debian = || machine::apt_install(DEBIAN_PACKAGES);
        let rustup = || command(&format!("rustup target add {target}"));
        let mut ways: [&dyn Fn() -> Done; 2] = [&debian, &rustup];
        if target == WASM {
            // Debian's compiler has to build `std` first.
            ways.reverse();
        }
        let mut installed = ways.iter().filter(|_| may_install).filter_map(|install| {
            let _ = install();
            Self::find(target)
        });
        Self::find(target).or_else(|| installed.next()).ok_or_else(|| {
            Failure::LeftOut(format!(
                "nothing here builds for {target}; `rustup target add {target}` brings it, or on Debian \
                 `apt-get install {DEBIAN_PACKAGES}`"
            ))
        })
    }

    /// Returns the version of the compiler, and whether it builds `core` itself. Budgets of code name it.
    pub(crate) fn compiler(&self) -> Option<String> {
        let (rustc, origin) = match self {
            Self::Installed => (Path::new("rustc"), ""),
            Self::WithSource(rustc) => (rustc.as_path(), ", core from source"),
        };
        let version = output_of(rustc, &["--version"])?;
        Some(format!("{}{origin}", version.trim()))
    }

    /// Returns the first toolchain that can build for `target`, if there is one.
    pub(crate) fn find(target: &str) -> Option<Self> {
        let installed = output_of("rustc", &["--print", "target-libdir", "--target", target]);
        if installed.is_some_and(|folder| Path::new(folder.trim()).exists()) {
            return Some(Self::Installed);
        }
        let mut found = machine::has(linker(target)).then(compilers)?.into_iter();
        found.find(|rustc| has_source(rustc) && is_new_enough(rustc)).map(Self::WithSource)
    }
}

/// Returns a `cargo` command for `target`, with these libraries available. The caller adds the package and the target
/// folder. Each toolchain needs a folder of its own, because two compilers overwrite each other's output.
pub(crate) fn cargo_for(target: &str, libraries: &str, task: &str) -> Done<Command> {
    let toolchain = Toolchain::ready(target, is_ci())?;
    let mut command = cargo();
    command.args([task, "--locked", "--target", target]);
    if let Toolchain::WithSource(rustc) = toolchain {
        // A stable compiler accepts `-Z` flags only with this variable.
        command.env("RUSTC", rustc).env("RUSTC_BOOTSTRAP", "1");
        let name = target.to_uppercase().replace('-', "_");
        command.env(format!("CARGO_TARGET_{name}_LINKER"), linker(target));
        command.arg(format!("-Zbuild-std={libraries}"));
    }
    Ok(command)
}

/// Returns the linker, which Debian's package `lld` has.
fn linker(target: &str) -> &'static str {
    if target == WASM { "wasm-ld" } else { "ld.lld" }
}

/// Returns every `rustc` on the search path, then those of Debian's package.
fn compilers() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let listed = output_of("dpkg", &["-L", "rustc-web"]).unwrap_or_default();
    env::split_paths(&path)
        .map(|folder| folder.join("rustc"))
        .chain(listed.lines().map(PathBuf::from))
        .filter(|file| file.ends_with("bin/rustc") && file.is_file())
        .collect()
}

/// Returns whether `rustc` has the source of `core` where cargo looks for it.
fn has_source(rustc: &Path) -> bool {
    output_of(rustc, &["--print", "sysroot"]).is_some_and(|sysroot| {
        Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/core/Cargo.toml").is_file()
    })
}

/// Returns whether `rustc` has at least the workspace's `rust-version`. An outdated Debian does not.
fn is_new_enough(rustc: &Path) -> bool {
    let oldest = version(env!("CARGO_PKG_RUST_VERSION"));
    let found = output_of(rustc, &["--version"]);
    let found = found.and_then(|line| version(line.trim_start_matches("rustc ")));
    oldest.is_some() && found >= oldest
}

/// Returns the first two numbers of a version, which order the releases of `rustc`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(['.', '-', ' ']);
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

/// Returns the output of `name`, if it is installed and succeeds.
pub(crate) fn output_of(name: impl Into<PathBuf>, arguments: &[&str]) -> Option<String> {
    let output = program(name).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        for (text, expected) in [
            ("1.88", Some((1, 88))),
            ("1.96.0 (Debian 1.96.0+dfsg1-1)", Some((1, 96))),
            ("1.100.0-nightly (e50aa6fba 2026-05-19)", Some((1, 100))),
            ("1", None),
            ("", None),
            ("rustc", None),
        ] {
            assert_eq!(version(text), expected, "{text}");
        }
        assert!(version("1.100") > version("1.88"));
        assert!(version("no version") < version("1.88"));
    }
}
