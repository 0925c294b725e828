//! Builds, tests, packages and installs the library for C and C++.

mod firmware;
mod packages;
mod programs;

use std::path::{self, PathBuf};

use clap::Args;

use crate::machine::{self, is_ci};
use crate::microcontroller::{self, built};
use crate::step::{Done, Steps, run as ran, script};
use crate::toolchain::{RISC_V, TARGETS};
use crate::{bare, checks};

/// The arguments of every build of the library.
const BUILD: &str = "--package unstuck-c --lib --features panic-handler --quiet";

/// The version of the library.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Builds the libraries for this machine, and installs them, the header, and the files for build systems. The last number
/// of `soname` is the version of the binary interface: a program that was linked with one version of the interface runs
/// with every library of the same interface version.
const INSTALL: &str = "
    cargo rustc --locked --target-dir target/c {build} --profile c --crate-type staticlib,cdylib -- \
        -C link-arg=-Wl,-soname,libunstuck.so.0
    mkdir -p \"$PREFIX/include\" \"$PREFIX/lib/pkgconfig\" \"$PREFIX/lib/cmake/unstuck\"
    cp adapters/c/include/unstuck.h \"$PREFIX/include\"
    cp target/c/c/libunstuck_c.a \"$PREFIX/lib/libunstuck.a\"
    cp target/c/c/libunstuck_c.so \"$PREFIX/lib/libunstuck.so.$VERSION\"
    ln -sf libunstuck.so.$VERSION \"$PREFIX/lib/libunstuck.so.0\"
    ln -sf libunstuck.so.$VERSION \"$PREFIX/lib/libunstuck.so\"
    cd adapters/c/packages && sed s/@VERSION@/$VERSION/ pkg-config/unstuck.pc.in > \"$PREFIX/lib/pkgconfig/unstuck.pc\"
    cd adapters/c/packages/cmake && for name in unstuck-config unstuck-config-version; do \
        sed s/@VERSION@/$VERSION/ $name.cmake.in > \"$PREFIX/lib/cmake/unstuck/$name.cmake\" || exit 1; done
    echo \"installed at $PREFIX\"";

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
    script(&INSTALL.replace("{build}", BUILD), &variables)
}

/// Builds the static library for `target`, optimised for size, and returns its path.
fn small(target: &str) -> Done<String> {
    let mut build = microcontroller::cargo("rustc", target)?;
    ran(build.args(BUILD.split(' ')).args(["--crate-type", "staticlib"]))?;
    Ok(built(target, "libunstuck_c.a"))
}
