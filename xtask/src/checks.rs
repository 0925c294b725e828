//! The steps of `cargo xtask test` as data: what each checks, the tools that it needs, and its commands.

use clap::builder::PossibleValuesParser;

use crate::machine::{self, has, is_ci};
use crate::step::{Done, command, failed};
use crate::steps::{self, FEATURES, FLEET, WASM};
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

/// Makes clippy the compiler of the workspace, with its warnings as errors. `cargo clippy` sets the same variables, and
/// only checks; with them, `cargo test` compiles and lints in one pass.
const LINTED: &str =
    "RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__";

/// The packages whose features do not disturb each other: a benchmark, a check and a tool ask libraries for features that
/// the program has to do without. No Python is needed to link an extension module.
const ALL: &str = "--workspace --exclude unstuck-benches --exclude unstuck-checks --exclude xtask \
    --config profile.dev.opt-level=1 --config profile.dev.package.unstuck-cli.opt-level=1 \
    --config profile.dev.package.unstuck-core.opt-level=3 --config profile.dev.package.unstuck-json.opt-level=3 \
    --features {features},{fleet},{wasm}";

/// The modules of tests that the default command leaves out, and what their tests need.
pub(crate) const NEEDS: [(&str, &str); 4] = [
    ("needs_mount", "a user who may mount file systems"),
    ("needs_node", "node"),
    ("needs_script", "script of util-linux"),
    ("needs_time", "seconds to minutes each"),
];

/// Every step, in the order in which they run. The long ones of those that run apart come first, so that both
/// processes end at the same time.
pub(crate) static CHECKS: [Check; 20] = [
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
        about: "all packages compile with every feature, no lint fires, and their tests pass, the long ones whole",
        part: Rest,
        tools: "gcc redis-server openssl node script unshare",
        work: Commands(&[
            // Some tests run the examples. Hooks that wait 50 ms for each other need the optimisation.
            "{linted} cargo build --locked {all} --lib --bins --examples",
            "{linted} UNSTUCK_EXHAUSTIVE=1 cargo test --locked --no-fail-fast {all} --lib --bins --tests",
        ]),
    },
    Check {
        name: "tool-tests",
        about: "the same for these commands, the benchmarks, and the claims for the fuzzer",
        part: Rest,
        tools: "",
        work: Commands(&[
            "{linted} cargo test --locked --no-fail-fast --package xtask --package unstuck-benches \
                --package unstuck-checks",
        ]),
    },
    Check {
        name: "docs",
        about: "the documentation builds without a warning",
        part: Rest,
        tools: "gcc",
        // The program is left out, because it would write to the folder of the library, and it has a single function.
        work: Commands(&[
            "RUSTDOCFLAGS=-Dwarnings cargo doc --locked --workspace --no-deps --lib --bin \
                xtask --features {features},{fleet},{wasm}",
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
        tools: "thumbv7m-none-eabi riscv32imc-unknown-none-elf qemu-system-arm timeout valgrind",
        work: Function(footprint::check),
    },
    Check {
        name: "js",
        about: "the package for JavaScript builds, and its tests and types hold",
        part: RestApart,
        tools: "npm wasm32-unknown-unknown target/js/package/node_modules",
        work: Function(javascript::check),
    },
    Check {
        name: "c",
        about: "the C library gives Rust's verdicts here, under sanitizers, and on a Cortex-M3",
        part: RestApart,
        tools: "gcc g++ valgrind pkg-config cmake make arm-none-eabi-gcc qemu-system-arm timeout thumbv7m-none-eabi riscv32imc-unknown-none-elf",
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
        about: "each fuzz target holds for a few seconds, and a planted bug is found",
        part: RestApart,
        tools: "g++",
        work: Function(fuzz::briefly),
    },
    Check {
        name: "fuzz-targets",
        about: "the fuzz targets compile without a lint",
        part: RestApart,
        tools: "cargo-fmt cargo-clippy g++",
        work: Commands(&[
            "cargo fmt --manifest-path fuzz/Cargo.toml --check",
            "cargo clippy --manifest-path fuzz/Cargo.toml --locked -- -D warnings",
        ]),
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
        name: "narrow",
        about: "the fingerprint's code for 32-bit machines gives the same digests",
        part: RestApart,
        tools: "",
        work: Commands(&[
            "RUSTFLAGS=--cfg=unstuck_narrow cargo test --locked --package unstuck-json \
                --lib --test known --test pairs --target-dir target/narrow",
        ]),
    },
    Check {
        name: "mcp",
        about: "a real MCP client and server work through `unstuck mcp`",
        part: RestApart,
        tools: "python target/mcp/python",
        work: Function(mcp::check),
    },
    Check {
        name: "agents",
        about: "real agents from npm hear, and do, what is recorded in `xtask/agents/expected`",
        part: RestApart,
        tools: "node npm git timeout",
        work: Function(agents::check),
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
    // Without clippy, tests run all the same.
    let linted = if has("clippy-driver") { LINTED } else { "" };
    let line = line.replace("{linted}", linted).replace("{all}", ALL);
    line.replace("{features}", FEATURES).replace("{fleet}", FLEET).replace("{wasm}", WASM)
}
