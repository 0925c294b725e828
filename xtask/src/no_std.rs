//! The build for a microcontroller, where there is no `std` to fall back on.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::{self, Machine, cargo, program};
use crate::step::Outcome;

/// What must build without `std` and without `alloc`: a package and its flags.
const BUILDS: &[&[&str]] = &[
    &["unstuck-core"],
    &["unstuck-core", "--features", "postcard,defmt"],
    &["unstuck-json"],
    &["unstuck-json", "--features", "serde"],
    &["unstuck-text"],
    &["unstuck-text", "--features", "serde"],
];

/// A Cortex-M3: 32 bits, no operating system, no allocator.
pub(crate) const TARGET: &str = "thumbv7m-none-eabi";

/// The Debian packages that can stand in where `rustup` has no such target: a
/// compiler, and the source of `core` in the same version.
pub(crate) const DEBIAN_PACKAGES: &[&str] = &["rustc-web", "rust-web-src"];

/// What can build for [`TARGET`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// The compiler in use; `rustup` has brought it the target.
    Installed,
    /// This compiler, which has the source of `core` beside it to build first.
    WithSource(PathBuf),
}

/// Builds everything in [`BUILDS`] for [`TARGET`].
///
/// Without a toolchain for it the step is left out on a developer's machine; in
/// CI Debian's is installed.
pub(crate) fn build(machine: Machine) -> Outcome {
    match (Toolchain::find(), machine) {
        (Some(toolchain), _) => build_all(&toolchain),
        (None, Machine::Ci) => machine::apt_install(DEBIAN_PACKAGES)
            .and_then(|| Toolchain::find().map_or_else(missing, |toolchain| build_all(&toolchain))),
        (None, Machine::Developer) => missing(),
    }
}

/// What a person reads where nothing can build for [`TARGET`].
fn missing() -> Outcome {
    Outcome::LeftOut(format!(
        "nothing here builds for {TARGET}; `rustup target add {TARGET}` brings it, \
         or on Debian `apt-get install {}`",
        DEBIAN_PACKAGES.join(" ")
    ))
}

/// Builds every package, and gives the first failure if there is one.
fn build_all(toolchain: &Toolchain) -> Outcome {
    // A target folder of its own keeps two compilers from undoing each other's work.
    let folder = ["--target-dir", "target/no_std", "--package"];
    let run = |package: &&[&str]| Outcome::of(toolchain.build().args(folder).args(*package));
    let outcomes: Vec<_> = BUILDS.iter().map(run).collect();
    let failure = outcomes.into_iter().find(|outcome| *outcome != Outcome::Passed);
    failure.unwrap_or(Outcome::Passed)
}

impl Toolchain {
    /// The first toolchain that can build for [`TARGET`], if there is one.
    pub(crate) fn find() -> Option<Self> {
        let installed = output_of("rustc", &["--print", "target-libdir", "--target", TARGET]);
        if installed.is_some_and(|folder| Path::new(folder.trim()).exists()) {
            return Some(Self::Installed);
        }
        compilers()
            .into_iter()
            .find(|rustc| has_source(rustc) && is_new_enough(rustc))
            .map(Self::WithSource)
    }

    /// The command that builds for [`TARGET`]; what, and into which folder, is to be added.
    pub(crate) fn build(&self) -> Command {
        let mut command = cargo();
        command.args(["build", "--locked", "--target", TARGET]);
        if let Self::WithSource(rustc) = self {
            // `-Z` flags need a nightly toolchain, or this word of consent.
            command.env("RUSTC", rustc).env("RUSTC_BOOTSTRAP", "1");
            command.arg("-Zbuild-std=core");
        }
        command
    }
}

/// Every `rustc` on the search path, then those that Debian's package installed
/// wherever it did.
fn compilers() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let listed = DEBIAN_PACKAGES
        .first()
        .and_then(|package| output_of("dpkg", &["-L", package]))
        .unwrap_or_default();
    env::split_paths(&path)
        .map(|folder| folder.join("rustc"))
        .chain(listed.lines().map(PathBuf::from))
        .filter(|file| file.ends_with("bin/rustc") && file.is_file())
        .collect()
}

/// Whether `rustc` has the source of `core` where cargo looks for it.
fn has_source(rustc: &Path) -> bool {
    output_of(rustc, &["--print", "sysroot"]).is_some_and(|sysroot| {
        Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/core/Cargo.toml").is_file()
    })
}

/// Whether `rustc` is of the workspace's `rust-version` or later. A Debian that
/// has not been brought up to date has one that is not.
fn is_new_enough(rustc: &Path) -> bool {
    let oldest = version(env!("CARGO_PKG_RUST_VERSION"));
    let found = output_of(rustc, &["--version"]);
    let found = found.and_then(|line| version(line.trim_start_matches("rustc ")));
    oldest.is_some() && found >= oldest
}

/// The first two numbers of a version, which order the releases of `rustc`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(['.', '-', ' ']);
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

/// What `name` prints, if it is there and succeeds.
fn output_of(name: impl Into<PathBuf>, arguments: &[&str]) -> Option<String> {
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

    #[test]
    fn the_compiler_of_this_build_is_new_enough_and_no_other_program_is() {
        assert!(is_new_enough(Path::new("rustc")));
        assert!(!is_new_enough(Path::new("cargo")));
        assert!(!is_new_enough(Path::new("./no-such-program")));
    }

    #[test]
    fn core_is_built_first_only_where_rustup_has_not_brought_it() {
        let words = |toolchain: &Toolchain| {
            let command = toolchain.build();
            let words = command.get_args().map(|word| word.to_string_lossy());
            words.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            [words(&Toolchain::Installed), words(&Toolchain::WithSource("/usr/bin/rustc".into()))],
            [
                "build --locked --target thumbv7m-none-eabi",
                "build --locked --target thumbv7m-none-eabi -Zbuild-std=core"
            ]
        );
    }
}
