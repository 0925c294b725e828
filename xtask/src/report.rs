//! Reads the reports of `unstuck scan` with the programs that others use.

use std::path::Path;

use crate::environment::Environment;
use crate::machine::{self, is_ci};
use crate::step::{Done, Scripts, Steps, script};
use crate::steps;

const SCRIPTS: Scripts = Scripts(include_str!("../scripts/report.sh"));

/// The folder of the tests of reports. `check.py` reads the reports, and `page.mjs` opens pages in a browser.
const TESTS: &str = "adapters/cli/tests/reports";

/// The environment of the programs that read the reports.
const PYTHON: Environment<'_> = Environment("target/report/python");

/// Writes the reports and reads each format, then prints the outcome of each step.
pub(crate) fn run() -> Done {
    let mut steps = Steps::default();
    steps.then("reports", written);
    steps.then("junit", || read("junit", ""));
    steps.then("sarif", || {
        script(&SCRIPTS.part("schema")?, &[])?;
        read("sarif", "target/report/schema/metadata.json")
    });
    for format in ["csv", "markdown", "github"] {
        steps.then(format, || read(format, ""));
    }
    steps.then("html", html);
    steps.finish()
}

/// Writes the reports of the recorded runs and of hostile traces.
fn written() -> Done {
    PYTHON.make()?;
    PYTHON.run(&format!(
        "python -m pip install --requirement {TESTS}/requirements.txt
        rm -rf target/report/hostile/traces
        python {TESTS}/check.py traces \"$ROOT/target/report/hostile/traces\""
    ))?;
    let unstuck = steps::built("unstuck")?;
    for (traces, reports) in [
        ("adapters/trace/runs", "target/report/recorded"),
        ("target/report/hostile/traces", "target/report/hostile"),
    ] {
        let unstuck = unstuck.clone().into();
        script(
            &SCRIPTS.part("write")?,
            &[("TRACES", traces.into()), ("REPORTS", reports.into()), ("UNSTUCK", unstuck)],
        )?;
    }
    Ok(())
}

/// Reads the reports of one format, with the help of a file.
fn read(format: &str, file: &str) -> Done {
    PYTHON.run(&format!(
        "python {TESTS}/check.py {format} target/report/recorded {file}
        python {TESTS}/check.py {format} target/report/hostile {file}"
    ))
}

/// Opens the pages in a browser, and takes the picture of the README.
fn html() -> Done {
    let node = in_browser(&format!("{TESTS}/page.mjs"))?;
    let recorded = "\"$ROOT/target/report/recorded/report.html\"";
    let lines = format!(
        "{node} {recorded} \"$ROOT/target/report/hostile/report.html\"
        {node} --picture {recorded} adapters/cli/report.png '.run:has(.recurrence):has(.loop)'"
    );
    script(&lines, &[])
}

/// Returns the first words of the command that runs the program `path`, which opens pages in a browser. The program is
/// copied beside its packages, because it finds them by its own place.
pub(crate) fn in_browser(path: &str) -> Done<String> {
    let browser = browser()?;
    machine::tools("npm", is_ci())?;
    let lines = format!(
        "mkdir -p target/report/browser
        cp {path} {TESTS}/package.json target/report/browser
        npm install --silent --no-audit --no-fund --ignore-scripts --prefix target/report/browser"
    );
    script(&lines, &[])?;
    let name = Path::new(path).file_name().unwrap_or_default().display();
    Ok(format!("node target/report/browser/{name} {browser}"))
}

/// Returns the name of an installed browser. In CI one is installed.
pub(crate) fn browser() -> Done<&'static str> {
    let mut names = ["chromium", "chromium-browser", "google-chrome"].into_iter();
    let browser = names.find(|name| machine::has(name)).unwrap_or("chromium");
    machine::tools(browser, is_ci())?;
    Ok(browser)
}
