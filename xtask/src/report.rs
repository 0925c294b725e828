//! Reads the reports of `unstuck scan` with the programs that others use.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::environment::Environment;
use crate::machine::{self, Machine, cargo, program};
use crate::step::{Outcome, Step, Summary};
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
    let mut is_ready = false;
    let mut steps = vec![Step::run("reports", || {
        let outcome = environment().and_then(written);
        is_ready = outcome == Outcome::Passed;
        outcome
    })];
    if is_ready {
        steps.push(Step::run("junit", || each("junit")));
        steps.push(Step::run("sarif", sarif));
        steps.push(Step::run("csv", || each("csv")));
        steps.push(Step::run("markdown", || each("markdown")));
        steps.push(Step::run("github", || each("github")));
        steps.push(Step::run("html", || html(machine)));
    }
    let summary = Summary::of_named(steps);
    print!("\n{summary}");
    summary.exit_code()
}

/// Makes the environment.
fn environment() -> Outcome {
    python().make().and_then(|| python().install(["--requirement", REQUIREMENTS]))
}

fn python() -> Environment {
    Environment::new(folder("python"))
}

/// Returns the file or folder `name` in the target folder.
fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}

/// Writes the reports of the recorded runs and of hostile traces.
fn written() -> Outcome {
    let hostile = folder("hostile/traces");
    // A folder that does not exist yet is removed, too.
    let _ = fs::remove_dir_all(&hostile);
    let traces = Outcome::of(python().python().args([CHECK, "traces"]).arg(&hostile));
    traces.and_then(|| match steps::built(&["--bin", "unstuck"]) {
        Ok(unstuck) => scan(&unstuck, Path::new(RUNS), &folder("recorded"))
            .and_then(|| scan(&unstuck, &hostile, &folder("hostile"))),
        Err(outcome) => outcome,
    })
}

/// Scans `input` once and writes a report of each format to `folder`.
fn scan(unstuck: &Path, input: &Path, folder: &Path) -> Outcome {
    if let Err(error) = fs::create_dir_all(folder) {
        return Outcome::Failed(format!("{}: {error}", folder.display()));
    }
    let mut scan = program(unstuck);
    scan.args(["scan", "--fail-on", "never"]).arg(input).env_remove("GITHUB_STEP_SUMMARY");
    for format in FORMATS {
        let report = folder.join(format!("report.{format}"));
        scan.args(["--format", format, "-o"]).arg(report);
    }
    match scan.status() {
        // Some hostile traces cannot be read.
        Ok(status) if matches!(status.code(), Some(0 | 3)) => Outcome::Passed,
        Ok(status) => Outcome::Failed(format!("`unstuck scan` ended with {status}")),
        Err(error) => Outcome::Failed(format!("`unstuck scan` did not start: {error}")),
    }
}

/// Checks the reports of one format.
fn each(format: &str) -> Outcome {
    let check = |reports: &str| {
        let mut check = python().python();
        Outcome::of(check.args([CHECK, format]).arg(folder(reports)))
    };
    check("recorded").and_then(|| check("hostile"))
}

/// Opens the pages in a browser, and takes the picture of the README.
fn html(machine: Machine) -> Outcome {
    let node = match in_browser(PAGE, machine) {
        Ok(node) => node,
        Err(outcome) => return outcome,
    };
    let (recorded, hostile) = (folder("recorded/report.html"), folder("hostile/report.html"));
    Outcome::of(node().arg(&recorded).arg(hostile))
        .and_then(|| Outcome::of(node().arg("--picture").arg(recorded).args([PICTURE, PICTURED])))
}

/// Returns a function that returns the command to run the program `script`, which opens pages in a browser. The
/// name of the browser is its first argument.
pub(crate) fn in_browser(
    script: &str,
    machine: Machine,
) -> Result<impl Fn() -> Command + use<>, Outcome> {
    let browser = browser(machine)?;
    let ready = machine::ready("npm", "npm", machine).and_then(|| packages(script));
    let place = folder("browser").join(script.rsplit('/').next().unwrap_or(script));
    match ready {
        Outcome::Passed => Ok(move || {
            let mut node = program("node");
            node.arg(&place).arg(browser);
            node
        }),
        missing => Err(missing),
    }
}

/// Returns the name of an installed browser.
///
/// # Errors
///
/// The outcome of the step, if there is none.
pub(crate) fn browser(machine: Machine) -> Result<&'static str, Outcome> {
    let found = BROWSERS.into_iter().find(|name| machine::has(name));
    let browser = found.unwrap_or(BROWSERS[0]);
    match machine::ready(browser, "chromium", machine) {
        Outcome::Passed => Ok(browser),
        missing => Err(missing),
    }
}

/// Installs the packages of `script` and puts it beside them, because it finds them by its own place.
fn packages(script: &str) -> Outcome {
    let folder = folder("browser");
    let name = script.rsplit('/').next().unwrap_or(script);
    let copied = fs::create_dir_all(&folder)
        .and_then(|()| fs::copy(machine::root().join(script), folder.join(name)))
        .and_then(|_| fs::copy(machine::root().join(PACKAGES), folder.join("package.json")));
    if let Err(error) = copied {
        return Outcome::Failed(format!("{}: {error}", folder.display()));
    }
    let mut npm = program("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
    Outcome::of(npm.arg(folder))
}

/// Checks the reports in SARIF by its schema.
fn sarif() -> Outcome {
    let metadata = match schema() {
        Ok(metadata) => metadata,
        Err(error) => return Outcome::Failed(format!("the schema: {error}")),
    };
    let check = |reports: &str| {
        let mut check = python().python();
        Outcome::of(check.args([CHECK, "sarif"]).arg(folder(reports)).arg(&metadata))
    };
    check("recorded").and_then(|| check("hostile"))
}

/// Writes what cargo knows about the package with the schema, and returns the file.
fn schema() -> io::Result<PathBuf> {
    let package = folder("schema");
    fs::create_dir_all(package.join("src"))?;
    fs::write(package.join("src/lib.rs"), "")?;
    let manifest = package.join("Cargo.toml");
    fs::write(&manifest, SCHEMA_MANIFEST)?;
    let metadata = package.join("metadata.json");
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(manifest);
    match command.stdout(File::create(&metadata)?).status()? {
        status if status.success() => Ok(metadata),
        status => Err(io::Error::other(format!("`cargo metadata` ended with {status}"))),
    }
}
