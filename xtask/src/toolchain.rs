//! Finds or installs a compiler for microcontrollers and for WebAssembly.

use std::env;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::{self, Machine, cargo, program};
use crate::step::{Done, Outcome, command};
use crate::target::Target;

/// The Debian packages to use if `rustup` has no such target: a compiler, the source of `core` in the
/// same version, and a linker.
const DEBIAN_PACKAGES: &str = "rustc-web rust-web-src lld";

/// A compiler for a [`Target`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// The current compiler, with a target installed by `rustup`.
    Installed,
    /// This compiler, which builds `core` from its source first.
    WithSource(PathBuf),
}

impl Toolchain {
    /// Returns a toolchain for `target`. In CI, one is installed if there is none.
    ///
    /// # Errors
    ///
    /// The outcome of the step, if there is no toolchain. It says how to install one.
    pub(crate) fn ready(target: Target, machine: Machine) -> Done<Self> {
        let debian = || machine::apt_install(DEBIAN_PACKAGES);
        let rustup = || command(&format!("rustup target add {}", target.name()));
        let ways: [&dyn Fn() -> Done; 2] = match target {
            // Debian's compiler has to build `std` first.
            Target::Wasm32 => [&rustup, &debian],
            _ => [&debian, &rustup],
        };
        let installed = ways.iter().filter(|_| machine == Machine::Ci).map(|install| {
            let _ = install();
            Self::find(target)
        });
        let mut found = iter::once(Self::find(target)).chain(installed).flatten();
        let name = target.name();
        found.next().ok_or_else(|| {
            Outcome::LeftOut(format!(
                "nothing here builds for {name}; `rustup target add {name}` brings it, or on Debian \
                 `apt-get install {DEBIAN_PACKAGES}`"
            ))
        })
    }

    /// Returns the version of the compiler, and whether it builds `core` itself. Budgets of code name
    /// it.
    pub(crate) fn compiler(&self) -> Option<String> {
        let (rustc, origin) = match self {
            Self::Installed => (Path::new("rustc"), ""),
            Self::WithSource(rustc) => (rustc.as_path(), ", core from source"),
        };
        let version = output_of(rustc, &["--version"])?;
        Some(format!("{}{origin}", version.trim()))
    }

    /// Returns the first toolchain that can build for `target`, if there is one.
    pub(crate) fn find(target: Target) -> Option<Self> {
        let arguments = ["--print", "target-libdir", "--target", target.name()];
        let installed = output_of("rustc", &arguments);
        if installed.is_some_and(|folder| Path::new(folder.trim()).exists()) {
            return Some(Self::Installed);
        }
        machine::has(target.linker())
            .then(compilers)?
            .into_iter()
            .find(|rustc| has_source(rustc) && is_new_enough(rustc))
            .map(Self::WithSource)
    }

    /// Returns a `cargo` command for `target`, with only `core` available. The caller adds the package
    /// and the target folder. Each toolchain needs a folder of its own, because two compilers overwrite
    /// each other's output.
    pub(crate) fn cargo(&self, task: &str, target: Target) -> Command {
        self.cargo_with("core", task, target)
    }

    /// Like [`Toolchain::cargo`], with these libraries.
    pub(crate) fn cargo_with(&self, libraries: &str, task: &str, target: Target) -> Command {
        let mut command = cargo();
        command.args([task, "--locked", "--target", target.name()]);
        if let Self::WithSource(rustc) = self {
            // A stable compiler accepts `-Z` flags only with this variable.
            command.env("RUSTC", rustc).env("RUSTC_BOOTSTRAP", "1");
            command.env(target.linker_variable(), target.linker());
            command.arg(format!("-Zbuild-std={libraries}"));
        }
        command
    }
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
