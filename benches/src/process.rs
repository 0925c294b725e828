//! Programs that are started for a benchmark.

use std::env;
use std::ffi::OsString;
use std::io::{self, Error};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the path of the program `unstuck`, which is built into the folder of this program.
pub(crate) fn unstuck() -> io::Result<PathBuf> {
    let own = env::current_exe()?;
    let unstuck = own.with_file_name("unstuck").with_extension(env::consts::EXE_EXTENSION);
    if unstuck.is_file() {
        return Ok(unstuck);
    }
    let path = unstuck.display();
    let how = "`cargo build --profile dist -p unstuck-cli` builds it";
    Err(Error::other(format!("{path} does not exist; {how}")))
}

/// Returns the path of the executable `name`. On the search path there may be a script that starts it.
pub(crate) fn executable(name: &str) -> Option<PathBuf> {
    let arguments: &[&str] = match name {
        "python3" => &["-c", "import sys; print(sys.executable)"],
        "node" => &["-p", "process.execPath"],
        "jq" => &["-n", "empty"],
        _ => &[],
    };
    let output = Command::new(name).args(arguments).stdin(Stdio::null()).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    let path = if path.trim().is_empty() { name } else { path.trim() };
    output.status.success().then(|| path.into())
}

/// Returns a command of these words, without input and output.
pub(crate) fn silent(words: &[OsString]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
