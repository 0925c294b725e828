//! The steps of `cargo xtask test` as data: what each checks, the tools that it needs, and its commands.

use std::env;

use clap::builder::PossibleValuesParser;

use crate::machine::{self, is_ci};
use crate::step::{Done, command, failed};
use crate::steps::{self, FEATURES, FLEET};
use crate::{agents, bare, c, firmware, footprint, fuzz, javascript, mcp, python, tidy};

/// A step of `cargo xtask test`.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) part: Part,
    /// What [`machine::tools`] checks before the step begins.
    tools: &'static str,
    work: Work,
}

/// The command that runs a step, and where the step builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The default command. It needs Rust and git only, and installs nothing.
    Default,
    /// `--rest`, in the common target folder, or with programs that are built there.
    Rest,
    /// `--rest`, with a target folder of its own, so that the step runs beside the others.
    RestApart,
}

/// The work of a step.
#[derive(Debug)]
enum Work {
    /// Lines for [`command`], one after the other.
    Commands(&'static [&'static str]),
    /// More than commands.
    Function(fn() -> Done),
}

use Part::{Default, Rest, RestApart};
use Work::{Commands, Function};

/// The packages whose features do not disturb each other. The others ask `syn` for more, with which every library that
/// derives something would be compiled anew.
const ALL: &str =
    "--workspace --exclude unstuck-python --exclude unstuck-wasm --features {features},{fleet}";

/// The variable that makes long tests run whole. The greater its number, the longer they take.
const EFFORT: &str = "UNSTUCK_EXHAUSTIVE";

/// The modules of tests that the default command leaves out, and what their tests need.
pub(crate) const NEEDS: [(&str, &str); 5] = [
    ("needs_minutes", "`UNSTUCK_EXHAUSTIVE=2`, half a minute and more each"),
    ("needs_mount", "a user who may mount file systems"),
    ("needs_node", "node"),
    ("needs_script", "script of util-linux"),
    ("needs_time", "seconds to minutes each"),
];

