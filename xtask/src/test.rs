//! `cargo xtask test`: runs steps, and sums them up.

use std::collections::VecDeque;
use std::env;
use std::fs;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::checks::{CHECKS, Check, NEEDS, Part};
use crate::machine::{self, Machine};
use crate::step::{Outcome, Step, Summary, capture};
use crate::steps;

/// The time that the steps take, in words.
const DEFAULT_TIME: &str =
    "some 6 minutes from nothing on 2 cores, and 90 seconds after a change to one crate";
const REST_TIME: &str = "about 25 minutes from nothing on 2 cores";

/// The exit code of a step that could not run.
const LEFT_OUT: u8 = 69;

/// Run the checks that a change must pass.
///
/// The default needs Rust and git, and installs nothing. `--rest` runs what the default leaves out. A failed step does
/// not stop the others. The table at the end has one line for each step.
///
/// A step whose tool is missing is skipped, and its line says how to install the tool. If CI is set in the environment,
/// steps of the rest install their tools. A step that cannot run is a failure if it was named, or if CI is set. The exit
/// code is 0 if nothing failed.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Request {
    /// Run the default steps and the rest
    #[arg(long, conflicts_with_all = ["rest", "steps"])]
    all: bool,
    /// Run what the default leaves out: it needs tools, other targets, or the network
    #[arg(long, conflicts_with = "steps")]
    rest: bool,
    /// Print the steps, one line each, and run none
    #[arg(long)]
    list: bool,
    /// Run these steps only
    #[arg(value_name = "STEP", value_parser = names())]
    steps: Vec<String>,
}

fn names() -> PossibleValuesParser {
    steps::possible(CHECKS.iter().map(|check| (check.name, check.about)))
}

impl Request {
    fn takes(&self, check: &Check) -> bool {
        match check.part {
            _ if !self.steps.is_empty() => self.steps.iter().any(|name| name == check.name),
            _ if self.all => true,
            Part::Default => !self.rest,
            Part::Rest | Part::RestApart => self.rest,
        }
    }

    /// Returns whether a step that cannot run has failed.
    fn is_strict(&self) -> bool {
        !self.steps.is_empty() || Machine::here() == Machine::Ci
    }

    /// Returns whether two processes take the steps.
    fn is_parallel(&self) -> bool {
        self.rest || self.all
    }

    /// Returns what the command says at its start.
    fn plan(&self, steps: &[&Check]) -> String {
        let time = match (self.all, self.rest, &self.steps[..]) {
            (true, ..) => format!("; {DEFAULT_TIME}; the rest: {REST_TIME}"),
            (_, true, _) => format!("; {REST_TIME}"),
            (.., []) => format!("; {DEFAULT_TIME}"),
            _ => String::new(),
        };
        let count = steps.len();
        format!("{count} step{}: {}{time}\n", if count == 1 { "" } else { "s" }, named(steps))
    }

    /// Returns the closing block of the steps that were not asked for.
    fn elsewhere(&self, steps: &[&Check]) -> String {
        let option = match &self.steps[..] {
            [] if self.rest => "",
            [] => " --rest",
            _ => " --all",
        };
        match steps {
            [] => String::new(),
            steps => {
                let mut text = format!("not part of this command: {}", named(steps));
                if steps.iter().any(|check| check.name == "tests-all") {
                    let needs = NEEDS.map(|(name, what)| format!("{name} ({what})")).join(", ");
                    text = format!("{text}, and the tests in modules {needs}");
                }
                text + &format!("; `cargo xtask test{option}` runs them\n")
            }
        }
    }
}

fn named(steps: &[&Check]) -> String {
    steps.iter().map(|check| check.name).collect::<Vec<_>>().join(", ")
}

/// Returns one line for each step.
fn list() -> String {
    let line = |list: String, check: &Check| list + "  " + &check.to_string() + "\n";
    let (default, rest): (Vec<_>, Vec<_>) =
        CHECKS.iter().partition(|check| check.part == Part::Default);
    let default = default.into_iter().fold("cargo xtask test\n".into(), line);
    rest.into_iter().fold(default + "\ncargo xtask test --rest\n", line)
}

