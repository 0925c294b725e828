//! Real calls: those of the recorded runs beside the project, if they are present.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;
use unstuck_trace::Event;

/// The reason in a report if the runs are absent.
pub const ABSENT: &str = "real calls: there is no folder ../shared/traces beside the project";

/// A set of recorded runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Recorded {
    /// The labelled runs, of many benchmarks and models.
    Traces,
    /// Sessions of coding agents at real work. Their results are longer.
    TracesModern,
}

/// A call of a recorded agent, with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments, as JSON.
    pub args: String,
    /// The result.
    pub result: String,
    /// Whether the recording flags the result as failed.
    pub failed: bool,
}

impl Recorded {
    /// Returns the name of the folder, which stands beside the project in `shared`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::TracesModern => "traces-modern",
        }
    }

    /// Returns the calls of every run that has one, run by run, in the order of the file names. Calls
    /// without a result are left out. Returns no run if the folder is absent.
    pub fn runs(self) -> Vec<Vec<RealCall>> {
        let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
        let sources = within(&shared.join(self.name()));
        let mut files: Vec<_> = sources.flat_map(|source| within(&source)).collect();
        files.sort();
        let files = files.iter().filter_map(|file| fs::read(file).ok());
        files.map(|bytes| calls(&bytes)).filter(|calls| !calls.is_empty()).collect()
    }
}

/// Returns the paths in `folder`, or none if it is no folder.
fn within(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

/// Returns the calls of a run, in any format. Unreadable lines are left out.
fn calls(run: &[u8]) -> Vec<RealCall> {
    let (mut calls, mut open) = (Vec::new(), HashMap::new());
    let _ = unstuck_trace::read(run, None, &mut |event| match event {
        Event::Call(call) => {
            open.insert(call.index, (call.tool.to_owned(), call.lasting_args().into_owned()));
        }
        Event::Outcome(outcome) => {
            if let Some((tool, args)) = open.remove(&outcome.call) {
                let (result, failed) = (outcome.text.to_owned(), outcome.failed);
                calls.push(RealCall { tool, args, result, failed });
            }
        }
        Event::Message(_) | Event::Begin(_) | Event::Usage(_) | Event::Time(_) => {}
    });
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read_with_its_result() {
        let run = br#"{"type":"call","tool":"bash","args":{"command":"make"},"result":"no rule","is_error":true}
{"type":"call","tool":"bash","args":{"command":"ls"}}
"#;
        let make = RealCall {
            tool: "bash".to_owned(),
            args: r#"{"command":"make"}"#.to_owned(),
            result: "no rule".to_owned(),
            failed: true,
        };
        assert_eq!(calls(run)[0], make);
    }

    #[test]
    fn every_run_has_a_call() {
        for recorded in Recorded::value_variants() {
            assert!(recorded.runs().iter().all(|run| !run.is_empty()));
        }
    }
}
