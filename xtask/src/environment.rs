//! Virtual environments of Python.

use std::env;
use std::iter;

use crate::machine::{is_ci, is_well, program, root, tools};
use crate::step::{Done, run, script};

/// The interpreters that are tried, in this order.
const INTERPRETERS: [&str; 6] =
    ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"];

/// Succeeds for a Python that can run our programs and create environments.
const PROBE: &str = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

/// Returns a Python that can create environments, if there is one.
pub(crate) fn interpreter() -> Option<&'static str> {
    INTERPRETERS.into_iter().find(|name| is_well(program(*name).args(["-c", PROBE])))
}

/// A virtual environment: its folder, relative to the root of the repository.
#[derive(Clone, Copy)]
pub(crate) struct Environment<'f>(pub(crate) &'f str);

impl Environment<'_> {
    /// Makes the environment, unless it exists. If that was interrupted, it has no `pip`.
    pub(crate) fn make(self) -> Done {
        let python = root().join(self.0).join("bin/python");
        let exists = is_well(program(python).args(["-m", "pip", "--version"]));
        if exists { Ok(()) } else { self.make_anew() }
    }

    /// Makes the environment, without any package. In CI, a missing Python is installed.
    pub(crate) fn make_anew(self) -> Done {
        tools("python", is_ci())?;
        run(program(interpreter().unwrap_or("python3")).args(["-m", "venv", "--clear", self.0]))
    }

    /// Runs a script in which `python` is that of the environment.
    pub(crate) fn run(self, lines: &str) -> Done {
        let path = env::var_os("PATH").unwrap_or_default();
        let paths = iter::once(root().join(self.0).join("bin")).chain(env::split_paths(&path));
        let path = env::join_paths(paths).unwrap_or(path);
        let variables = [
            ("PATH", path),
            ("PIP_QUIET", "1".into()),
            ("PIP_DISABLE_PIP_VERSION_CHECK", "1".into()),
        ];
        script(lines, &variables)
    }
}