/// Runs the steps that were asked for, then prints the outcome of each and what the test runners said.
pub(crate) fn run(request: &Request) -> ExitCode {
    let (taken, others): (Vec<_>, Vec<_>) = CHECKS.iter().partition(|check| request.takes(check));
    if request.list {
        print!("{}", list());
        return ExitCode::SUCCESS;
    }
    print!("{}", request.plan(&taken));
    match all(&taken, request.is_parallel(), request.is_strict()) {
        Ok(ran) => {
            let (steps, results): (Vec<_>, Vec<_>) = ran.into_iter().unzip();
            let summary = Summary(steps);
            print!("\n== summary\n\n{summary}{}\n", request.elsewhere(&others));
            print!("{}", Results::sum(results));
            summary.exit_code()
        }
        Err(error) => {
            eprintln!("error: {}: {error}", steps::FOLDER);
            ExitCode::FAILURE
        }
    }
}

/// A step, which runs in this process.
#[derive(Args, Clone, Debug)]
pub(crate) struct Here {
    #[arg(value_parser = names())]
    step: String,
}

/// Runs a step in this process. The exit code is its outcome, and the last line says why.
pub(crate) fn here(Here { step }: &Here) -> ExitCode {
    let Some(check) = CHECKS.iter().find(|check| check.name == step) else {
        return ExitCode::FAILURE;
    };
    let (why, code) = match check.run() {
        Outcome::Passed => return ExitCode::SUCCESS,
        Outcome::Failed(why) => (why, ExitCode::FAILURE),
        Outcome::LeftOut(why) => (why, ExitCode::from(LEFT_OUT)),
    };
    println!("{why}");
    code
}

