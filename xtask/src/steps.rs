//! The steps of `cargo xtask test`, one function each.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::machine::{self, Machine, cargo, program};
use crate::step::Outcome;
use crate::tidy as rules;

/// The features that are tested. The `defmt` features need a logger to link, so they are built only for
/// the microcontroller.
const FEATURES: [&str; 2] = [
    "--features",
    concat!(
        "unstuck/json,unstuck/metrics,unstuck/tracing,unstuck-core/postcard,",
        "unstuck-swarm/redis-async,unstuck-text/serde,unstuck-text/similarity"
    ),
];

/// Checks that `rustfmt` would change nothing.
pub(crate) fn format() -> Outcome {
    Outcome::of(cargo().args(["fmt", "--all", "--check"]))
}

/// Features of parts whose tests are written in JavaScript.
const MORE_FEATURES: [&str; 2] = ["--features", "unstuck-wasm/full,unstuck-wasm/page"];

/// Checks that no lint of the workspace fires, in code or in tests.
pub(crate) fn clippy() -> Outcome {
    let scope = ["clippy", "--workspace", "--all-targets", "--locked"];
    let strict = ["--", "-D", "warnings"];
    Outcome::of(cargo().args(scope).args(FEATURES).args(MORE_FEATURES).args(strict))
}

/// Runs unit and integration tests, with `cargo-nextest` if it is installed. Some tests start
/// `redis-server`. The runner's closing lines are added to `closing`.
///
/// The runner writes to a pipe, so its output has no colour.
pub(crate) fn tests(machine: Machine, closing: &mut String) -> Outcome {
    if machine == Machine::Ci {
        // On other machines, the tests that need Redis report that they are left out.
        let mut installed = machine::ready("redis-server", "redis-server", machine);
        if installed == Outcome::Passed && !has_nextest() {
            installed = Outcome::of(cargo().args(["install", "cargo-nextest", "--locked"]));
        }
        if installed != Outcome::Passed {
            return installed;
        }
    }
    let mut runner = test_runner();
    if machine == Machine::Ci {
        runner.env("UNSTUCK_EXHAUSTIVE", "1");
    }
    let (outcome, output) = Outcome::captured(runner);
    closing.push_str(&closing_lines(&output));
    outcome
}

/// Runs the examples in the documentation.
pub(crate) fn doc_tests() -> Outcome {
    let scope = ["test", "--workspace", "--doc", "--locked"];
    Outcome::of(cargo().args(scope).args(FEATURES).arg("--no-fail-fast"))
}

/// Checks that the fingerprint's code for 32-bit machines gives the same digests.
pub(crate) fn narrow() -> Outcome {
    let scope = ["test", "-p", "unstuck-json", "--lib", "--test", "known", "--test", "pairs"];
    let folder = ["--locked", "--target-dir", "target/narrow"];
    Outcome::of(cargo().env("RUSTFLAGS", "--cfg unstuck_narrow").args(scope).args(folder))
}

/// Builds the documentation and checks its links. The program is left out, because it would write to the folder of
/// the library for hosts, and it has a single function. With other packages or features, dependencies would be built
/// again.
pub(crate) fn docs() -> Outcome {
    let mut doc = cargo();
    doc.env("RUSTDOCFLAGS", "-D warnings").args(["doc", "--workspace", "--no-deps", "--locked"]);
    Outcome::of(doc.args(["--lib", "--bin", "xtask"]).args(FEATURES).args(MORE_FEATURES))
}

/// Checks the format and the lints of the fuzz targets.
pub(crate) fn fuzz_targets() -> Outcome {
    apart("fuzz/Cargo.toml")
}

/// Checks the format and the lints of a separate workspace.
pub(crate) fn apart(manifest: &str) -> Outcome {
    let manifest = ["--manifest-path", manifest];
    let lints = ["--locked", "--", "-D", "warnings"];
    Outcome::of(cargo().arg("fmt").args(manifest).arg("--check"))
        .and_then(|| Outcome::of(cargo().arg("clippy").args(manifest).args(lints)))
}

