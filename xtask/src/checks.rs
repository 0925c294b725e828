//! The steps of `cargo xtask test`: their names, what each checks, and how they run.

use std::process::ExitCode;

use crate::machine::Machine;
use crate::step::{Omission, Outcome, Step, Summary};
use crate::{bare, c, firmware, footprint, fuzz, mcp, no_std, steps};

/// A step of `cargo xtask test`.
struct Check {
    name: &'static str,
    about: &'static str,
    /// Runs the step. The text collects lines that are repeated below the summary.
    run: fn(Machine, &mut String) -> Outcome,
}

/// Every step, in the order in which they run.
const CHECKS: [Check; 16] = [
    Check { name: "format", about: "`rustfmt` would change nothing", run: |_, _| steps::format() },
    Check {
        name: "clippy",
        about: "no lint of the table in `Cargo.toml` fires, in code or in tests",
        run: |_, _| steps::clippy(),
    },
    Check {
        name: "tests",
        about: "unit and integration tests pass; some need `redis-server`",
        run: steps::tests,
    },
    Check {
        name: "narrow",
        about: "the fingerprint's code for 32-bit machines gives the same digests",
        run: |_, _| steps::narrow(),
    },
    Check {
        name: "doc-tests",
        about: "the examples in the documentation compile and hold",
        run: |_, _| steps::doc_tests(),
    },
    Check {
        name: "docs",
        about: "the documentation builds without a warning",
        run: |_, _| steps::docs(),
    },
    Check {
        name: "fuzz-targets",
        about: "the fuzz targets compile without a lint",
        run: |_, _| steps::fuzz_targets(),
    },
    Check {
        name: "fuzzing",
        about: "each fuzz target holds for a few seconds, and a planted bug is found",
        run: |machine, _| fuzz::briefly(machine),
    },
    Check {
        name: "bare",
        about: "the engine links without `std`, panics and allocator; planted ones are found",
        run: |_, _| bare::check(),
    },
    Check {
        name: "runs",
        about: "the recorded runs are the ones that the code records today",
        run: |_, _| steps::runs(),
    },
    Check {
        name: "mcp",
        about: "a real MCP client and server work through `unstuck mcp`",
        run: |machine, _| mcp::check(machine),
    },
    Check {
        name: "tidy",
        about: "the repository keeps its own rules, listed in `xtask/src/tidy.rs`",
        run: |_, _| steps::tidy(),
    },
    Check {
        name: "no_std",
        about: "the crates for microcontrollers build for `thumbv7m-none-eabi`",
        run: |machine, _| no_std::build(machine),
    },
    Check {
        name: "firmware",
        about: "a robot's firmware has no allocator and logs its golden log under QEMU",
        run: |machine, _| firmware::check(machine),
    },
    Check {
        name: "footprint",
        about: "memory, code, stack and instructions keep to `benches/bare/budgets.toml`",
        run: footprint::check,
    },
    Check {
        name: "c",
        about: "the C library gives Rust's verdicts here, under sanitizers, and on a Cortex-M3",
        run: |machine, _| c::check(machine),
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
pub(crate) fn run(request: &Request, machine: Machine) -> ExitCode {
    let mut closing = String::new();
    let steps = request.steps.iter().map(|position| {
        let Check { name, run, .. } = CHECKS[*position];
        Step::run(name, || run(machine, &mut closing))
    });
    let steps = steps.collect();
    let omission = if machine == Machine::Ci { Omission::Failure } else { request.omission };
    let summary = Summary { omission, steps };
    print!("\n{summary}\n{closing}");
    summary.exit_code()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::machine;

    #[test]
    fn the_contributing_guide_lists_the_steps() {
        let guide = fs::read_to_string(machine::root().join("CONTRIBUTING.md")).expect("the guide");
        let row = |check: &Check| format!("| {} | {} |\n", check.name, check.about);
        let table: String = CHECKS.iter().map(row).collect();
        assert!(
            guide.contains(&table),
            "the table of steps in CONTRIBUTING.md should be:\n{table}"
        );
    }

    #[test]
    fn a_named_step_that_cannot_run_is_a_failure() {
        let all = Request::of(&[]).expect("every step");
        assert_eq!((all.steps.len(), all.omission), (CHECKS.len(), Omission::Allowed));
        let named = Request::of(&["tidy".into(), "format".into()]).expect("two steps");
        assert_eq!((named.steps, named.omission), (vec![11, 0], Omission::Failure));
    }
}
