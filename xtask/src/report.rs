//! Reads the reports of `unstuck scan` with the programs that others use.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::environment::Environment;
use crate::machine::{self, Machine, cargo, program};
use crate::step::{Done, Outcome, Steps, failed_at, run as run_command};
use crate::steps;

/// The program that reads the reports, and the pinned versions of its packages.
const CHECK: &str = "adapters/cli/tests/reports/check.py";
const REQUIREMENTS: &str = "adapters/cli/tests/reports/requirements.txt";

/// The recorded runs, which are scanned as well as the hostile traces.
const RUNS: &str = "adapters/trace/runs";

/// The folder for the environment, the traces and the reports.
const FOLDER: &str = "target/report";

/// The formats that are written. Each report is `report.FORMAT` in the folder of its traces.
const FORMATS: [&str; 7] = ["jsonl", "junit", "sarif", "csv", "markdown", "github", "html"];

/// The program that opens pages in a browser, and its packages.
const PAGE: &str = "adapters/cli/tests/reports/page.mjs";
const PACKAGES: &str = "adapters/cli/tests/reports/package.json";

/// The picture of the recorded runs in the README of the project.
const PICTURE: &str = "adapters/cli/report.png";

/// The part of the page that the picture shows.
const PICTURED: &str = ".run:has(.recurrence):has(.loop)";

/// The names of Chromium.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A package that depends on the crate with the schema of SARIF.
const SCHEMA_MANIFEST: &str = "[package]\nname = \"schema\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                               [workspace]\n\n[dependencies]\nserde-sarif = \"=0.8.0\"\n";

/// Writes the reports and reads each format, then prints the outcome of each step.
pub(crate) fn run(machine: Machine) -> ExitCode {
    let mut steps = Steps::default();
    steps.then("reports", written);
    steps.then("junit", || read("junit", None));
    steps.then("sarif", || read("sarif", Some(&schema()?)));
    steps.then("csv", || read("csv", None));
    steps.then("markdown", || read("markdown", None));
    steps.then("github", || read("github", None));
    steps.then("html", || html(machine));
    steps.finish()
}

fn python() -> Environment {
    Environment::new(folder("python"))
}

/// Returns the file or folder `name` in the target folder.
fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}

/// Writes the reports of the recorded runs and of hostile traces.
fn written() -> Done {
    python().make().done()?;
    python().install(["--requirement", REQUIREMENTS]).done()?;
    let hostile = folder("hostile/traces");
    // A folder that does not exist yet is removed, too.
    let _ = fs::remove_dir_all(&hostile);
    run_command(python().python().args([CHECK, "traces"]).arg(&hostile))?;
    let unstuck = steps::built(&["--bin", "unstuck"])?;
    scan(&unstuck, Path::new(RUNS), &folder("recorded"))?;
    scan(&unstuck, &hostile, &folder("hostile"))
}

/// Scans `input` once and writes a report of each format to `folder`.
fn scan(unstuck: &Path, input: &Path, folder: &Path) -> Done {
    fs::create_dir_all(folder).map_err(failed_at(folder))?;
    let mut scan = program(unstuck);
    scan.args(["scan", "--fail-on", "never"]).arg(input).env_remove("GITHUB_STEP_SUMMARY");
    for format in FORMATS {
        let report = folder.join(format!("report.{format}"));
        scan.args(["--format", format, "-o"]).arg(report);
    }
    let status = scan.status().map_err(failed_at(unstuck))?;
    // Some hostile traces cannot be read.
    match status.code() {
        Some(0 | 3) => Ok(()),
        _ => Err(Outcome::Failed(format!("`unstuck scan` ended with {status}"))),
    }
}

/// Reads the reports of one format, with the help of a file.
fn read(format: &str, file: Option<&Path>) -> Done {
    ["recorded", "hostile"].iter().try_for_each(|reports| {
        run_command(python().python().args([CHECK, format]).arg(folder(reports)).args(file))
    })
}

/// Opens the pages in a browser, and takes the picture of the README.
fn html(machine: Machine) -> Done {
    let node = in_browser(PAGE, machine)?;
    let (recorded, hostile) = (folder("recorded/report.html"), folder("hostile/report.html"));
    run_command(node().arg(&recorded).arg(hostile))?;
    run_command(node().arg("--picture").arg(recorded).args([PICTURE, PICTURED]))
}

/// Returns a function that returns the command to run the program `script`, which opens pages in a browser. The
/// name of the browser is its first argument.
pub(crate) fn in_browser(script: &str, machine: Machine) -> Done<impl Fn() -> Command + use<>> {
    let browser = browser(machine)?;
    machine::ready("npm", "npm", machine).done()?;
    let place = folder("browser").join(script.rsplit('/').next().unwrap_or(script));
    packages(script, &place)?;
    Ok(move || {
        let mut node = program("node");
        node.arg(&place).arg(browser);
        node
    })
}

/// Returns the name of an installed browser.
///
/// # Errors
///
/// The outcome of the step, if there is none.
pub(crate) fn browser(machine: Machine) -> Done<&'static str> {
    let found = BROWSERS.into_iter().find(|name| machine::has(name));
    let browser = found.unwrap_or(BROWSERS[0]);
    machine::ready(browser, "chromium", machine).done()?;
    Ok(browser)
}

/// Copies `script` to `place` and installs its packages beside it, because it finds them by its own place.
fn packages(script: &str, place: &Path) -> Done {
    let folder = folder("browser");
    fs::create_dir_all(&folder)
        .and_then(|()| fs::copy(machine::root().join(script), place))
        .and_then(|_| fs::copy(machine::root().join(PACKAGES), folder.join("package.json")))
        .map_err(failed_at(&folder))?;
    let mut npm = program("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
    run_command(npm.arg(folder))
}

/// Writes what cargo knows about the package with the schema of SARIF, and returns the file.
fn schema() -> Done<PathBuf> {
    let package = folder("schema");
    fs::create_dir_all(package.join("src"))?;
    fs::write(package.join("src/lib.rs"), "")?;
    let manifest = package.join("Cargo.toml");
    fs::write(&manifest, SCHEMA_MANIFEST)?;
    let metadata = package.join("metadata.json");
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(manifest);
    run_command(command.stdout(File::create(&metadata)?))?;
    Ok(metadata)
}
