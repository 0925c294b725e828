//! Virtual environments of Python.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::machine::{self, Machine, program};
use crate::step::Outcome;

/// The interpreters that are tried, in this order.
const INTERPRETERS: [&str; 6] =
    ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"];

/// Succeeds for a Python that can run our programs and create environments.
const PROBE: &str = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

/// The Debian packages with a Python that can create environments.
const DEBIAN_PACKAGES: [&str; 2] = ["python3", "python3-venv"];

/// A virtual environment.
pub(crate) struct Environment {
    folder: PathBuf,
}

impl Environment {
    pub(crate) const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns whether the environment was made. If that was interrupted, it has no `pip`.
    pub(crate) fn exists(&self) -> bool {
        is_well(self.python().args(["-m", "pip", "--version"]))
    }

    /// Makes the environment, unless it exists.
    pub(crate) fn make(&self) -> Outcome {
        if self.exists() { Outcome::Passed } else { self.make_anew() }
    }

    /// Makes the environment, without any package. In CI, a missing Python is installed.
    pub(crate) fn make_anew(&self) -> Outcome {
        let found = interpreter().map_or_else(missing, |_| Outcome::Passed);
        found.and_then(|| {
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

    /// Returns a command that runs a module with these arguments.
    pub(crate) fn run(
        &self,
        module: &str,
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Command {
        let mut command = self.python();
        command.args(["-m", module]).args(args);
        command
    }

    /// Returns the command that builds a distribution. The build backend finds its programs in `PATH`.
    pub(crate) fn build(&self, kind: &str) -> Command {
        self.run_in_path("build", [kind, "--no-isolation", "--outdir"])
    }

    /// Returns a command like [`Environment::run`], with the environment's programs first in `PATH`.
    pub(crate) fn run_in_path(
        &self,
        module: &str,
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Command {
        let mut command = self.run(module, args);
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

/// Returns an interpreter that can run our programs.
fn interpreter() -> Option<&'static str> {
    INTERPRETERS.into_iter().find(|name| is_well(program(*name).args(["-c", PROBE])))
}

fn missing() -> Outcome {
    match Machine::here() {
        Machine::Ci => machine::apt_install(&DEBIAN_PACKAGES),
        Machine::Developer => Outcome::LeftOut(
            "there is no Python 3.10 or later with `venv`; on Debian `apt-get install python3-venv` \
             brings it"
                .into(),
        ),
    }
}

/// Returns whether `command` succeeds. Discards its output.
pub(crate) fn is_well(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}
