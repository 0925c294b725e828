//! `unstuck doctor`: what is installed, whether it works, and where its state is.

mod examined;
mod report;
mod state;
mod swarm;
mod trial;

use serde::Serialize;

use crate::agents::Agent;
use crate::agents::host::Scope;
use crate::agents::options::{Doctor, ReportFormat};
use crate::exit::Exit;
use crate::output::{Output, Reader};
use examined::{Examined, Place};
use state::State;

/// The version of the JSON's shape. A field that is added does not change it.
const SCHEMA: u32 = 1;

/// All that there is to tell.
#[derive(Serialize)]
struct Report {
    schema: u32,
    /// Whether hooks do nothing, since the environment says so.
    off: bool,
    places: Vec<Examined>,
    state: Option<State>,
}

pub(crate) fn run(doctor: &Doctor) -> Exit {
    let report = report();
    let works = report.places.iter().all(Examined::is_well);
    let exit = if works { Exit::Clean } else { Exit::Found };
    let (reader, text) = match doctor.format {
        ReportFormat::Human => (Reader::Person, report::human(&report)),
        ReportFormat::Json => (Reader::Program, json(&report)),
    };
    match Output::stdout(reader).write(&text) {
        Ok(()) => exit,
        Err(closed) => closed.exit(exit),
    }
}

fn report() -> Report {
    let mut places = Vec::new();
    for agent in Agent::ALL {
        for scope in Scope::ALL {
            let place = Place::new(agent.host(), scope);
            let is_known = places.iter().any(|one: &Examined| one.settings == place.settings());
            // In the user's folder, the project's settings are the user's.
            if !is_known {
                places.push(place.examined());
            }
        }
    }
    Report { schema: SCHEMA, off: unstuck::is_off(), places, state: State::find() }
}

fn json(report: &Report) -> String {
    // Every part of it has a JSON form.
    serde_json::to_string_pretty(report).map_or_else(|_| String::new(), |text| text + "\n")
}
