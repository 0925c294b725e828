//! `unstuck doctor`: check the installed hooks by running each once, and show where state is stored.
//!
//! A hook that fails or cannot store its state is silent, so only running it as the agent would shows a fault. The
//! settings of a project may be a stranger's: a line from there is run only if it runs this program and nothing
//! else.

mod examination;
mod report;
mod state;
#[cfg(feature = "fleet")]
mod swarm;
#[cfg(not(feature = "fleet"))]
#[path = "doctor/no_swarm.rs"]
mod swarm;
mod trial;

use std::slice;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::agents::Agent;
use crate::agents::host::Scope;
use crate::exit::Exit;
use crate::output::{Reader, print};
use examination::{Examination, SettingsFile};
use state::State;

const HEALTH: &str = "Problems are: a hook that fails or is missing, a hook of another version or that the \
                      agent does not trust or has switched off, a second installation, and a state folder \
                      that hooks cannot write to or that other users can.\n\n\
                      Exit codes: 0 everything that is installed works, 1 something does not, 4 the \
                      output could not be written, 64 a usage error.";

#[derive(Args)]
#[command(after_help = HEALTH)]
pub(crate) struct Doctor {
    /// The agent to check [default: all; those without settings are in one line]
    #[arg(value_enum, value_name = "AGENT")]
    agent: Option<Agent>,
    /// The format of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// For people
    Human,
    /// One JSON document
    Json,
}

/// The version of the JSON report. An added field does not change it.
const SCHEMA: u32 = 1;

/// The whole report.
#[derive(Serialize)]
struct Report {
    schema: u32,
    /// The environment turns hooks off.
    off: bool,
    places: Vec<Examination>,
    state: Option<State>,
}

impl Report {
    /// Returns whether hooks can store their state.
    fn can_store(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.faults.is_empty())
    }
}

pub(crate) fn run(doctor: &Doctor) -> Exit {
    let report = report(doctor.agent);
    let works = report.places.iter().all(Examination::is_well);
    let is_installed = report.places.iter().any(Examination::is_installed);
    let works = works && (!is_installed || report.can_store());
    let exit = if works { Exit::Clean } else { Exit::Found };
    let (reader, text) = match doctor.format {
        ReportFormat::Human => (Reader::Person, report::human(&report, doctor.agent.is_none())),
        ReportFormat::Json => (Reader::Program, json(&report)),
    };
    print(reader, &text, exit)
}

/// Examines one agent, or all.
fn report(named: Option<Agent>) -> Report {
    let mut places: Vec<Examination> = Vec::new();
    for agent in named.as_ref().map_or(Agent::ALL, slice::from_ref) {
        let first = places.len();
        let mut files: Vec<SettingsFile> = Vec::new();
        for scope in Scope::ALL {
            let file = SettingsFile::new(agent.host(), scope);
            // In the home folder the project's settings are the user's.
            if !files.iter().any(|known| known.is_same(&file)) {
                places.push(file.examine());
                files.push(file);
            }
        }
        examination::report_twice(&mut places[first..]);
    }
    Report { schema: SCHEMA, off: unstuck::is_off(), places, state: State::find() }
}

fn json(report: &Report) -> String {
    // Every part of the report can be written as JSON.
    serde_json::to_string_pretty(report).map_or_else(|_| String::new(), |text| text + "\n")
}
