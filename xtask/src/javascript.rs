//! Builds, tests and measures the package for JavaScript.

use std::env::consts;
use std::fs;

use clap::Args;

use crate::machine::root;
use crate::step::{Done, Scripts, Steps, command, failed, run as run_command, script};
use crate::toolchain::{WASM, cargo_for};
use crate::{checks, report, steps};

const SCRIPTS: Scripts = Scripts(include_str!("../scripts/javascript.sh"));

/// The size limit of the small engine, compressed by gzip, in bytes. Of these, the causes of failures take 6,000 to 9,000:
/// a note that says what to mend is worth a twentieth.
const SIZE_MAX: u64 = 195_000;

/// The tests that need the package of a framework.
const FRAMEWORKS: &str = "adapters/js/tests/frameworks";

/// The builds of the engine: guards with presets, then policies and recorded runs, too. Each has the name of its
/// module, the one of its file, and the features of the crate.
const ENGINES: [[&str; 3]; 2] =
    [["engine", "unstuck.wasm", ""], ["full", "unstuck-full.wasm", "--features full"]];

/// The profile of the engine that users get, and a quick one for tests.
const SMALL: &str = "wasm";
const QUICK: &str = "release";

/// The programs that run JavaScript, with the words that run test files.
const RUNTIMES: [&str; 4] = [
    "node20/bin/node --test",
    NODE22,
    "@oven/bun-linux-{x64}/bin/bun test --timeout 60000",
    "@deno/linux-{x64}-glibc/deno test --allow-all --no-check --node-modules-dir=manual",
];
const NODE22: &str = "node22/bin/node --test";

/// A Node for programs beside the runtimes.
const NODE: &str = "../runtimes/node_modules/node22/bin/node";

/// The command that installs packages.
const NPM: &str = "npm install --no-audit --no-fund --no-package-lock --loglevel=error --ignore-scripts --no-save";

/// Build and test the package for JavaScript.
///
/// Builds the package of `adapters/js` with the engine as WebAssembly, checks its types and how it is packed, and runs its
/// tests on Node 20 and 22, Bun and Deno. The packed package and everything else is in `target/js`. Needs npm and the
/// network.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    #[command(flatten)]
    parts: steps::Parts,
    /// Only build `target/js/unstuck-VERSION.tgz`, and test nothing
    #[arg(long, conflicts_with_all = ["bench", "page"])]
    build: bool,
    /// Also write `target/js/unstuck.html`, and test it in Chromium
    #[arg(long)]
    page: bool,
}

/// Runs the steps of `request`, then prints the outcome of each.
pub(crate) fn run(Request { parts, build, page }: &Request) -> Done {
    let mut steps = Steps::default();
    steps.then("build", || checks::ready("js").and_then(|()| built(SMALL)));
    if parts.bench {
        steps.then("bench", bench);
    } else if !build {
        steps.then("lints", lints);
        steps.then("package", package);
        steps.then("tests", || tests(&RUNTIMES));
    }
    if *page {
        steps.then("web", web);
        steps.then("page", self::page);
    }
    parts.each_framework(&mut steps, || steps::names(FRAMEWORKS, "", ""), framework);
    steps.finish()
}

/// Checks the package on one runtime, as a step of `cargo xtask test`. An optimised engine takes minutes to build.
pub(crate) fn check() -> Done {
    built(QUICK)?;
    package()?;
    tests(&[NODE22])
}

/// The archive that users install, from the folder of a package in `target/js`.
const ARCHIVE: &str = concat!("\"$ROOT/target/js/unstuck-", env!("CARGO_PKG_VERSION"), ".tgz\"");

/// Builds the package: the engine, its glue, the modules, and the archive that users install.
fn built(profile: &str) -> Done {
    script(&SCRIPTS.part("copy")?, &[])?;
    for [module, file, features] in ENGINES {
        // A test build has one engine, which can do all, under both names.
        let features = if profile == QUICK { ENGINES[1][2] } else { features };
        compiled(features, profile)?;
        script(&SCRIPTS.part("place")?.replace("FILE", file).replace("MODULE", module), &[])?;
        let size = fs::metadata(root().join(format!("target/js/bound/{file}.gz")))?.len();
        println!("{file}: {size} bytes by gzip");
        if profile == SMALL && features.is_empty() && size > SIZE_MAX {
            return failed(format!("{file} has {size} bytes by gzip; the limit is {SIZE_MAX}"));
        }
    }
    script(&SCRIPTS.part("modules")?.replace("NPM", NPM), &[])
}

