//! The steps of `cargo xtask test`: their names, what each checks, and how they run.

use std::collections::VecDeque;
use std::env;
use std::fs::{self, File};
use std::io;
use std::iter;
use std::path::Path;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::machine::{self, Machine};
use crate::step::{Omission, Outcome, Step, Summary};
use crate::{agents, bare, c, firmware, footprint, fuzz, javascript, mcp, no_std, python, steps};

/// The folder for the output of the steps that CI runs in processes of their own.
const LOGS: &str = "target/xtask";

/// The heading of the summary.
const SUMMARY: &str = "\n== summary\n";

/// A step of `cargo xtask test`.
struct Check {
    name: &'static str,
    about: &'static str,
    /// Whether CI runs the step in a process of its own, beside other steps. It should build in a folder of its own,
    /// or else come last, when the other steps have built what it needs.
    apart: bool,
    /// Runs the step. The text collects lines that are repeated below the summary.
    run: fn(Machine, &mut String) -> Outcome,
}

/// Every step, in the order in which they run. Of the steps that run apart, the long ones come first, so that both
/// processes of CI end at the same time.
const CHECKS: [Check; 19] = [
    Check {
        name: "format",
        about: "`rustfmt` would change nothing",
        apart: false,
        run: |_, _| steps::format(),
    },
    Check {
        name: "clippy",
        about: "no lint of the table in `Cargo.toml` fires, in code or in tests",
        apart: false,
        run: |_, _| steps::clippy(),
    },
    Check {
        name: "tests",
        about: "unit and integration tests pass; some need `redis-server`",
        apart: false,
        run: steps::tests,
    },
    Check {
        name: "doc-tests",
        about: "the examples in the documentation compile and hold",
        apart: false,
        run: |_, _| steps::doc_tests(),
    },
    Check {
        name: "docs",
        about: "the documentation builds without a warning",
        apart: false,
        run: |_, _| steps::docs(),
    },
    Check {
        name: "runs",
        about: "the recorded runs are the ones that the code records today",
        apart: false,
        run: |_, _| steps::runs(),
    },
    Check {
        name: "python",
        about: "the wheel for Python builds from its sources, and its tests and types hold",
        apart: false,
        run: |machine, _| python::check(machine),
    },
    Check {
        name: "tidy",
        about: "the repository keeps its own rules, listed in `xtask/src/tidy.rs`",
        apart: false,
        run: |_, _| steps::tidy(),
    },
    Check {
        name: "firmware",
        about: "a robot's firmware has no allocator and logs its golden log under QEMU",
        apart: true,
        run: |machine, _| firmware::check(machine),
    },
    Check {
        name: "footprint",
        about: "memory, code, stack and instructions keep to `benches/bare/budgets.toml`",
        apart: true,
        run: footprint::check,
    },
    Check {
        name: "c",
        about: "the C library gives Rust's verdicts here, under sanitizers, and on a Cortex-M3",
        apart: true,
        run: |machine, _| c::check(machine),
    },
    Check {
        name: "js",
        about: "the package for JavaScript builds, and its tests and types hold",
        apart: true,
        run: |machine, _| javascript::check(machine),
    },
    Check {
        name: "fuzzing",
        about: "each fuzz target holds for a few seconds, and a planted bug is found",
        apart: true,
        run: |machine, _| fuzz::briefly(machine),
    },
    Check {
        name: "no_std",
        about: "the crates for microcontrollers build for `thumbv7m-none-eabi`",
        apart: true,
        run: |machine, _| no_std::build(machine),
    },
    Check {
        name: "bare",
        about: "the engine links without `std`, panics and allocator; planted ones are found",
        apart: true,
        run: |_, _| bare::check(),
    },
    Check {
        name: "fuzz-targets",
        about: "the fuzz targets compile without a lint",
        apart: true,
        run: |_, _| steps::fuzz_targets(),
    },
    Check {
        name: "narrow",
        about: "the fingerprint's code for 32-bit machines gives the same digests",
        apart: true,
        run: |_, _| steps::narrow(),
    },
    Check {
        name: "mcp",
        about: "a real MCP client and server work through `unstuck mcp`",
        apart: true,
        run: |machine, _| mcp::check(machine),
    },
    Check {
        name: "agents",
        about: "real agents from npm hear, and do, what is recorded in `xtask/agents/expected`",
        apart: true,
        run: |machine, _| agents::check(machine),
    },
];

/// The steps that a command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Positions in [`CHECKS`].
    steps: Vec<usize>,
    /// Whether a step that cannot run is a failure.
    omission: Omission,
}

impl Request {
    /// The steps with these names, or all of them if there are no names.
    ///
    /// # Errors
    ///
    /// If there is no step of that name.
    pub(crate) fn of(names: &[String]) -> Result<Self, String> {
        if names.is_empty() {
            return Ok(Self { steps: (0..CHECKS.len()).collect(), omission: Omission::Allowed });
        }
        let position = |name: &String| {
            let found = CHECKS.iter().position(|check| check.name == name);
            found.ok_or_else(|| format!("there is no step `{name}`; `--list` prints them"))
        };
        let steps = names.iter().map(position).collect::<Result<_, _>>()?;
        Ok(Self { steps, omission: Omission::Failure })
    }
}

