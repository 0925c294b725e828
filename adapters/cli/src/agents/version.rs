//! Whether the agent that is there is new enough for what is installed.

use std::fmt;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::host::Host;
use crate::agents::process;

/// How long an agent may take to say which version it is.
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

/// What an agent must be for its settings to be understood.
#[derive(Debug)]
pub(crate) struct Needs {
    /// The agent's own program, which tells its version.
    pub(crate) program: &'static str,
    pub(crate) version: Version,
    /// What an older one does.
    pub(crate) otherwise: &'static str,
}

impl Host {
    /// What keeps the agent in `PATH` from understanding what is installed: that it is too old. None
    /// if it is not, or if its version cannot be told.
    pub(crate) fn too_old(&self) -> Option<String> {
        let needs = self.needs.as_ref()?;
        let version = told(needs.program).filter(|version| *version < needs.version)?;
        let (name, Needs { version: needed, otherwise, .. }) = (self.name, needs);
        Some(format!("{name} {version} {otherwise}: update it to {needed} or later"))
    }
}

/// The version that `program` says it is.
fn told(program: &str) -> Option<Version> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    read(&process::ended(command.spawn().ok()?, PATIENCE).ok()?.out)
}

/// The first version in `text`.
fn read(text: &str) -> Option<Version> {
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
    fn the_version_is_found_in_what_a_program_says_of_itself() {
        for (text, version) in [
            ("2.1.240 (Claude Code)\n", Some([2, 1, 240])),
            ("claude v1.0.9-beta.2", Some([1, 0, 9])),
            ("in 4.2 s: 10.20.30", Some([10, 20, 30])),
            ("2.1", None),
            ("99999999999.0.0", None),
            ("", None),
        ] {
            assert_eq!(read(text), version.map(Version), "{text}");
        }
        assert!(Version([2, 1, 99]) < Version([2, 1, 139]));
        assert_eq!(Version([2, 1, 139]).to_string(), "2.1.139");
    }
}
