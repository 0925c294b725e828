//! Builds the libraries, and installs them where C programmers expect them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::machine::{Machine, cargo};
use crate::microcontroller;
use crate::step::Outcome;
use crate::target::Target;
use crate::toolchain::Toolchain;

use super::{FOLDER, Made, folder, of_package};

/// The arguments of every build of the library.
const BUILD: [&str; 6] =
    ["--package", "unstuck-c", "--lib", "--features", "panic-handler", "--quiet"];

/// The version of the library, and the version of its binary interface. A program that was linked with
/// one version of the interface runs with every library of the same interface version.
const VERSION: &str = env!("CARGO_PKG_VERSION");
const INTERFACE: &str = "0";

/// Libraries that were built.
#[derive(Debug)]
pub(super) struct Library {
    /// The output folder of `rustc`.
    folder: PathBuf,
}

impl Library {
    /// Builds the static and the shared library for this machine.
    pub(super) fn host() -> Made<Self> {
        let mut build = cargo();
        build.args(["rustc", "--locked"]).args(BUILD).args(["--profile", "c"]);
        build.args(["--crate-type", "staticlib,cdylib", "--target-dir", FOLDER]);
        build.args(["--", "-C", &format!("link-arg=-Wl,-soname,libunstuck.so.{INTERFACE}")]);
        Made(match Outcome::of(&mut build) {
            Outcome::Passed => Ok(Self { folder: folder("c") }),
            other => Err(other),
        })
    }

    /// Builds the static library for `target`, optimised for size.
    pub(super) fn small(target: Target, machine: Machine) -> Made<Self> {
        let toolchain = match Toolchain::ready(target, machine) {
            Ok(toolchain) => toolchain,
            Err(outcome) => return Made(Err(outcome)),
        };
        let mut build = toolchain.cargo("rustc", target);
        build.args(BUILD).args(["--crate-type", "staticlib"]);
        Made(match Outcome::of(microcontroller::in_common_folder(&mut build)) {
            Outcome::Passed => Ok(Self { folder: microcontroller::folder(target) }),
            other => Err(other),
        })
    }

    /// Returns the path of the static library.
    pub(super) fn archive(&self) -> PathBuf {
        self.folder.join("libunstuck_c.a")
    }

    /// Installs the libraries, the header, and the files for build systems at `prefix`.
    pub(super) fn install(&self, prefix: &Path) -> io::Result<()> {
        let lib = prefix.join("lib");
        let loaded = format!("libunstuck.so.{VERSION}");
        copy(&of_package("include/unstuck.h"), &prefix.join("include/unstuck.h"))?;
        copy(&self.archive(), &lib.join("libunstuck.a"))?;
        copy(&self.folder.join("libunstuck_c.so"), &lib.join(&loaded))?;
        for name in [format!("libunstuck.so.{INTERFACE}"), "libunstuck.so".into()] {
            link(&loaded, &lib.join(name))?;
        }
        fill("pkg-config/unstuck.pc.in", &lib.join("pkgconfig/unstuck.pc"))?;
        let cmake = lib.join("cmake/unstuck");
        for name in ["unstuck-config.cmake", "unstuck-config-version.cmake"] {
            fill(&format!("cmake/{name}.in"), &cmake.join(name))?;
        }
        println!("installed at {}", prefix.display());
        Ok(())
    }
}

/// Copies the file `from` to `to`, and creates the folder if needed.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", to.display()));
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(named)?;
    }
    fs::copy(from, to).map(drop).map_err(named)
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

/// Writes the template `name` of the package to `file`, with the version filled in.
fn fill(name: &str, file: &Path) -> io::Result<()> {
    let text = fs::read_to_string(of_package("packages").join(name))?;
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text.replace("@VERSION@", VERSION))
}
