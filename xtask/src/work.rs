//! The work of each step of `cargo xtask test`: its commands, or its function.

use std::env;

use crate::checks::{Check, Part};
use crate::machine::{self, is_ci};
use crate::step::{Done, command, failed};
use crate::steps::{self, FEATURES, FLEET};
use crate::{agents, bare, c, firmware, footprint, fuzz, javascript, mcp, python, tidy};

/// The name of a step that has no commands, and its function.
type Function = (&'static str, fn() -> Done);

/// The functions, in the order of their steps.
const FUNCTIONS: [Function; 11] = [
    ("tidy", tidy::run),
    ("python", python::check),
    ("footprint", footprint::check),
    ("js", javascript::check),
    ("agents", agents::check),
    ("c", c::check),
    ("firmware", firmware::check),
    ("fuzzing", fuzz::briefly),
    ("no_std", steps::no_std),
    ("bare", bare::check),
    ("mcp", mcp::check),
];

/// The packages whose features do not disturb each other. The others ask `syn` for more, with which every library that
/// derives something would be compiled anew.
const ALL: &str =
    "--workspace --exclude unstuck-python --exclude unstuck-wasm --features {features},{fleet}";

/// The variable that makes long tests run whole. The greater its number, the longer they take.
const EFFORT: &str = "UNSTUCK_EXHAUSTIVE";

impl Check {
    /// Checks the tools, and then runs the work in this process.
    pub(crate) fn run(&self) -> Done {
        machine::tools(&self.tools, self.part != Part::Default && is_ci())?;
        match FUNCTIONS.iter().find(|(name, _)| *name == self.name) {
            Some((_, work)) => work(),
            None if self.commands.is_empty() => {
                failed(format!("the step `{}` has neither commands nor a function", self.name))
            }
            None => self.commands.iter().try_for_each(|line| command(&filled(line))),
        }
    }
}

/// Returns a command with its variables and lists of features filled in.
fn filled(line: &str) -> String {
    // Unset, the tests take their samples. The weekly job sets it.
    let effort = env::var(EFFORT).unwrap_or_default();
    let whole = if effort.is_empty() { String::new() } else { format!("{EFFORT}={effort} ") };
    let line = line.replace("{linted}", steps::linted()).replace("{all}", ALL);
    let line = line.replace("{root}", &machine::root().display().to_string());
    let line = line.replace("{whole}", &whole);
    let line = line.replace("{skip}", if effort == "2" { "" } else { " -- --skip needs_minutes" });
    line.replace("{features}", FEATURES).replace("{fleet}", FLEET)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::CHECKS;

    #[test]
    fn a_step_has_commands_or_a_function() {
        let without = CHECKS.iter().filter(|check| check.commands.is_empty());
        let without = without.map(|check| &*check.name).collect::<Vec<_>>();
        assert_eq!(FUNCTIONS.map(|(name, _)| name), *without);
    }

    #[test]
    fn a_step_without_work_fails() {
        let step = "name = 'unknown'\nabout = ''\npart = 'default'";
        let step: Check = toml::from_str(step).expect("a step");
        let why = step.run().expect_err("it has no work").to_string();
        assert_eq!(why, "the step `unknown` has neither commands nor a function");
    }
}
