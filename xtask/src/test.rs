//! `cargo xtask test`: runs steps, and sums them up.

use std::collections::VecDeque;
use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use clap::Args;

use crate::checks::{self, CHECKS, Check, NEEDS, Part};
use crate::machine::{self, is_ci};
use crate::step::{Done, ERROR, Failure, LEFT_OUT, Step, Steps, failed, failed_at};
use crate::steps;

/// The time that the steps take, in words.
const DEFAULT_TIME: &str =
    "some 6 minutes from nothing on 2 cores, and 90 seconds after a change to one crate";
const REST_TIME: &str = "some 22 minutes from nothing on 2 cores";

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
    #[arg(value_name = "STEP", value_parser = checks::names())]
    steps: Vec<String>,
}

impl Request {
    fn takes(&self, check: &Check) -> bool {
        match check.part {
            _ if !self.steps.is_empty() => self.steps.contains(&check.name),
            _ if self.all => true,
            Part::Default => !self.rest,
            Part::Rest | Part::RestApart => self.rest,
        }
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
        if steps.is_empty() {
            return String::new();
        }
        let mut text = format!("not part of this command: {}", named(steps));
        if steps.iter().any(|check| check.name == "tests-all") {
            let needs = NEEDS.map(|(name, what)| format!("{name} ({what})")).join(", ");
            text = format!("{text}, and the tests in modules {needs}");
        }
        text + &format!("; `cargo xtask test{option}` runs them\n")
    }
}

fn named(steps: &[&Check]) -> String {
    steps.iter().map(|check| &*check.name).collect::<Vec<_>>().join(", ")
}

/// Prints one line for each step.
fn list() {
    for (title, is_default) in [("cargo xtask test", true), ("\ncargo xtask test --rest", false)] {
        println!("{title}");
        let steps = CHECKS.iter().filter(|check| (check.part == Part::Default) == is_default);
        steps.for_each(|Check { name, about, .. }| println!("  {name:<13} {about}"));
    }
}

/// Runs the steps that were asked for, then prints the outcome of each and what the test runners said.
pub(crate) fn run(request: &Request) -> Done {
    let (taken, others): (Vec<_>, Vec<_>) = CHECKS.iter().partition(|check| request.takes(check));
    if request.list {
        list();
        return Ok(());
    }
    print!("{}", request.plan(&taken));
    let program = own().map_err(failed_at(steps::FOLDER.as_ref()))?;
    let is_strict = !request.steps.is_empty() || is_ci();
    let is_parallel = request.rest || request.all;
    let programs = if is_parallel { programs().ok() } else { None };
    let runner = Runner { program, programs, is_parallel, is_strict };
    let ran = runner.all(&taken)?;
    let (steps, results): (Vec<_>, Vec<_>) = ran.into_iter().unzip();
    println!("\n== summary");
    let done = Steps(steps).finish();
    println!("{}", request.elsewhere(&others));
    print!("{}", Results::sum(results));
    done
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

/// Builds the programs that several steps need, and returns their folder.
fn programs() -> Done<PathBuf> {
    let mut folder = PathBuf::new();
    for name in steps::PROGRAMS {
        folder = steps::built(name)?.parent().map(Path::to_owned).unwrap_or_default();
    }
    Ok(folder)
}

/// The way in which steps run.
struct Runner {
    program: PathBuf,
    /// The folder of programs for the steps, if they do not build them.
    programs: Option<PathBuf>,
    /// Whether two steps run at the same time. If not, output is shown as it comes, and not at the end of a step.
    is_parallel: bool,
    /// Whether a step that cannot run has failed.
    is_strict: bool,
}

impl Runner {
    /// Runs steps, each in a process of its own. If two run at the same time, one thread takes those that build in the
    /// common target folder, and the other those that do not. Whichever is free takes the next of the latter.
    fn all(&self, steps: &[&'static Check]) -> Done<Vec<(Step, Results)>> {
        let (apart, common): (VecDeque<_>, VecDeque<_>) =
            steps.iter().partition(|check| check.part == Part::RestApart);
        let (apart, common) = (Mutex::new(apart), Mutex::new(common));
        let work = |queues: &[&Mutex<VecDeque<&'static Check>>]| {
            let first = |queue: &&Mutex<VecDeque<_>>| {
                queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
            };
            let steps = iter::from_fn(|| queues.iter().find_map(first));
            steps.map(|check| self.run(check)).collect::<Vec<_>>()
        };
        let mut ran = thread::scope(|scope| {
            let second = self.is_parallel.then(|| scope.spawn(|| work(&[&apart])));
            let mut ran = work(&[&common, &apart]);
            if let Some(second) = second {
                ran.extend(second.join().or_else(|_| failed("a thread panicked"))?);
            }
            Done::Ok(ran)
        })?;
        ran.sort_by_key(|(step, _)| CHECKS.iter().position(|check| check.name == step.name));
        Ok(ran)
    }

    /// Runs a step in a process of its own, and prints its output and its outcome.
    fn run(&self, check: &Check) -> (Step, Results) {
        let name = &*check.name;
        let heading = format!("\n== {name}\n");
        if !self.is_parallel {
            print!("{heading}");
        }
        let start = Instant::now();
        let (done, output) = self.ended(name);
        let done = match done {
            Err(Failure::LeftOut(why)) if self.is_strict => failed(why),
            done => done,
        };
        let step = Step { name: name.into(), done, took: start.elapsed() };
        let shown = if self.is_parallel { format!("{heading}{output}") } else { String::new() };
        // One call, so that the output of another step does not come between.
        println!("{shown}{step}");
        (step, Results::read(&output))
    }

    fn ended(&self, name: &str) -> (Done, String) {
        let mut command = machine::program(&self.program);
        command.args(["step", name]).env(steps::STEP, name);
        command.envs(self.programs.iter().map(|folder| (steps::BUILT, folder)));
        match self.captured(command) {
            Ok((status, output)) => {
                let last = output.lines().next_back().unwrap_or_default();
                let why = last.strip_prefix(ERROR).unwrap_or(last).to_owned();
                let done = match status.code() {
                    Some(0) => Ok(()),
                    Some(1) => failed(why),
                    Some(code) if code == i32::from(LEFT_OUT) => Err(Failure::LeftOut(why)),
                    _ => failed(format!("the step ended with {status}")),
                };
                (done, output)
            }
            Err(error) => (failed(error.to_string()), String::new()),
        }
    }

    /// Runs `command` without input, and returns its exit status and whole output. Both streams share one pipe, so their
    /// order is kept.
    fn captured(&self, mut command: Command) -> io::Result<(ExitStatus, String)> {
        let (reader, writer) = io::pipe()?;
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let mut child = command.spawn()?;
        // The pipe ends only when this side's writers are closed, too.
        drop(command);

        let mut reader = BufReader::new(reader);
        let mut output = String::new();
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            if !self.is_parallel {
                io::stdout().write_all(&line)?;
            }
            output.push_str(&text);
            line.clear();
        }
        Ok((child.wait()?, output))
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
        CHECKS.iter().filter(|check| request.takes(check)).map(|check| &*check.name).collect()
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
