//! Builds, tests, packages and installs the library for C and C++.

mod firmware;
mod packages;
mod programs;

use std::path::{self, PathBuf};

use clap::Args;

use crate::machine::{self, is_ci};
use crate::microcontroller::{self, built};
use crate::step::{Done, Scripts, Steps, run as ran, script};
use crate::toolchain::{RISC_V, TARGETS};
use crate::{bare, checks};

const SCRIPTS: Scripts = Scripts(include_str!("../scripts/c.sh"));

/// The arguments of every build of the library.
const BUILD: &str = "--package unstuck-c --lib --features panic-handler --quiet";

/// The version of the library.
const VERSION: &str = env!("CARGO_PKG_VERSION");

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

/// Runs the steps of the request, then prints the outcome of each.
pub(crate) fn run(Request { install: prefix, packages, sizes }: Request) -> Done {
    let is_check = prefix.is_none() && packages.is_none() && !sizes;
    let mut steps = Steps::default();
    if let Some(prefix) = prefix {
        steps.then("install", || install(path::absolute(prefix)?));
    }
    if let Some(folder) = packages {
        steps.then("packages", || {
            machine::tools(&TARGETS.join(" "), is_ci())?;
            let folder = path::absolute(folder)?;
            TARGETS.iter().try_for_each(|target| packages::add(&folder, target))
        });
    }
    if sizes {
        steps.then("sizes", firmware::print_sizes);
    }
    if is_check {
        steps.then("c", || {
            checks::ready("c")?;
            machine::tools(RISC_V, is_ci())?;
            check()?;
            packages::check_component()
        });
    }
    steps.finish()
}

/// Checks that C and C++ programs get the same verdicts as Rust: on this machine, under sanitizers, and
/// on an emulated microcontroller. Also checks the packages but the ESP-IDF component, whose library would take another
/// minute.
pub(crate) fn check() -> Done {
    bare::readable()?;
    install(machine::root().join("target/c/prefix"))?;
    programs::check()?;
    firmware::check()?;
    packages::check()
}

fn install(prefix: PathBuf) -> Done {
    let variables = [("PREFIX", prefix.into()), ("VERSION", VERSION.into())];
    script(&SCRIPTS.part("install")?.replace("{build}", BUILD), &variables)
}

/// Builds the static library for `target`, optimised for size, and returns its path.
fn small(target: &str) -> Done<String> {
    let mut build = microcontroller::cargo("rustc", target)?;
    ran(build.args(BUILD.split(' ')).args(["--crate-type", "staticlib"]))?;
    Ok(built(target, "libunstuck_c.a"))
}
