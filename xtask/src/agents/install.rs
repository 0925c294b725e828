//! The programs: `unstuck` itself, the clients from npm, and the Node that they need.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::client::Client;
use super::process;
use crate::machine::{self, cargo, program as command_at_root};

/// The Node under which the clients and the model run. Some clients need 22.
const NODE: &str = "node@22";

/// The folder of the clients, with one folder for each.
const FOLDER: &str = "target/agents/clients";

/// The name of the folder of Node there.
const NODE_FOLDER: &str = "node";

/// The file that says what a folder contains. It is written when everything is there.
const STAMP: &str = "installed";

/// The exit code of `unstuck` for an agent that it does not know.
pub(super) const USAGE: i32 = 64;

/// The time limit of an installation.
const LIMIT: Duration = Duration::from_secs(400);

/// Builds `unstuck` with a profile, and returns its path.
///
/// # Errors
///
/// If it does not compile.
pub(super) fn program(profile: &str) -> Result<PathBuf, String> {
    let mut build = cargo();
    build.args(["build", "--package", "unstuck-cli", "--bin", "unstuck", "--locked"]);
    build.args(["--quiet", "--profile", profile]).stdin(Stdio::null());
    let status = build.status().map_err(|error| format!("cargo: {error}"))?;
    if !status.success() {
        return Err("`unstuck` does not compile".into());
    }
    let own = env::current_exe().map_err(|error| format!("where this program is: {error}"))?;
    // Cargo calls the folder of the profile `dev` otherwise. This program is in it.
    let folder = if profile == "dev" { "debug" } else { profile };
    let target = own.parent().and_then(Path::parent).unwrap_or(&own);
    Ok(target.join(folder).join("unstuck"))
}

/// Returns whether `unstuck install` knows the client.
pub(super) fn is_known(program: &Path, client: &Client) -> bool {
    let mut trial = Command::new(program);
    trial.args(["install", client.name, "--dry-run"]).env("HOME", machine::root().join(FOLDER));
    trial.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    trial.status().is_ok_and(|status| status.code() != Some(USAGE))
}

/// Returns the path of Node.
pub(super) fn node() -> PathBuf {
    bin(NODE_FOLDER).join("node")
}

/// Returns the folder of the programs of a package.
pub(super) fn bin(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name).join("node_modules/.bin")
}

/// Installs a client and Node. Does nothing if they are there in the pinned versions.
///
/// # Errors
///
/// If npm cannot install them.
pub(super) fn client(client: &Client) -> Result<(), String> {
    packages(NODE_FOLDER, &[NODE], Some("node/installArchSpecificPackage"))?;
    packages(client.name, client.packages, client.script)
}

/// Returns whether a client and Node are there in the pinned versions.
pub(super) fn is_installed(client: &Client) -> bool {
    has(NODE_FOLDER, &[NODE]) && has(client.name, client.packages)
}

/// Returns whether the folder `name` has these packages.
fn has(name: &str, packages: &[&str]) -> bool {
    let stamp = machine::root().join(FOLDER).join(name).join(STAMP);
    fs::read_to_string(stamp).is_ok_and(|found| found.trim() == packages.join(" "))
}

/// Installs packages into the folder `name`, and then runs the installation script of the first one: not
/// every npm runs it.
fn packages(name: &str, packages: &[&str], script: Option<&str>) -> Result<(), String> {
    if has(name, packages) {
        return Ok(());
    }
    let folder = machine::root().join(FOLDER).join(name);
    let wanted = packages.join(" ");
    println!("Installing {wanted}");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    fs::write(folder.join("package.json"), "{\"private\": true}\n").map_err(failed)?;
    let mut npm = command_at_root("npm");
    npm.current_dir(&folder)
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
        .args(packages);
    step(&mut npm, &folder, &wanted)?;
    if let Some(script) = script {
        let script = folder.join("node_modules").join(script);
        let mut run = Command::new("node");
        run.arg(&script).current_dir(script.parent().unwrap_or(&folder));
        step(&mut run, &folder, &wanted)?;
    }
    fs::write(folder.join(STAMP), wanted).map_err(failed)
}

/// Runs one step of an installation, with its output in a log.
fn step(command: &mut Command, folder: &Path, wanted: &str) -> Result<(), String> {
    let log = folder.join("npm.log");
    let status = process::run(command, &log, LIMIT)?;
    if status.is_some_and(|status| status.success()) {
        return Ok(());
    }
    Err(format!("{wanted} could not be installed; see {}", log.display()))
}