/// Checks that the recorder still records the runs in the repository.
pub(crate) fn runs() -> Outcome {
    match built(&["--example", "record"]) {
        Ok(record) => Outcome::of(program(record).args(["--check", "adapters/trace/runs"])),
        Err(outcome) => outcome,
    }
}

/// Builds the program that `wanted` names (`--bin NAME` or `--example NAME`), and returns its path.
/// Packages and features are those of the tests, so that nothing is built twice.
///
/// # Errors
///
/// The outcome of the build, if it failed.
pub(crate) fn built(wanted: &[&str; 2]) -> Result<PathBuf, Outcome> {
    let mut build = cargo();
    build.args(["build", "--workspace", "--locked"]).args(FEATURES).args(wanted);
    // With an example, cargo enables the features of dev-dependencies, as it does for the tests.
    build.args(["--example", "record"]);
    let own = env::current_exe();
    let own = own.map_err(|error| Outcome::Failed(format!("where this program is: {error}")))?;
    // Cargo puts it beside this program, or into the folder of examples there.
    let path = match wanted {
        ["--example", name] => own.with_file_name("examples").join(name),
        [_, name] => own.with_file_name(name),
    };
    match Outcome::of(&mut build) {
        Outcome::Passed => Ok(path),
        outcome => Err(outcome),
    }
}

/// Checks the repository's own rules.
pub(crate) fn tidy() -> Outcome {
    let violations = match rules::check(machine::root()) {
        Ok(violations) => violations,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    for violation in &violations {
        println!("{violation}");
    }
    match violations.as_slice() {
        [] => Outcome::Passed,
        [only] => Outcome::Failed(only.clone()),
        [first, rest @ ..] => Outcome::Failed(format!("{first} (and {} more)", rest.len())),
    }
}

/// Returns whether `cargo nextest` is installed.
fn has_nextest() -> bool {
    let mut probe = cargo();
    probe.args(["nextest", "--version"]);
    probe.stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Returns the command that runs unit and integration tests on this machine.
fn test_runner() -> Command {
    let mut command = cargo();
    if has_nextest() {
        command.args(["nextest", "run", "--workspace", "--locked"]);
    } else {
        command.args(["test", "--workspace", "--locked"]);
        command.args(["--lib", "--bins", "--tests", "--examples"]);
    }
    command.args(FEATURES).arg("--no-fail-fast");
    command
}

/// Returns the closing lines of a test runner: the lines from the summary of `cargo-nextest` on, which
/// name the failed tests, or every `test result:` line of `cargo test`.
fn closing_lines(output: &str) -> String {
    let lines: Vec<&str> = output.split_inclusive('\n').collect();
    let is_summary = |line: &&str| line.trim_start().starts_with("Summary [");
    let is_result = |line: &&str| line.starts_with("test result:");
    match lines.iter().rposition(is_summary) {
        Some(first) => lines.into_iter().skip(first).collect(),
        None => lines.into_iter().filter(is_result).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_lines_of_each_runner_are_found() {
        let nextest = "\
        \x20   Starting 2 tests across 6 binaries\n\
        \x20       PASS [   0.004s] (1/2) one\n\
        ────────────\n\
        \x20    Summary [   0.004s] 2 tests run: 1 passed, 1 failed, 0 skipped\n\
        \x20       FAIL [   0.004s] (2/2) two\n\
        error: test run failed\n";
        let cargo = "\
        running 1 test\n\
        test a ... ok\n\n\
        test result: ok. 1 passed; 0 failed\n\n\
        running 0 tests\n\n\
        test result: ok. 0 passed; 0 failed\n";
        for (output, expected) in [
            (
                nextest,
                "\
                \x20    Summary [   0.004s] 2 tests run: 1 passed, 1 failed, 0 skipped\n\
                \x20       FAIL [   0.004s] (2/2) two\n\
                error: test run failed\n",
            ),
            (cargo, "test result: ok. 1 passed; 0 failed\ntest result: ok. 0 passed; 0 failed\n"),
            ("error: could not compile\n", ""),
            ("", ""),
        ] {
            assert_eq!(closing_lines(output), expected, "{output}");
        }
    }
}
