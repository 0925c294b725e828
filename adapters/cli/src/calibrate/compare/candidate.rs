//! What `--compare` names: policies, and limits of steps.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use unstuck_report::config;
use unstuck_report::shown::plain;
use unstuck_text::Preset;

use crate::exit::Exit;
use crate::policy;
use crate::policy::options::preset;
use crate::scan::options::Scan;

/// The beginning of the name of a limit of steps.
const STEPS: &str = "steps:";

/// A policy or a limit, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CandidateName {
    /// A policy that has a name.
    Policy(String),
    /// A policy in a file.
    File(PathBuf),
    /// A limit of the calls of a run.
    Steps(NonZeroU32),
}

impl FromStr for CandidateName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(number) = text.strip_prefix(STEPS) {
            return number.parse().map(Self::Steps).map_err(|_| {
                format!("a limit of steps is a number of calls from 1 on, for example {STEPS}60")
            });
        }
        if config::names().any(|name| name == text) {
            return Ok(Self::Policy(text.to_owned()));
        }
        if Path::new(text).extension().is_some_and(|extension| extension == "toml") {
            return Ok(Self::File(text.into()));
        }
        let names: Vec<_> = config::names().collect();
        let names = names.join(", ");
        Err(format!("no policy has this name; expected {STEPS}N, a FILE.toml, or one of {names}"))
    }
}

impl CandidateName {
    /// Returns the file that is read for it, if there is one.
    pub(crate) const fn file(&self) -> Option<&PathBuf> {
        if let Self::File(path) = self { Some(path) } else { None }
    }
}

/// A policy or a limit that judges the runs.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) judge: Judge,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Judge {
    Policy(&'static Preset),
    /// The run ends when it asks for one call more than this.
    Steps(usize),
}

/// Loads what the command line names. Prints an error if a file is wrong, or if two have one name.
pub(super) fn load(names: &[CandidateName]) -> Result<Vec<Candidate>, Exit> {
    let (mut candidates, mut seen) = (Vec::new(), HashSet::new());
    for name in names {
        let (name, judge) = match name {
            CandidateName::Policy(name) => (name.clone(), Judge::Policy(preset(name))),
            CandidateName::File(path) => {
                let preset = policy::load(path)?;
                (preset.policy.name().to_owned(), Judge::Policy(preset))
            }
            CandidateName::Steps(steps) => {
                let most = usize::try_from(steps.get()).unwrap_or(usize::MAX);
                (format!("{STEPS}{steps}"), Judge::Steps(most))
            }
        };
        if !seen.insert(name.clone()) {
            let what =
                format!("--compare has {} twice: each needs a name of its own", plain(&name));
            return Err(Scan::misused(what));
        }
        candidates.push(Candidate { name, judge });
    }
    Ok(candidates)
}
