//! Builds, tests, packages and installs the library for C and C++.

mod firmware;
mod packages;
mod programs;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::machine::{self, Machine, program};
use crate::microcontroller::{self, EMULATED, EMULATOR, ready};
use crate::step::{Done, Outcome, Steps, run as ran};
use crate::target::Target;

/// The package of the library.
const PACKAGE: &str = "adapters/c";

/// The target folder for everything that belongs to the library.
const FOLDER: &str = "target/c";

/// The tools of the step that have the names of their Debian packages. `CMake` only recommends `make`.
const TOOLS: [&str; 6] = ["gcc", "g++", "valgrind", "pkg-config", "cmake", "make"];

/// The processors whose packages are checked: one for Arduino, which is emulated, and one for ESP-IDF.
const BRIEFLY: [Target; 2] = [Target::Riscv32imc, EMULATED];

/// The arguments of every build of the library.
const BUILD: &str = "--package unstuck-c --lib --features panic-handler --quiet";

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
    let is_check = prefix.is_none() && packages.is_none() && !sizes;
    let mut steps = Steps::default();
    if let Some(prefix) = &prefix {
        steps.then("install", || install(prefix));
    }
    if let Some(folder) = &packages {
        steps.then("packages", || {
            ready(&[], &Target::ALL, machine)?;
            Target::ALL.into_iter().try_for_each(|target| packages::add(folder, target, machine))
        });
    }
    if sizes {
        steps.then("sizes", || firmware::print_sizes(machine));
    }
    if is_check {
        steps.then("c", || check(machine).done());
    }
    steps.finish()
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
        let tools = TOOLS.map(|tool| (tool, tool));
        ready(&[&tools[..], &[firmware::COMPILER], &EMULATOR].concat(), &BRIEFLY, machine)?;
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
    build.args(["rustc", "--locked", "--target-dir", FOLDER]).args(BUILD.split(' '));
    build.args(["--profile", "c", "--crate-type", "staticlib,cdylib"]);
    build.args(["--", "-C", &format!("link-arg=-Wl,-soname,libunstuck.so.{INTERFACE}")]);
    ran(&mut build)?;
    let (from, lib) = (folder("c"), prefix.join("lib"));
    let loaded = format!("libunstuck.so.{VERSION}");
    copy(&of_package("include/unstuck.h"), &prefix.join("include/unstuck.h"))?;
    copy(&from.join("libunstuck_c.a"), &lib.join("libunstuck.a"))?;
    copy(&from.join("libunstuck_c.so"), &lib.join(&loaded))?;
    for name in [format!("libunstuck.so.{INTERFACE}"), "libunstuck.so".into()] {
        ran(program("ln").args(["-sf", &loaded]).arg(lib.join(name)))?;
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
    ran(build.args(BUILD.split(' ')).args(["--crate-type", "staticlib"]))?;
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
