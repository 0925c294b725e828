//! The version of an agent, and the oldest one that understands its settings.

use std::fmt;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::process;

/// The time that an agent may take to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// The version of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) [u32; 3]);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The oldest version of an agent that understands the settings that `install` writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// The agent's program, which prints its version for `--version`.
    pub(crate) program: &'static str,
    pub(crate) version: Version,
    /// The behaviour of an older version, as the end of a sentence that begins with its name.
    pub(crate) otherwise: &'static str,
}

impl Needs {
    /// Returns a message if the program in `PATH` is too old. Returns `None` if it is new enough, is not
    /// installed or prints no version. `title` is the agent's name for people.
    pub(crate) fn complaint(&self, title: &str) -> Option<String> {
        let version = of(self.program).filter(|version| *version < self.version)?;
        let Self { version: needed, otherwise, .. } = self;
        Some(format!("{title} {version} {otherwise}: update it to {needed} or later"))
    }
}

/// Returns the version that `program` prints.
pub(crate) fn of(program: &str) -> Option<Version> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    first(&process::ended(command.spawn().ok()?, PATIENCE).ok()?.out)
}

/// Returns the first version in `text`.
fn first(text: &str) -> Option<Version> {
    let mut words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.find_map(|word| {
        let numbers: Result<Vec<u32>, _> = word.split('.').map(str::parse).collect();
        numbers.ok()?.try_into().ok().map(Version)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_version_in_a_text_is_found() {
        for (text, version) in [
            ("2.1.240 (Claude Code)\n", Some([2, 1, 240])),
            ("claude v1.0.9-beta.2", Some([1, 0, 9])),
            ("in 4.2 s: 10.20.30", Some([10, 20, 30])),
            ("2.1", None),
            ("99999999999.0.0", None),
            ("", None),
        ] {
            assert_eq!(first(text), version.map(Version), "{text}");
        }
        assert!(Version([2, 1, 99]) < Version([2, 1, 139]));
        assert_eq!(Version([2, 1, 139]).to_string(), "2.1.139");
    }
}