/// Runs steps, each in a process of its own. If `is_parallel`, two take steps: one those that build in the common target
/// folder, and the other those that do not. Whichever is free takes the next of the latter.
fn all(
    steps: &[&'static Check],
    is_parallel: bool,
    is_strict: bool,
) -> io::Result<Vec<(Step, Results)>> {
    let runner = Runner { program: own()?, is_shown: !is_parallel, is_strict };
    let (apart, common): (VecDeque<_>, VecDeque<_>) =
        steps.iter().partition(|check| check.part == Part::RestApart);
    let (apart, common) = (Mutex::new(apart), Mutex::new(common));
    let work = |queues: &[&Mutex<VecDeque<&'static Check>>]| {
        let first = |queue: &&Mutex<VecDeque<_>>| {
            queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
        };
        let steps = iter::from_fn(|| queues.iter().find_map(first));
        steps.map(|check| runner.run(check)).collect::<Vec<_>>()
    };
    let mut ran = thread::scope(|scope| {
        let second = is_parallel.then(|| scope.spawn(|| work(&[&apart])));
        let mut ran = work(&[&common, &apart]);
        if let Some(second) = second {
            ran.extend(second.join().map_err(|_| io::Error::other("a thread panicked"))?);
        }
        Ok::<_, io::Error>(ran)
    })?;
    ran.sort_by_key(|(step, _)| CHECKS.iter().position(|check| check.name == step.name));
    Ok(ran)
}

/// Returns a copy of this program, because steps build it anew.
fn own() -> io::Result<PathBuf> {
    let folder = machine::root().join(steps::FOLDER);
    let copy = folder.join("program").with_extension(env::consts::EXE_EXTENSION);
    fs::create_dir_all(&folder)?;
    // One that does not exist yet is removed, too. A running one keeps its file.
    let _ = fs::remove_file(&copy);
    fs::copy(env::current_exe()?, &copy)?;
    Ok(copy)
}

/// The way in which steps run.
struct Runner {
    program: PathBuf,
    /// Whether output is shown as it comes, and not at the end of a step.
    is_shown: bool,
    is_strict: bool,
}

impl Runner {
    /// Runs a step in a process of its own, and prints its output and its outcome.
    fn run(&self, check: &Check) -> (Step, Results) {
        let name = check.name;
        let heading = format!("\n== {name}\n");
        if self.is_shown {
            print!("{heading}");
        }
        let start = Instant::now();
        let (outcome, output) = self.ended(name);
        let outcome = match outcome {
            Outcome::LeftOut(why) if self.is_strict => Outcome::Failed(why),
            outcome => outcome,
        };
        let step = Step { name: name.into(), outcome, took: start.elapsed() };
        let shown = if self.is_shown { String::new() } else { format!("{heading}{output}") };
        // One call, so that the output of another step does not come between.
        println!("{shown}{step}");
        (step, Results::read(&output))
    }

    fn ended(&self, name: &str) -> (Outcome, String) {
        let mut command = machine::program(Path::new(&self.program));
        command.args(["step", name]).env(steps::STEP, name);
        match capture(command, |_| self.is_shown) {
            Ok((status, output)) => {
                let why = output.lines().next_back().unwrap_or_default().to_owned();
                let outcome = match status.code() {
                    Some(0) => Outcome::Passed,
                    Some(1) => Outcome::Failed(why),
                    Some(code) if code == i32::from(LEFT_OUT) => Outcome::LeftOut(why),
                    _ => Outcome::Failed(format!("the step ended with {status}")),
                };
                (outcome, output)
            }
            Err(error) => (Outcome::Failed(error.to_string()), String::new()),
        }
    }
}

/// What the test runners of a step said at their ends.
#[derive(Debug, Default, PartialEq, Eq)]
struct Results {
    /// A line for each runner that passed, with its name.
    passed: String,
    /// The same for each runner that failed, and a line for each test that failed.
    failed: String,
    /// The numbers of tests that passed, failed, and were skipped.
    counts: [u64; 3],
}

impl Results {
    /// Finds the results in the output of a step.
    fn read(output: &str) -> Self {
        let (mut results, mut runner, mut tests) = (Self::default(), "", String::new());
        for line in output.lines() {
            let words = line.trim_start();
            if let Some(name) = words.strip_prefix("Running ").or(words.strip_prefix("Doc-tests "))
            {
                runner = name;
            } else if line.starts_with("test ") && line.ends_with(" ... FAILED") {
                tests = tests + "  " + line + "\n";
            } else if line.starts_with("test result: ") {
                results.add(&format!("{line}  {runner}\n{tests}"));
                tests.clear();
            } else if line.starts_with("footprint not compared: ") {
                results.passed = results.passed + line + "\n";
            }
        }
        results
    }

    /// Adds the lines of one runner.
    fn add(&mut self, lines: &str) {
        for (count, word) in self.counts.iter_mut().zip([" passed;", " failed;", " filtered out"]) {
            let number = lines.split_once(word).and_then(|(before, _)| before.rsplit(' ').next());
            *count += number.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
        }
        let is_well = lines.starts_with("test result: ok");
        *(if is_well { &mut self.passed } else { &mut self.failed }) += lines;
    }

    /// Returns all lines, those of failures last, and the sums.
    fn sum(all: Vec<Self>) -> String {
        let mut sum = Self::default();
        for results in all {
            sum.passed += &results.passed;
            sum.failed += &results.failed;
            sum.counts.iter_mut().zip(results.counts).for_each(|(sum, count)| *sum += count);
        }
        let [passed, failed, skipped] = sum.counts;
        let lines = sum.passed + &sum.failed;
        format!("{lines}{passed} passed, {failed} failed, {skipped} skipped\n")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn taken(request: &Request) -> Vec<&'static str> {
        CHECKS.iter().filter(|check| request.takes(check)).map(|check| check.name).collect()
    }

    #[test]
    fn the_default_and_the_rest_are_all_steps() {
        let (default, rest) = (Request::default(), Request { rest: true, ..Request::default() });
        assert_eq!(taken(&default), ["format", "lints", "tests", "doc-tests", "tidy"]);
        let all = Request { all: true, ..Request::default() };
        assert_eq!([taken(&default), taken(&rest)].concat(), taken(&all));
        assert_eq!(taken(&all).len(), CHECKS.len());
    }

    #[test]
    fn results_of_runners_are_named_and_added_up_and_failures_come_last() {
        let first = "\
            \x20    Running unittests src/lib.rs (target/debug/deps/a-1f)\n\
            test one ... FAILED\n\
            test two ... ok\n\
            test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let second = "\
            \x20  Doc-tests a\n\
            test src/lib.rs - (line 3) ... ok\n\
            test result: ok. 20 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out\n\
            footprint not compared: another compiler\n";
        assert_eq!(
            Results::sum([first, second, "error: no tests\n"].map(Results::read).into()),
            "test result: ok. 20 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out  a\n\
             footprint not compared: another compiler\n\
             test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out  \
             unittests src/lib.rs (target/debug/deps/a-1f)\n\
             \x20 test one ... FAILED\n\
             21 passed, 1 failed, 3 skipped\n"
        );
    }

    #[test]
    fn every_module_of_tests_that_need_something_is_named() {
        let mut grep = machine::program("git");
        grep.args(["grep", "-hoE", "mod needs_[a-z]+", "--", "*.rs"]);
        let found = grep.output().expect("git").stdout;
        let found = String::from_utf8(found).expect("UTF-8");
        let found: BTreeSet<_> =
            found.lines().filter_map(|line| line.strip_prefix("mod ")).collect();
        assert!(found.into_iter().eq(NEEDS.map(|(name, _)| name)));
    }
}