/// Builds the engine with these features and this profile. Writes its glue and its file into the folder `bound`, by the
/// program of the same version.
fn compiled(features: &str, profile: &str) -> Done {
    let mut build = cargo_for(WASM, "std,panic_abort", "build")?;
    build.args(["--package", "unstuck-wasm", "--lib", "--profile", profile]);
    build.args(["--target-dir", "target/js/cargo"]).args(features.split_whitespace());
    // Every runtime of the last years has it.
    build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-Ctarget-feature=+simd128");
    run_command(&mut build)?;
    command(&format!(
        "cargo run --package unstuck-wasm --bin bind --locked --quiet --no-default-features --features bind \
        --release --target-dir target/js/cargo -- \
        target/js/cargo/{WASM}/{profile}/unstuck_wasm.wasm target/js/bound"
    ))
}

/// Lints the crate, as a library for this machine. `cargo xtask test` leaves it out, because `wasm-bindgen` asks `syn` for
/// more than others do, so that all libraries are compiled anew.
fn lints() -> Done {
    command(&format!(
        "{} cargo build --locked --package unstuck-wasm --lib --features full,page --target-dir target/js/cargo",
        steps::linted()
    ))
}

fn package() -> Done {
    script(&SCRIPTS.part("package")?.replace("ARCHIVE", ARCHIVE), &[])
}

/// Builds the engine with the page around it, and tests it in a browser.
fn page() -> Done {
    compiled("--no-default-features --features page", SMALL)?;
    let unstuck = steps::built("unstuck")?;
    let node = report::in_browser("adapters/wasm/page/check.mjs")?;
    let lines = format!(
        "node adapters/wasm/page/assemble.mjs target/js/bound/unstuck_wasm_bg.wasm \
            target/js/bound/unstuck_wasm.js {} target/js/unstuck.html
        {node} \"$ROOT/target/js/unstuck.html\" \"$UNSTUCK\" \"$ROOT/adapters/trace/runs\"",
        env!("CARGO_PKG_VERSION")
    );
    script(&lines, &[("UNSTUCK", unstuck.into())])
}

/// Installs programs that run JavaScript: all, or only [`NODE22`].
fn runtimes(are_all: bool) -> Done {
    let others = if are_all { "" } else { "/deno|bun|node20/d" };
    let lines = "
        mkdir -p target/js/runtimes
        sed -E 'OTHERS' adapters/js/tests/runtimes.json > target/js/runtimes/package.json
        cd target/js/runtimes && NPM";
    script(&lines.replace("NPM", NPM).replace("OTHERS", others), &[])
}

/// Copies files of the package to a folder, and installs what is there and the package.
fn prepared(files: &str, place: &str) -> Done {
    let lines = format!(
        "mkdir -p target/js/{place}
        cd adapters/js && cp {files} ../../target/js/{place}
        cd target/js/{place} && {NPM} {ARCHIVE}"
    );
    script(&lines, &[])
}

/// Runs the tests that need no framework.
fn tests(on: &[&str]) -> Done {
    runtimes(on == RUNTIMES)?;
    prepared("tests/*.* examples/*.*", "tests")?;
    tested(on, "tests")
}

/// Runs the test files in a folder. They compare recorded runs and plugins with those of the program. The recorded runs
/// are those of the repository, and labelled ones that stand beside it.
fn tested(runtimes: &[&str], place: &str) -> Done {
    let unstuck = steps::built("unstuck")?;
    let mut runs = root().join("adapters/trace/runs").into_os_string();
    let labelled = root().join("../shared/traces");
    if labelled.exists() {
        runs.push(":");
        runs.push(labelled);
    }
    let variables = [("UNSTUCK_PROGRAM", unstuck.into()), ("UNSTUCK_RUNS", runs)];
    let arch = if consts::ARCH == "aarch64" { "arm64" } else { "x64" };
    runtimes.iter().try_for_each(|runtime| {
        let runtime = runtime.replace("{x64}", arch);
        let modules = "\"$ROOT\"/target/js/runtimes/node_modules";
        script(&format!("cd target/js/{place} && {modules}/{runtime} ./*.test.mjs"), &variables)
    })
}

/// Runs the package in Chromium and in a worker of Cloudflare.
fn web() -> Done {
    let browser = report::browser()?;
    prepared("tests/web/*.*", "web")?;
    script(&format!("cd target/js/web && {NODE} web.mjs {browser}"), &[])
}

/// Runs the benchmark beside other guards.
fn bench() -> Done {
    runtimes(true)?;
    prepared("benches/*.*", "bench")?;
    script(&format!("cd target/js/bench && {NODE} --expose-gc guards.mjs"), &[])
}

/// Runs the tests of one framework, and compiles its example, with its pinned versions.
fn framework(name: &str) -> Done {
    let place = format!("frameworks/{name}");
    prepared(&format!("tests/frameworks/*.* tests/frameworks/{name}/*.*"), &place)?;
    tested(&[NODE22], &place)?;
    let line = "node_modules/.bin/tsc --noEmit --strict --skipLibCheck --target es2022 --module nodenext \
        --ignoreConfig types.ts";
    script(&format!("cd target/js/{place} && ../../package/{line}"), &[])
}
