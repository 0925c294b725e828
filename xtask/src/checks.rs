//! The steps of `cargo xtask test` as data: what each checks, the tools that it needs, and its commands.

use std::fmt;

use crate::machine::{Machine, Tool, cargo, program};
use crate::step::{Done, Outcome, run};
use crate::steps::{self, FEATURES, FLEET, WASM};
use crate::target::Target;
use crate::{agents, bare, c, firmware, footprint, fuzz, javascript, mcp, python, tidy};

/// A step of `cargo xtask test`.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) part: Part,
    /// They are checked before the step begins.
    tools: &'static [Tool],
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
    /// Commands, one after the other, with spaces between their words. Words like `NAME=value` before the
    /// program set variables.
    Commands(&'static [&'static str]),
    /// More than commands.
    Function(fn(Machine) -> Outcome),
}

use Part::{Default, Rest, RestApart};
use Work::{Commands, Function};

const RUSTFMT: Tool = Tool::Component("cargo-fmt", "rustfmt");
const CLIPPY: Tool = Tool::Component("cargo-clippy", "clippy");
const GIT: Tool = Tool::Program("git", "git");
/// `ring`, for TLS, has code in C.
const GCC: Tool = Tool::Program("gcc", "gcc");
const GXX: Tool = Tool::Program("g++", "g++");
const REDIS: Tool = Tool::Program("redis-server", "redis-server");
const OPENSSL: Tool = Tool::Program("openssl", "openssl");
const VALGRIND: Tool = Tool::Program("valgrind", "valgrind");
const QEMU: Tool = Tool::Program("qemu-system-arm", "qemu-system-arm");
const ARM_GCC: Tool = Tool::Program("arm-none-eabi-gcc", "gcc-arm-none-eabi");
const CMAKE: Tool = Tool::Program("cmake", "cmake");
/// The Debian package of `CMake` only recommends it.
const MAKE: Tool = Tool::Program("make", "make");
const PKG_CONFIG: Tool = Tool::Program("pkg-config", "pkg-config");
/// `script` of util-linux gives a program a terminal.
const SCRIPT: Tool = Tool::Program("script", "bsdutils");
/// `unshare` of util-linux, for a user who may mount file systems.
const MOUNT: Tool = Tool::Program("unshare", "util-linux");
const NODE: Tool = Tool::Program("node", "nodejs");
const NPM: Tool = Tool::Program("npm", "npm");
const CORTEX_M3: Tool = Tool::Compiler(Target::Thumbv7m);
const RISC_V: Tool = Tool::Compiler(Target::Riscv32imc);
const WASM32: Tool = Tool::Compiler(Target::Wasm32);

/// The modules of tests that the default command leaves out, and what their tests need.
pub(crate) const NEEDS: [(&str, &str); 4] = [
    ("needs_mount", "a user who may mount file systems"),
    ("needs_node", "node"),
    ("needs_script", "script of util-linux"),
    ("needs_time", "seconds to minutes each"),
];

