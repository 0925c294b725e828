//! An archive of transcripts, scanned by `unstuck scan` and by the engines of the package for Python.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::fleet::Table;
use crate::machine::{self, Machine};
use crate::python;
use crate::step::Outcome;

/// The program that makes the archive, runs the engines and compares their tables.
const PROGRAM: &str = "adapters/python/benches/archives.py";

/// The recorded runs that are varied. Only the first folder is in every tree.
const RUNS: [&str; 4] =
    ["adapters/trace/runs", "../shared/formats", "../shared/traces", "../shared/traces-modern"];

/// The engines, whose pinned versions stand beside their tests.
const ENGINES: [&str; 4] = ["spark", "ray", "duckdb", "polars"];

/// The folder for the environment, the archive and the tables.
const FOLDER: &str = "target/fleet/archives";

/// The variable with the size of the archive in GB.
const SIZE: &str = "UNSTUCK_ARCHIVE_GB";

/// The size without this variable.
const SIZE_DEFAULT: &str = "20";

/// Makes an archive, measures the engines on it, and removes it.
pub(super) fn run(machine: Machine, table: &mut Table) -> Outcome {
    let size = env::var(SIZE).unwrap_or_else(|_| SIZE_DEFAULT.to_owned());
    if !size.parse().is_ok_and(|size: f64| size > 0.0) {
        return Outcome::Failed(format!("{SIZE}={size}: expected a size in GB, for example 0.5"));
    }
    let archive = folder("night");
    let outcome = machine::ready("java", "openjdk-17-jre-headless", machine)
        .and_then(installed)
        .and_then(|| make(&archive, &size))
        .and_then(|| measured(&archive, table));
    for data in [archive, folder("tables")] {
        // A folder that does not exist is removed, too.
        let _ = fs::remove_dir_all(data);
    }
    outcome
}

/// Installs the engines and the wheel, whose program is measured as well.
fn installed() -> Outcome {
    let wheel = match python::built_wheel(python::Profile::Release) {
        Ok(wheel) => wheel,
        Err(outcome) => return outcome,
    };
    let requirements =
        ENGINES.iter().flat_map(|name| ["--requirement".into(), python::requirements(name)]);
    environment()
        .make()
        .and_then(|| environment().install(requirements))
        .and_then(|| environment().install(["--no-deps", "--force-reinstall", &wheel]))
}

/// Writes the archive.
fn make(archive: &Path, size: &str) -> Outcome {
    let _ = fs::remove_dir_all(archive);
    let sources = RUNS.into_iter().map(|source| machine::root().join(source));
    let mut make = environment().python();
    make.args([PROGRAM, "make"]).arg(archive).arg(size);
    Outcome::of(make.args(sources.filter(|source| source.is_dir())))
}

/// Runs the engines, and adds their figures to the table.
fn measured(archive: &Path, table: &mut Table) -> Outcome {
    let mut measure = environment().python();
    measure.args([OsStr::new(PROGRAM), OsStr::new("measure"), archive.as_os_str()]);
    measure.arg(folder("tables")).arg(folder("python/bin/unstuck"));
    let (outcome, said) = Outcome::captured(measure);
    for (what, figure) in figures(&said) {
        table.add(format!("archives: {what}"), figure);
    }
    outcome
}

/// Returns the figures among the lines of the program and the logs of the engines.
fn figures(said: &str) -> impl Iterator<Item = (&str, &str)> {
    said.lines().filter_map(|line| line.strip_prefix("figure\t")?.split_once('\t'))
}

fn environment() -> Environment {
    Environment::new(folder("python"))
}

/// Returns the file or folder `name` in the target folder.
fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}

#[cfg(test)]
mod tests {
    use super::figures;

    #[test]
    fn a_figure_is_a_line_that_says_so() {
        let said = "WARN: a log\nfigure\tscan\t900 MB/s\n\n12:00\tINFO figure\t1\nfigure\tray\t1 MB/s\t2\n";
        let expected = [("scan", "900 MB/s"), ("ray", "1 MB/s\t2")];
        assert!(figures(said).eq(expected));
    }
}
