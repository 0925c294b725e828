//! The scripts: agents at work that look stuck, and agents that are.

mod healthy;
mod stuck;

use crate::script::Scenario;

/// Every scenario, the healthy ones first.
pub(crate) fn all() -> Vec<Scenario> {
    let mut scenarios = healthy::all();
    scenarios.extend(stuck::all());
    scenarios
}

/// The test program of the small projects: each sources it, checks, and reports.
const CHECK: (&str, &str) = (
    "tests/check.sh",
    r#"run=0
failed=0

# check NAME GOT WANTED
check() {
    run=$((run + 1))
    if [ "$2" != "$3" ]; then
        failed=$((failed + 1))
        printf 'FAIL %s: got %s, wanted %s\n' "$1" "$2" "$3"
    fi
}

# Prints the sum of all checks, and fails if one of them did.
report() {
    printf '%s run, %s failed\n' "$run" "$failed"
    [ "$failed" -eq 0 ]
}
"#,
);

/// The command with which an agent runs the tests of such a project.
const TEST: &str = "sh tests/run.sh";