/// Every step, in the order in which they run. The long ones of those that run apart come first, so that both
/// processes end at the same time.
pub(crate) static CHECKS: [Check; 22] = [
    Check {
        name: "format",
        about: "`rustfmt` would change nothing",
        part: Default,
        tools: &[RUSTFMT],
        work: Commands(&["cargo fmt --all --check"]),
    },
    Check {
        name: "lints",
        about: "no lint of the table in `Cargo.toml` fires in the default members, in code or in tests",
        part: Default,
        tools: &[CLIPPY],
        work: Commands(&[
            "cargo clippy --locked --all-targets --features {features} -- -D warnings",
        ]),
    },
    Check {
        name: "tests",
        about: "unit and integration tests of the default members pass, long ones on a sample",
        part: Default,
        tools: &[],
        work: Commands(&[
            // Some tests run the examples.
            "cargo build --locked --examples --features {features}",
            "PROPTEST_CASES=16 cargo test --locked --no-fail-fast --tests --features {features} -- \
                --skip needs_",
        ]),
    },
    Check {
        name: "doc-tests",
        about: "the examples in the documentation compile and hold",
        part: Default,
        tools: &[],
        work: Commands(&["cargo test --locked --no-fail-fast --doc --features {features}"]),
    },
    Check {
        name: "tidy",
        about: "the repository keeps its own rules, listed in `xtask/src/tidy.rs`",
        part: Default,
        tools: &[GIT],
        work: Function(|_| tidy::run().into()),
    },
    Check {
        name: "lints-all",
        about: "no lint fires in the whole workspace, with every tested feature",
        part: Rest,
        tools: &[CLIPPY, GCC],
        work: Commands(&["cargo clippy --locked --workspace --all-targets --features \
                {features},{fleet},{wasm} -- -D warnings"]),
    },
    Check {
        name: "fleet-tests",
        about: "tests with Redis, TLS, Parquet, the receiver, Node and a terminal pass, and the long ones whole",
        part: Rest,
        tools: &[GCC, REDIS, OPENSSL, NODE, SCRIPT, MOUNT],
        work: Commands(&[
            "cargo build --locked --package unstuck --examples",
            "UNSTUCK_EXHAUSTIVE=1 cargo test --locked --no-fail-fast --tests --package unstuck \
                --package unstuck-swarm --package unstuck-cli --features {fleet}",
        ]),
    },
    Check {
        name: "tool-tests",
        about: "tests of these commands, of the benchmarks, and of the claims for the fuzzer pass",
        part: Rest,
        tools: &[],
        work: Commands(&[
            "cargo test --locked --no-fail-fast --package xtask --package unstuck-benches \
                --package unstuck-checks",
        ]),
    },
    Check {
        name: "exhaustive",
        about: "what the default tests compare on a sample holds for all of it",
        part: Rest,
        tools: &[],
        work: Commands(&[
            "UNSTUCK_EXHAUSTIVE=1 cargo test --locked --no-fail-fast --tests --package unstuck-core \
                --package unstuck-json --package unstuck-text --package unstuck-trace \
                --features unstuck-core/postcard,unstuck-text/serde,unstuck-text/similarity",
        ]),
    },
    Check {
        name: "docs",
        about: "the documentation builds without a warning",
        part: Rest,
        tools: &[GCC],
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
        tools: &[Tool::Python, Tool::Downloads("target/python/tools", "cargo xtask python")],
        work: Function(|_| python::check().into()),
    },
    Check {
        name: "footprint",
        about: "memory, code, stack and instructions keep to `benches/bare/budgets.toml`",
        part: RestApart,
        tools: &[CORTEX_M3, RISC_V, QEMU, VALGRIND],
        work: Function(footprint),
    },
    Check {
        name: "js",
        about: "the package for JavaScript builds, and its tests and types hold",
        part: RestApart,
        tools: &[NPM, WASM32, Tool::Downloads("target/js/package/node_modules", "cargo xtask js")],
        work: Function(|machine| javascript::check(machine).into()),
    },
    Check {
        name: "c",
        about: "the C library gives Rust's verdicts here, under sanitizers, and on a Cortex-M3",
        part: RestApart,
        tools: &[GCC, GXX, VALGRIND, PKG_CONFIG, CMAKE, MAKE, ARM_GCC, QEMU, CORTEX_M3, RISC_V],
        work: Function(c::check),
    },
    Check {
        name: "firmware",
        about: "a robot's firmware has no allocator and logs its golden log under QEMU",
        part: RestApart,
        tools: &[RUSTFMT, CLIPPY, CORTEX_M3, QEMU],
        work: Function(firmware::check),
    },
    Check {
        name: "fuzzing",
        about: "each fuzz target holds for a few seconds, and a planted bug is found",
        part: RestApart,
        tools: &[GXX],
        work: Function(|_| fuzz::briefly().into()),
    },
    Check {
        name: "fuzz-targets",
        about: "the fuzz targets compile without a lint",
        part: RestApart,
        tools: &[RUSTFMT, CLIPPY, GXX],
        work: Function(|_| steps::apart("fuzz/Cargo.toml")),
    },
    Check {
        name: "no_std",
        about: "the crates for microcontrollers build for `thumbv7m-none-eabi`",
        part: RestApart,
        tools: &[CORTEX_M3],
        work: Function(|machine| steps::no_std(machine).into()),
    },
    Check {
        name: "bare",
        about: "the engine links without `std`, panics and allocator; planted ones are found",
        part: RestApart,
        tools: &[RUSTFMT, CLIPPY],
        work: Function(|_| bare::check()),
    },
    Check {
        name: "narrow",
        about: "the fingerprint's code for 32-bit machines gives the same digests",
        part: RestApart,
        tools: &[],
        work: Commands(&[
            "RUSTFLAGS=--cfg=unstuck_narrow cargo test --locked --package unstuck-json \
                --lib --test known --test pairs --target-dir target/narrow",
        ]),
    },
    Check {
        name: "mcp",
        about: "a real MCP client and server work through `unstuck mcp`",
        part: RestApart,
        tools: &[Tool::Python, Tool::Downloads("target/mcp/python", "cargo xtask mcp")],
        work: Function(|_| mcp::check().into()),
    },
    Check {
        name: "agents",
        about: "real agents from npm hear, and do, what is recorded in `xtask/agents/expected`",
        part: RestApart,
        tools: &[NPM],
        work: Function(agents::check),
    },
];

impl Check {
    /// Checks the tools, and then runs the work in this process.
    pub(crate) fn run(&self) -> Outcome {
        let machine = match self.part {
            Default => Machine::Developer,
            Rest | RestApart => Machine::here(),
        };
        let tools = self.tools.iter().try_for_each(|tool| tool.ready(machine).done());
        tools.map_or_else(
            |missing| missing,
            |()| match &self.work {
                Commands(commands) => commands.iter().try_for_each(|line| command(line)).into(),
                Function(work) => work(machine),
            },
        )
    }
}

/// Runs a command of [`Work::Commands`].
fn command(line: &str) -> Done {
    let line =
        line.replace("{features}", FEATURES).replace("{fleet}", FLEET).replace("{wasm}", WASM);
    let is_variable = |word: &&str| word.contains('=');
    let words = || line.split(' ');
    let variables = words().take_while(is_variable).filter_map(|word| word.split_once('='));
    let mut rest = words().skip_while(is_variable);
    let mut command = match rest.next() {
        Some("cargo") | None => cargo(),
        Some(name) => program(name),
    };
    run(command.args(rest).envs(variables))
}

/// Compares the figures, and prints which ones are not compared here.
fn footprint(machine: Machine) -> Outcome {
    let mut notes = String::new();
    let outcome = footprint::check(machine, &mut notes);
    print!("{notes}");
    outcome
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<13} {}", self.name, self.about)
    }
}
