//! Builds, tests, packages and installs the library for C and C++.

mod firmware;
mod library;
mod packages;
mod programs;
mod sizes;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::machine::{self, Machine};
use crate::step::{Outcome, Step, Summary};

use library::Library;

/// The package of the library.
const PACKAGE: &str = "adapters/c";

/// The target folder for everything that belongs to the library.
const FOLDER: &str = "target/c";

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
    let Request { install, packages, sizes } = request;
    let mut steps = Vec::new();
    if let Some(prefix) = &install {
        steps.push(Step::run("install", || {
            Library::host().and_then(|host| host.install(prefix)).into()
        }));
    }
    if let Some(folder) = &packages {
        steps.push(Step::run("packages", || packages::all(folder, machine)));
    }
    if sizes {
        steps.push(Step::run("sizes", || sizes::print(machine)));
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
    let prefix = folder("prefix");
    let tools = [("gcc", "gcc"), ("g++", "g++"), ("valgrind", "valgrind")];
    // The Debian package of CMake only recommends `make`.
    let packers = [("pkg-config", "pkg-config"), ("cmake", "cmake"), ("make", "make")];
    ready(&tools, machine)
        .and_then(|| Library::host().and_then(|host| host.install(&prefix)).into())
        .and_then(|| programs::check(&prefix))
        .and_then(|| firmware::check(machine))
        .and_then(|| ready(&packers, machine))
        .and_then(|| packages::hosted(&prefix))
        .and_then(|| packages::check(machine))
}

/// Checks that all `tools` are present. In CI, missing ones are installed from the package named beside
/// each tool.
fn ready(tools: &[(&str, &str)], machine: Machine) -> Outcome {
    programs::each(tools, |(name, package)| machine::ready(name, package, machine))
}

/// Returns the folder `name` inside [`FOLDER`].
fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}

/// Returns the file `name` of the package.
fn of_package(name: impl AsRef<Path>) -> PathBuf {
    machine::root().join(PACKAGE).join(name)
}

/// A value, or the outcome of the step that failed to make it.
#[derive(Debug)]
struct Made<T>(Result<T, Outcome>);

impl<T> Made<T> {
    /// Applies `next` to the value. An I/O error becomes a failed outcome.
    fn and_then<U>(self, next: impl FnOnce(T) -> io::Result<U>) -> Made<U> {
        Made(self.0.and_then(|made| next(made).map_err(|error| Outcome::Failed(error.to_string()))))
    }
}

impl<T> From<Made<T>> for Outcome {
    fn from(made: Made<T>) -> Self {
        made.0.err().unwrap_or(Self::Passed)
    }
}

/// Runs work on files. An I/O error becomes a failed outcome.
fn filed(work: impl FnOnce() -> io::Result<()>) -> Outcome {
    match work() {
        Ok(()) => Outcome::Passed,
        Err(error) => Outcome::Failed(error.to_string()),
    }
}
