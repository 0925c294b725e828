//! Builds, tests, packages and installs the library for C and C++.

mod firmware;
mod packages;
mod programs;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::machine::{self, Machine};
use crate::microcontroller::{self, EMULATED, EMULATOR, ready};
use crate::step::{Done, Outcome, Step, Summary, run as ran};
use crate::target::Target;

/// The package of the library.
const PACKAGE: &str = "adapters/c";

/// The target folder for everything that belongs to the library.
const FOLDER: &str = "target/c";

/// The tools of the step, each with its Debian package. That of `CMake` only recommends `make`.
const TOOLS: [(&str, &str); 7] = [
    ("gcc", "gcc"),
    ("g++", "g++"),
    ("valgrind", "valgrind"),
    firmware::COMPILER,
    ("pkg-config", "pkg-config"),
    ("cmake", "cmake"),
    ("make", "make"),
];

/// The processors whose packages are checked: one for Arduino, which is emulated, and one for ESP-IDF.
const BRIEFLY: [Target; 2] = [Target::Riscv32imc, EMULATED];

/// The arguments of every build of the library.
const BUILD: [&str; 6] =
    ["--package", "unstuck-c", "--lib", "--features", "panic-handler", "--quiet"];

/// The version of the library, and the version of its binary interface. A program that was linked with
/// one version of the interface runs with every library of the same interface version.
const VERSION: &str = env!("CARGO_PKG_VERSION");
const INTERFACE: &str = "0";

/// Build the library for C; install it, pack it, or test it.
///
/// Without options: links programs in C and C++ with the library, runs them here, under sanitizers, under valgrind and on a
/// microcontroller, and compares their verdicts with Rust's.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    /// Install the libraries, the header, and the files for `pkg-config` and `CMake`
    #[arg(long, value_name = "PREFIX")]
    pub(crate) install: Option<PathBuf>,
    /// Write an ESP-IDF component and an Arduino library
    #[arg(long, value_name = "FOLDER")]
    pub(crate) packages: Option<PathBuf>,
    /// Print the code that each function needs on a Cortex-M3
    #[arg(long)]
    pub(crate) sizes: bool,
}

/// Runs the steps of `request`, then prints the outcome of each.
pub(crate) fn run(request: Request, machine: Machine) -> ExitCode {
    let Request { install: prefix, packages, sizes } = request;
    let mut steps = Vec::new();
    if let Some(prefix) = &prefix {
        steps.push(Step::run("install", || install(prefix).into()));
    }
    if let Some(folder) = &packages {
        let packed = || {
            ready(&[], &Target::ALL, machine)?;
            Target::ALL.into_iter().try_for_each(|target| packages::add(folder, target, machine))
        };
        steps.push(Step::run("packages", || packed().into()));
    }
    if sizes {
        steps.push(Step::run("sizes", || firmware::print_sizes(machine).into()));
    }
    if steps.is_empty() {
        steps.push(Step::run("c", || check(machine)));
    }
    let summary = Summary::of_named(steps);
    print!("\n{summary}");
    summary.exit_code()
}

/// Checks that C and C++ programs get the same verdicts as Rust: on this machine, under sanitizers, and
/// on an emulated microcontroller. Also checks the packages.
pub(crate) fn check(machine: Machine) -> Outcome {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        return Outcome::LeftOut(
            "the library for C is tried on Linux with the GNU C library".into(),
        );
    }
    let checked = || {
        ready(&[&TOOLS[..], &EMULATOR].concat(), &BRIEFLY, machine)?;
        let prefix = folder("prefix");
        install(&prefix)?;
        programs::check(&prefix)?;
        firmware::check(machine)?;
        packages::check(&prefix, machine)
    };
    checked().into()
}

/// Builds the libraries for this machine, and installs them, the header, and the files for build systems
/// at `prefix`.
fn install(prefix: &Path) -> Done {
    let mut build = machine::cargo();
    build.args(["rustc", "--locked"]).args(BUILD).args(["--profile", "c"]);
    build.args(["--crate-type", "staticlib,cdylib", "--target-dir", FOLDER]);
    build.args(["--", "-C", &format!("link-arg=-Wl,-soname,libunstuck.so.{INTERFACE}")]);
    ran(&mut build)?;
    let (from, lib) = (folder("c"), prefix.join("lib"));
    let loaded = format!("libunstuck.so.{VERSION}");
    copy(&of_package("include/unstuck.h"), &prefix.join("include/unstuck.h"))?;
    copy(&from.join("libunstuck_c.a"), &lib.join("libunstuck.a"))?;
    copy(&from.join("libunstuck_c.so"), &lib.join(&loaded))?;
    for name in [format!("libunstuck.so.{INTERFACE}"), "libunstuck.so".into()] {
        link(&loaded, &lib.join(name))?;
    }
    for (template, file) in [
        ("pkg-config/unstuck.pc.in", "pkgconfig/unstuck.pc"),
        ("cmake/unstuck-config.cmake.in", "cmake/unstuck/unstuck-config.cmake"),
        ("cmake/unstuck-config-version.cmake.in", "cmake/unstuck/unstuck-config-version.cmake"),
    ] {
        let (template, file) = (of_package("packages").join(template), lib.join(file));
        copy(&template, &file)?;
        fs::write(file, fs::read_to_string(template)?.replace("@VERSION@", VERSION))?;
    }
    println!("installed at {}", prefix.display());
    Ok(())
}

/// Builds the static library for `target`, optimised for size, and returns its path.
fn small(target: Target, machine: Machine) -> Done<PathBuf> {
    let mut build = microcontroller::cargo("rustc", target, machine)?;
    ran(build.args(BUILD).args(["--crate-type", "staticlib"]))?;
    Ok(microcontroller::folder(target).join("libunstuck_c.a"))
}

/// Returns the folder `name` inside [`FOLDER`].
fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}

/// Returns the file `name` of the package.
fn of_package(name: impl AsRef<Path>) -> PathBuf {
    machine::root().join(PACKAGE).join(name)
}

/// Copies the file or the folder `from` to `to`, and creates the folders that are needed.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        return fs::read_dir(from)?.try_for_each(|entry| {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))
        });
    }
    let copied = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(from, to));
    copied.map(drop).map_err(|error| io::Error::other(format!("{}: {error}", to.display())))
}

/// Makes `name` a symbolic link to `file`, which is in the same folder.
fn link(file: &str, name: &Path) -> io::Result<()> {
    match fs::remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => symlink(file, name),
    }
}

#[cfg(unix)]
use std::os::unix::fs::symlink;

/// Copies the file instead, because links are uncommon on this platform.
#[cfg(not(unix))]
fn symlink(file: &str, name: &Path) -> io::Result<()> {
    fs::copy(name.with_file_name(file), name).map(drop)
}
