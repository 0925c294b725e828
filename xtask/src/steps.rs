//! Parts that several steps of `cargo xtask test` have in common.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::machine::{cargo, has, root};
use crate::step::{Done, Steps, failed, failed_at, run};
use crate::toolchain::{EMULATED, cargo_for};

/// The features of default members that are tested. The `defmt` features need a logger to link, so they are built
/// only for the microcontroller; those that need a server, or TLS, are in [`FLEET`].
pub(crate) const FEATURES: &str = "unstuck/json,unstuck/metrics,unstuck/tracing,\
    unstuck-core/postcard,unstuck-text/serde,unstuck-text/similarity";

/// The features that need a server, or TLS.
pub(crate) const FLEET: &str =
    "unstuck-cli/fleet,unstuck-swarm/redis-async,unstuck-swarm/redis-tls";

/// Makes clippy the compiler of the workspace, with its warnings as errors. `cargo clippy` sets the same variables, and
/// only checks; with them, `cargo test` compiles and lints in one pass.
const LINTED: &str =
    "RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__";

/// Returns [`LINTED`], or nothing on a machine without clippy, on which tests run all the same.
pub(crate) fn linted() -> &'static str {
    if has("clippy-driver") { LINTED } else { "" }
}

/// The folder for the files of steps.
pub(crate) const FOLDER: &str = "target/xtask";

/// The variable with the name of the step, which has a folder of its own.
pub(crate) const STEP: &str = "XTASK_STEP";

/// The variable with the folder of programs that were built before the steps.
pub(crate) const BUILT: &str = "XTASK_BUILT";

/// The programs that steps need: the one of users, and an example of `unstuck-c`.
pub(crate) const PROGRAMS: [&str; 2] = ["unstuck", "table"];

/// Builds one of [`PROGRAMS`], and returns its path. Packages and features are those of the default tests, so that
/// nothing is built twice. The program is copied, because a step may build it with other features afterwards. Where
/// steps run at the same time, such a build would take the place of the program that another step tests, so programs
/// are built before them.
pub(crate) fn built(name: &str) -> Done<PathBuf> {
    if let Some(folder) = env::var_os(BUILT) {
        return Ok(Path::new(&folder).join(name).with_extension(env::consts::EXE_EXTENSION));
    }
    let mut build = cargo();
    // With all targets, cargo selects the packages and features of the tests. With one, it builds most of them anew.
    build.args(["build", "--locked", "--bins", "--examples", "--features", FEATURES]);
    build.envs(linted().split(' ').filter_map(|variable| variable.split_once('=')));
    build.args(["--message-format", "json-render-diagnostics"]);
    println!("+ cargo build for {name}");
    let build = build.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let build = build.map_err(failed_at("cargo".as_ref()))?;
    let messages = String::from_utf8_lossy(&build.stdout);
    let paths = messages.split("\"executable\":\"").skip(1);
    let mut paths = paths.filter_map(|rest| rest.split('"').next()).map(Path::new);
    let program = paths.find(|path| path.file_stem() == Some(name.as_ref()));
    let Some(program) = program.filter(|_| build.status.success()) else {
        return failed(format!("`{name}` was not built: {}", build.status));
    };
    let step = env::var_os(STEP).unwrap_or_else(|| "named".into());
    let folder = root().join(FOLDER).join(step);
    let copy = folder.join(program.file_name().unwrap_or_default());
    // A file that does not exist yet is removed, too.
    let _ = fs::remove_file(&copy);
    fs::create_dir_all(&folder)
        .and_then(|()| fs::copy(program, &copy))
        .map_err(failed_at(&copy))?;
    Ok(copy)
}

/// The crates that compile without `std`, with their flags: without features, and with all. The step `footprint` builds
/// `unstuck-json` and `unstuck-text` without features.
const NO_STD: [&str; 2] = [
    "--package unstuck-core",
    "--package unstuck-core --package unstuck-text --package unstuck-swarm \
        --features unstuck-core/postcard,unstuck-core/defmt,unstuck-text/serde",
];

/// Compiles the crates for microcontrollers on a target without `std`. `cargo check` is enough: the steps
/// `firmware`, `footprint` and `c` link programs.
pub(crate) fn no_std() -> Done {
    for packages in NO_STD {
        // The swarm needs an allocator.
        let mut check = cargo_for(EMULATED, "core,alloc", "check")?;
        check.args(["--target-dir", "target/no_std"]).args(packages.split_whitespace());
        run(&mut check)?;
    }
    Ok(())
}

/// The parts that the packages for Python and for JavaScript have in common.
#[derive(Args, Clone, Debug)]
pub(crate) struct Parts {
    /// Also run the tests of every framework, with the versions pinned beside them
    #[arg(long)]
    frameworks: bool,
    /// Measure `before` and `after` beside other guards, and test nothing
    #[arg(long)]
    pub(crate) bench: bool,
    /// Also run the tests of this framework
    #[arg(value_name = "FRAMEWORK")]
    names: Vec<String>,
}

impl Parts {
    /// Runs the tests of the frameworks that were asked for, as one step. Its outcome is the first failure.
    pub(crate) fn each_framework(
        &self,
        steps: &mut Steps,
        all: impl FnOnce() -> Done<Vec<String>>,
        test: impl Fn(&str) -> Done,
    ) {
        if !self.frameworks && self.names.is_empty() {
            return;
        }
        steps.then("frameworks", || {
            let all = all()?;
            if let Some(name) = self.names.iter().find(|name| !all.contains(name)) {
                return failed(format!("there are no tests of `{name}`"));
            }
            let names = if self.names.is_empty() { &all } else { &self.names };
            let outcomes: Vec<_> = names.iter().map(|name| test(name)).collect();
            outcomes.into_iter().collect()
        });
    }
}

/// Takes these names on a command line, and describes them in its help.
pub(crate) fn possible(
    words: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> PossibleValuesParser {
    let value = |(name, about)| PossibleValue::new(name).help(about);
    PossibleValuesParser::new(words.into_iter().map(value))
}

/// Returns the names in `folder` that start and end so, without both, in their order. Other names with a dot are left
/// out.
pub(crate) fn names(folder: &str, start: &str, end: &str) -> Done<Vec<String>> {
    let files = fs::read_dir(root().join(folder)).map_err(failed_at(folder.as_ref()))?;
    let name = |file: fs::DirEntry| {
        let name = file.file_name().into_string().ok()?;
        let name = name.strip_prefix(start)?.strip_suffix(end)?.to_owned();
        (!name.contains('.')).then_some(name)
    };
    let mut names: Vec<_> = files.flatten().filter_map(name).collect();
    names.sort();
    Ok(names)
}
