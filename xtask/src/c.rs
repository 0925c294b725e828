//! The library for C and C++: built, tried by programs, packed and installed.

mod firmware;
mod library;
mod packages;
mod programs;
mod sizes;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::machine::{self, Machine};
use crate::step::{Outcome, Step, Summary};

use library::Library;

/// The package of the library.
const PACKAGE: &str = "adapters/c";

/// Where everything is built.
const FOLDER: &str = "target/c";

/// The options of `cargo xtask c`. Without any, the library is tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Install the libraries, the header, and the files for `pkg-config` and `CMake` here.
    pub(crate) install: Option<PathBuf>,
    /// Write an ESP-IDF component and an Arduino library here.
    pub(crate) packages: Option<PathBuf>,
    /// Print the code that each function needs on a Cortex-M3.
    pub(crate) sizes: bool,
}

/// Runs the steps that `request` asks for, then prints the outcome of each.
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

/// Programs in C and C++ get from the library what Rust gets from the engine: here, under
/// sanitizers, and on a microcontroller; and what it is packed into holds together.
pub(crate) fn check(machine: Machine) -> Outcome {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        return Outcome::LeftOut(
            "the library for C is tried on Linux with the GNU C library".into(),
        );
    }
    let prefix = folder("prefix");
    let tools = [("gcc", "gcc"), ("g++", "g++"), ("valgrind", "valgrind")];
    // CMake only recommends what it builds with.
    let packers = [("pkg-config", "pkg-config"), ("cmake", "cmake"), ("make", "make")];
    ready(&tools, machine)
        .and_then(|| Library::host().and_then(|host| host.install(&prefix)).into())
        .and_then(|| programs::check(&prefix))
        .and_then(|| firmware::check(machine))
        .and_then(|| ready(&packers, machine))
        .and_then(|| packages::hosted(&prefix))
        .and_then(|| packages::check(machine))
}

/// Passed where every program in `tools` is there; in CI the packages beside their names are
/// installed.
fn ready(tools: &[(&str, &str)], machine: Machine) -> Outcome {
    programs::each(tools, |(name, package)| machine::ready(name, package, machine))
}

/// The folder `name` among those where everything is built.
fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}

/// The file `name` of the package.
fn of_package(name: impl AsRef<Path>) -> PathBuf {
    machine::root().join(PACKAGE).join(name)
}

/// Something that was made, or what came of trying.
#[derive(Debug)]
struct Made<T>(Result<T, Outcome>);

impl<T> Made<T> {
    /// What `next` makes of this, where it was made.
    fn and_then<U>(self, next: impl FnOnce(T) -> io::Result<U>) -> Made<U> {
        Made(self.0.and_then(|made| next(made).map_err(|error| Outcome::Failed(error.to_string()))))
    }
}

impl<T> From<Made<T>> for Outcome {
    fn from(made: Made<T>) -> Self {
        made.0.err().unwrap_or(Self::Passed)
    }
}

/// Runs what reads and writes files.
fn filed(work: impl FnOnce() -> io::Result<()>) -> Outcome {
    match work() {
        Ok(()) => Outcome::Passed,
        Err(error) => Outcome::Failed(error.to_string()),
    }
}
