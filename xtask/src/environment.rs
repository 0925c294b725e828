//! Virtual environments of Python.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use crate::machine::{self, Machine, is_well, program};
use crate::step::Outcome;

/// The interpreters that are tried, in this order.
const INTERPRETERS: [&str; 6] =
    ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"];

/// Succeeds for a Python that can run our programs and create environments.
const PROBE: &str = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

/// Checks that there is a Python that can create environments.
pub(crate) fn ready(machine: Machine) -> Outcome {
    let tool = "Python 3.10 or later with `venv`";
    let install = || machine::apt_install(&["python3", "python3-venv"]);
    let is_here = interpreter().is_some();
    machine::brought(is_here, tool, "apt-get install python3-venv", install, machine)
}

/// Returns an interpreter that can run our programs.
fn interpreter() -> Option<&'static str> {
    INTERPRETERS.into_iter().find(|name| is_well(program(*name).args(["-c", PROBE])))
}

/// A virtual environment.
pub(crate) struct Environment {
    folder: PathBuf,
}

impl Environment {
    pub(crate) const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Makes the environment, unless it exists. If that was interrupted, it has no `pip`.
    pub(crate) fn make(&self) -> Outcome {
        let exists = is_well(self.python().args(["-m", "pip", "--version"]));
        if exists { Outcome::Passed } else { self.make_anew() }
    }

    /// Makes the environment, without any package. In CI, a missing Python is installed.
    pub(crate) fn make_anew(&self) -> Outcome {
        ready(Machine::here()).and_then(|| {
            let mut make = program(interpreter().unwrap_or("python3"));
            Outcome::of(make.args(["-m", "venv", "--clear"]).arg(&self.folder))
        })
    }

    /// Installs packages, or does nothing if they are installed.
    pub(crate) fn install(&self, what: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Outcome {
        Outcome::of(self.pip().args(what))
    }

    /// Returns the command that installs what is appended to it.
    pub(crate) fn pip(&self) -> Command {
        self.run("pip", ["install", "--quiet", "--disable-pip-version-check"])
    }

    /// Returns the environment's Python.
    pub(crate) fn python(&self) -> Command {
        self.program("python")
    }

    /// Returns a command that runs a module with these arguments. The environment's programs are the first in `PATH`.
    pub(crate) fn run(
        &self,
        module: &str,
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Command {
        let mut command = self.python();
        command.args(["-m", module]).args(args);
        let path = env::var_os("PATH").unwrap_or_default();
        let paths = [self.folder.join("bin")].into_iter().chain(env::split_paths(&path));
        command.env("PATH", env::join_paths(paths).unwrap_or(path));
        command
    }

    /// Returns a program of the environment.
    pub(crate) fn program(&self, name: &str) -> Command {
        program(self.folder.join("bin").join(name))
    }
}