/// One line for each step.
pub(crate) fn list() -> String {
    CHECKS.map(|Check { name, about, .. }| format!("{name:<13} {about}\n")).concat()
}

/// Runs the steps, then prints the outcome of each, then repeats the closing lines of the test
/// runner, which name the tests that failed.
///
/// In CI, the steps that build in folders of their own run beside the others. Their output is printed at the end.
/// This keeps both cores busy while one compiler works.
pub(crate) fn run(request: &Request, machine: Machine) -> ExitCode {
    let is_whole = request.steps.len() == CHECKS.len();
    if machine == Machine::Ci && is_whole {
        let (apart, here): (Vec<_>, Vec<_>) =
            request.steps.iter().partition(|position| CHECKS[**position].apart);
        return run_beside(&here, &apart).unwrap_or_else(|error| {
            println!("the second process: {error}");
            ExitCode::FAILURE
        });
    }
    let (summary, closing) = steps(&request.steps, request.omission, machine);
    print!("{SUMMARY}{summary}\n{closing}");
    summary.exit_code()
}

/// Runs the steps at these positions one after the other.
fn steps(positions: &[usize], omission: Omission, machine: Machine) -> (Summary, String) {
    let mut closing = String::new();
    let steps = positions.iter().map(|position| {
        let Check { name, run, .. } = CHECKS[*position];
        Step::run(name, || run(machine, &mut closing))
    });
    let steps = steps.collect();
    let omission = if machine == Machine::Ci { Omission::Failure } else { omission };
    (Summary { omission, steps }, closing)
}

/// Runs the steps `here` in this process, and beside them each step `apart` in a process of its own. When the steps
/// `here` have ended, the last steps of `apart` take their place.
fn run_beside(here: &[usize], apart: &[usize]) -> io::Result<ExitCode> {
    fs::create_dir_all(machine::root().join(LOGS))?;
    // The steps build this program again. Then the path of the running one is no longer known.
    let own = env::current_exe()?;
    let left = Mutex::new(apart.iter().copied().collect::<VecDeque<_>>());
    let all = |take: fn(&mut VecDeque<usize>) -> Option<usize>| {
        let next = || take(&mut left.lock().unwrap_or_else(PoisonError::into_inner));
        iter::from_fn(next).map(|position| Apart::run(&own, position)).collect::<Vec<_>>()
    };
    let (summary, closing, mut apart) = thread::scope(|scope| {
        let second = scope.spawn(|| all(VecDeque::pop_front));
        let (summary, closing) = steps(here, Omission::Failure, Machine::Ci);
        let last = all(VecDeque::pop_back);
        let first = second.join().map_err(|_| io::Error::other("it panicked"))?;
        Ok::<_, io::Error>((summary, closing, [first, last].concat()))
    })?;
    apart.sort_by_key(|step| step.position);
    for step in &apart {
        print!("{}", step.output);
    }
    print!("{SUMMARY}{summary}");
    for step in &apart {
        println!("{}", step.summary);
    }
    print!("\n{closing}");
    let has_passed = apart.iter().all(|step| step.has_passed);
    Ok(if has_passed { summary.exit_code() } else { ExitCode::FAILURE })
}

/// A step that has run in a process of its own.
#[derive(Clone)]
struct Apart {
    position: usize,
    output: String,
    /// The outcome in one line, and the lines to repeat below the summary.
    summary: String,
    has_passed: bool,
}

impl Apart {
    /// Runs the step at `position` by the program `own`.
    fn run(own: &Path, position: usize) -> Self {
        let Check { name, .. } = CHECKS[position];
        let (output, has_passed, end) = match Self::logged(own, name) {
            Ok((output, status)) => (output, status.success(), format!("it ended with {status}")),
            Err(error) => (String::new(), false, error.to_string()),
        };
        if let Some((output, summary)) = output.rsplit_once(SUMMARY) {
            let (output, summary) = (output.to_owned(), summary.trim_end().to_owned());
            return Self { position, output, summary, has_passed };
        }
        let summary = format!("failed    {name}: {end}");
        Self { position, output, summary, has_passed: false }
    }

    /// Runs a step with its output in a file. Returns the output and the exit status.
    fn logged(own: &Path, name: &str) -> io::Result<(String, ExitStatus)> {
        let log = machine::root().join(LOGS).join(name).with_extension("log");
        let file = File::create(&log)?;
        let mut command = machine::program(own);
        command.args(["test", name]).stdin(Stdio::null());
        let status = command.stdout(file.try_clone()?).stderr(file).status()?;
        Ok((String::from_utf8_lossy(&fs::read(&log)?).into_owned(), status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_step_that_cannot_run_is_a_failure() {
        let all = Request::of(&[]).expect("every step");
        assert_eq!((all.steps.len(), all.omission), (CHECKS.len(), Omission::Allowed));
        let asked = Request::of(&["tidy".into(), "format".into()]).expect("two steps");
        let names: Vec<_> = asked.steps.iter().map(|position| CHECKS[*position].name).collect();
        assert_eq!((names, asked.omission), (vec!["tidy", "format"], Omission::Failure));
    }
}