/// Every step, in the order in which they run. The long ones of those that run apart come first, so that both
/// processes end at the same time.
pub(crate) static CHECKS: [Check; 18] = [
    Check {
        name: "format",
        about: "`rustfmt` would change nothing",
        part: Default,
        tools: "cargo-fmt",
        work: Commands(&["cargo fmt --all --check"]),
    },
    Check {
        name: "lints",
        about: "the default members, their tests and examples compile, and no lint of the table in `Cargo.toml` fires",
        part: Default,
        tools: "cargo-clippy",
        work: Commands(&["{linted} cargo test --locked --no-run --features {features}"]),
    },
    Check {
        name: "tests",
        about: "unit and integration tests of the default members pass, long ones on a sample",
        part: Default,
        tools: "",
        work: Commands(&["{linted} PROPTEST_CASES=16 RUST_TEST_THREADS=4 cargo test --locked \
                --no-fail-fast --lib --tests --features {features} -- --skip needs_"]),
    },
    Check {
        name: "doc-tests",
        about: "the examples in the documentation compile and hold",
        part: Default,
        tools: "",
        work: Commands(&[
            "{linted} cargo test --locked --no-fail-fast --doc --features {features}",
        ]),
    },
    Check {
        name: "tidy",
        about: "the repository keeps its own rules, listed in `xtask/src/tidy.rs`",
        part: Default,
        tools: "git",
        work: Function(tidy::run),
    },
    Check {
        name: "tests-all",
        about: "the same with all features, and of the benchmarks, the fuzzer and these commands, on larger samples",
        part: Rest,
        tools: "gcc redis-server openssl node script unshare",
        work: Commands(&[
            // Some tests run the examples.
            "{linted} cargo build --locked {all} --lib --bins --examples",
            "{linted} PROPTEST_CASES=32 {whole}cargo test --locked --no-fail-fast {all} --lib --bins \
                --tests{skip}",
        ]),
    },
    Check {
        name: "docs",
        about: "the documentation builds without a warning",
        part: Rest,
        tools: "gcc",
        work: Commands(&[
            "{linted} RUSTDOC={root}/xtask/documented.sh cargo test --locked --doc {all}",
        ]),
    },
    Check {
        name: "narrow",
        about: "the fingerprint's code for 32-bit machines gives the same digests",
        part: Rest,
        tools: "",
        work: Commands(&[
            "RUSTC_WORKSPACE_WRAPPER={root}/xtask/narrow.sh cargo test --locked --package unstuck-json \
                --lib --test known --test tables",
        ]),
    },
    Check {
        name: "python",
        about: "the wheel for Python builds from its sources, and its tests and types hold",
        part: Rest,
        tools: "python target/python/tools",
        work: Function(python::check),
    },
    Check {
        name: "footprint",
        about: "memory, code, stack and instructions keep to `benches/bare/budgets.toml`",
        part: RestApart,
        tools: "thumbv7m-none-eabi qemu-system-arm timeout valgrind",
        work: Function(footprint::check),
    },
    Check {
        name: "js",
        about: "the package for JavaScript builds, and its tests on Node and its types hold",
        part: RestApart,
        tools: "npm wasm32-unknown-unknown target/js/package/node_modules",
        work: Function(javascript::check),
    },
    Check {
        name: "agents",
        about: "real agents from npm hear, and do, what is recorded in `xtask/agents/expected`",
        part: RestApart,
        tools: "node npm git timeout",
        work: Function(agents::check),
    },
    Check {
        name: "c",
        about: "the C library gives Rust's verdicts here, under sanitizers, and on a Cortex-M3",
        part: RestApart,
        tools: "gcc g++ valgrind pkg-config cmake make arm-none-eabi-gcc qemu-system-arm timeout thumbv7m-none-eabi",
        work: Function(c::check),
    },
    Check {
        name: "firmware",
        about: "a robot's firmware has no allocator and logs its golden log under QEMU",
        part: RestApart,
        tools: "cargo-fmt cargo-clippy thumbv7m-none-eabi qemu-system-arm timeout",
        work: Function(firmware::check),
    },
    Check {
        name: "fuzzing",
        about: "each fuzz target compiles without a lint, and holds for a few seconds; a planted bug is found",
        part: RestApart,
        tools: "cargo-fmt g++",
        work: Function(fuzz::briefly),
    },
    Check {
        name: "no_std",
        about: "the crates for microcontrollers build for `thumbv7m-none-eabi`",
        part: RestApart,
        tools: "thumbv7m-none-eabi",
        work: Function(steps::no_std),
    },
    Check {
        name: "bare",
        about: "the engine links without `std`, panics and allocator; planted ones are found",
        part: RestApart,
        tools: "cargo-fmt cargo-clippy",
        work: Function(bare::check),
    },
    Check {
        name: "mcp",
        about: "a real MCP client and server work through `unstuck mcp`",
        part: RestApart,
        tools: "python target/mcp/python",
        work: Function(mcp::check),
    },
];

impl Check {
    /// Checks the tools, and then runs the work in this process.
    pub(crate) fn run(&self) -> Done {
        machine::tools(self.tools, self.part != Default && is_ci())?;
        match &self.work {
            Commands(commands) => commands.iter().try_for_each(|line| command(&filled(line))),
            Function(work) => work(),
        }
    }
}

/// The names of all steps, for a command line.
pub(crate) fn names() -> PossibleValuesParser {
    steps::possible(CHECKS.iter().map(|check| (check.name, check.about)))
}

/// Returns the step of this name.
pub(crate) fn named(name: &str) -> Done<&'static Check> {
    let found = CHECKS.iter().find(|check| check.name == name);
    found.map_or_else(|| failed(format!("there is no step `{name}`")), Ok)
}

/// Checks the tools of a step for the command that does the same. It fills the folders itself.
pub(crate) fn ready(name: &str) -> Done {
    let tools = named(name)?.tools.split(' ').filter(|tool| !tool.starts_with("target/"));
    machine::tools(&tools.collect::<Vec<_>>().join(" "), is_ci())
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
