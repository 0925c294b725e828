//! Builds, tests and measures the package for Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::slice;

use clap::Args;

use crate::environment::Environment;
use crate::machine;
use crate::step::{Done, Outcome, Steps, failed_at, run as run_command};

/// The package.
const PACKAGE: &str = "adapters/python";

/// The pinned versions of the tools that build and check the package.
const TOOLS: &str = "adapters/python/requirements.txt";

/// The tests that need the package of a framework, and the versions of each.
const FRAMEWORKS: &str = "adapters/python/tests/frameworks";

/// The frameworks that CI tries, in one environment. All of them take minutes to install.
const BRIEFLY: [&str; 4] = ["archives", "duckdb", "langchain", "polars"];

/// The target folder for everything that belongs to the package.
const FOLDER: &str = "target/python";

/// The modules whose types are checked. The others need the packages of frameworks.
const TYPED: [&str; 5] =
    ["unstuck", "unstuck._adapter", "unstuck._guards", "unstuck._unstuck", "unstuck._words"];

/// Build and test the package for Python.
///
/// Builds the source distribution and the wheel of `adapters/python`, installs each into an environment of its own, runs
/// the tests and the examples, and checks the types. Tools, packages and environments are in `target/python`. Needs
/// Python 3.10 or later and the network.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    /// Also run the tests of every framework, with the versions pinned beside them
    #[arg(long)]
    frameworks: bool,
    /// Measure `before` and `after` beside other guards, and test nothing
    #[arg(long)]
    bench: bool,
    /// Also run the tests of this framework
    #[arg(value_name = "FRAMEWORK")]
    names: Vec<String>,
}

/// Runs the steps of `request`, then prints the outcome of each.
pub(crate) fn run(request: &Request) -> ExitCode {
    let mut steps = Steps::default();
    steps.then("build", || built(Profile::Release));
    if request.bench {
        steps.then("bench", bench);
    } else {
        steps.then("sdist", sdist);
        steps.then("tests", tests);
        steps.then("types", types);
    }
    if request.frameworks || !request.names.is_empty() {
        steps.then("frameworks", || each_framework(&frameworks(&request.names)?));
    }
    steps.finish()
}

/// Checks the package as a step of `cargo xtask test`. Its programs are built with the profile of the tests, because
/// the optimised ones take minutes to build.
pub(crate) fn check() -> Done {
    built(Profile::Dev)?;
    tests()?;
    types()?;
    frameworks_in(&environment("frameworks/brief"), &BRIEFLY.map(str::to_owned))
}

/// The profile with which cargo builds the program and the extension module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    Dev,
    Release,
}

impl Profile {
    /// Returns the name by which the build backend reads it from [`PROFILE`].
    const fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
        }
    }
}

/// The variable from which the build backend reads the profile.
const PROFILE: &str = "UNSTUCK_PROFILE";

/// Returns the environment of this name.
fn environment(name: &str) -> Environment {
    Environment::new(folder(name))
}

/// Returns the environment of the tools.
fn tools() -> Environment {
    environment("tools")
}

/// Returns the environment into which the wheel is installed.
fn installed() -> Environment {
    environment("wheel")
}

/// Returns the file or folder `name` in the target folder.
fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}

/// Builds the source distribution, the wheel from its files, and an environment with the wheel.
fn built(profile: Profile) -> Done {
    tools().make().done()?;
    tools().install(["--requirement", TOOLS]).done()?;
    source()?;
    wheel(profile)?;
    installed().make_anew().done()?;
    installed().install(["--no-deps", &only(&folder("wheel-dist"), ".whl")?]).done()
}

/// Builds the wheel, and returns its file.
///
/// # Errors
///
/// The outcome of the step that failed.
pub(crate) fn built_wheel(profile: Profile) -> Done<String> {
    built(profile)?;
    only(&folder("wheel-dist"), ".whl")
}

/// Returns the file with the pinned versions of a framework.
pub(crate) fn requirements(name: &str) -> String {
    format!("{FRAMEWORKS}/requirements-{name}.txt")
}

/// Packs the source distribution and unpacks it.
fn source() -> Done {
    let (packed, unpacked) = (folder("sdist-dist"), folder("source"));
    for folder in [&packed, &unpacked, &folder("wheel-dist")] {
        // A folder that does not exist yet is removed, too.
        let _ = fs::remove_dir_all(folder);
    }
    fs::create_dir_all(&unpacked).map_err(failed_at(&unpacked))?;
    run_command(distribution("--sdist").arg(&packed).arg(PACKAGE))?;
    // The files get the time of unpacking, because cargo compares times.
    let mut tar = machine::program("tar");
    tar.args(["--extract", "--touch", "--strip-components=1", "--file"]);
    run_command(tar.arg(only(&packed, ".tar.gz")?).arg("--directory").arg(&unpacked))
}

/// Returns the command that builds a distribution.
fn distribution(kind: &str) -> Command {
    tools().run("build", [kind, "--no-isolation", "--outdir"])
}

/// Builds the wheel from the unpacked source distribution.
fn wheel(profile: Profile) -> Done {
    let mut build = distribution("--wheel");
    build.env("CARGO_TARGET_DIR", machine::root().join("target")).env(PROFILE, profile.name());
    run_command(build.arg(folder("wheel-dist")).arg(folder("source")))
}

/// Installs the source distribution as a user does, and finds a loop with it.
fn sdist() -> Done {
    let environment = environment("sdist");
    environment.make_anew().done()?;
    let mut install = environment.pip();
    install.env("CARGO_TARGET_DIR", machine::root().join("target"));
    run_command(install.arg("--no-deps").arg(folder("source")))?;
    run_command(environment.python().arg("-c").arg(SMOKE))?;
    run_command(environment.program("unstuck").arg("--version"))
}

/// A loop in three calls.
const SMOKE: &str = "
from unstuck import Guard
guard = Guard()
actions = [guard.after(guard.before('bash', 'make').ticket, 'no', error=True).action for _ in 'abc']
assert actions == ['proceed', 'proceed', 'nudge'], actions
";

/// Runs the tests that need no framework, and the examples of the README.
fn tests() -> Done {
    installed().install(["pytest", "hypothesis", "nanoarrow"].map(pinned)).done()?;
    let mut pytest = installed().run("pytest", ["--quiet", "-p", "no:cacheprovider"]);
    pytest.env("HYPOTHESIS_STORAGE_DIRECTORY", folder("hypothesis"));
    run_command(pytest.args([format!("--ignore={FRAMEWORKS}"), format!("{PACKAGE}/tests")]))
}

/// Checks the types of the package, and its stubs against the extension module.
fn types() -> Done {
    installed().install([pinned("mypy"), pinned("pyright")]).done()?;
    // The folder of the sources would come before the installed package.
    let check = |module: &str, args: &[&str]| {
        let mut check = installed().run(module, args);
        check.current_dir(folder(""));
        check
    };
    let modules = TYPED.iter().flat_map(|module| ["-m", module]);
    run_command(check("mypy", &["--strict"]).args(modules))?;
    run_command(&mut check("mypy.stubtest", &["unstuck._unstuck"]))?;
    // It looks for packages in those of the `python` in `PATH`.
    completeness(check("pyright", &["--verifytypes", "unstuck", "--ignoreexternal"]))
}

/// Judges what pyright says about the types of all modules. Those of a framework's module are unknown
/// without the framework, and [`frameworks_in`] checks them.
fn completeness(pyright: Command) -> Done {
    let (outcome, said) = Outcome::captured(pyright);
    if !said.contains("Type completeness score") {
        return outcome.done();
    }
    match incomplete(&said, &frameworks(&[])?) {
        Some(symbol) if outcome != Outcome::Passed => {
            Err(Outcome::Failed(format!("the type of {symbol} is not known")))
        }
        _ => Ok(()),
    }
}

/// Returns the first symbol in a report of pyright that is of none of these modules.
fn incomplete<'a>(report: &'a str, modules: &[String]) -> Option<&'a str> {
    let symbols = report.lines().filter(|line| line.starts_with("unstuck."));
    let mut others = symbols.filter(|symbol| {
        let module = symbol.split('.').nth(1);
        !modules.iter().any(|name| Some(name.as_str()) == module)
    });
    others.next()
}

/// Runs the benchmark beside other guards.
fn bench() -> Done {
    let requirements = format!("{PACKAGE}/benches/requirements.txt");
    installed().install(["--requirement", &requirements]).done()?;
    run_command(installed().python().arg(format!("{PACKAGE}/benches/guards.py")))
}

/// Runs the tests of these frameworks, each in an environment of its own. Returns the first failure.
fn each_framework(names: &[String]) -> Done {
    let one = |name: &String| {
        let environment = environment(&format!("frameworks/{name}"));
        frameworks_in(&environment, slice::from_ref(name))
    };
    let outcomes: Vec<_> = names.iter().map(one).collect();
    outcomes.into_iter().collect()
}

/// Runs the tests of these frameworks, and checks the types of their modules, in one environment with their pinned
/// versions.
fn frameworks_in(environment: &Environment, names: &[String]) -> Done {
    let requirements = names.iter().flat_map(|name| ["--requirement".into(), requirements(name)]);
    environment.make().done()?;
    environment.install(requirements.chain(["pytest", "mypy"].map(pinned))).done()?;
    let wheel = only(&folder("wheel-dist"), ".whl")?;
    environment.install(["--no-deps", "--force-reinstall", &wheel]).done()?;
    let mut pytest = environment.run("pytest", ["--quiet", "-p", "no:cacheprovider"]);
    run_command(pytest.args(names.iter().map(|name| tests_of(name))))?;
    let modules: Vec<_> = names.iter().filter_map(|name| module_of(name)).collect();
    if modules.is_empty() {
        return Ok(());
    }
    let mut strict = environment.run("mypy", ["--strict"]);
    strict.args(modules.iter().flat_map(|module| ["-m", module]));
    run_command(strict.current_dir(folder("")))
}

/// Returns the module for a framework. A framework that takes tables needs none.
fn module_of(name: &str) -> Option<String> {
    let package = machine::root().join(PACKAGE).join("python/unstuck");
    let mut names = [name.to_owned(), format!("_{name}")].into_iter();
    let name = names.find(|name| package.join(format!("{name}.py")).exists())?;
    Some(format!("unstuck.{name}"))
}

/// Returns the tests of a framework.
fn tests_of(name: &str) -> PathBuf {
    machine::root().join(FRAMEWORKS).join(format!("test_{name}.py"))
}

/// Returns the frameworks with these names, or all.
///
/// # Errors
///
/// If there are no tests of a framework.
fn frameworks(names: &[String]) -> Done<Vec<String>> {
    if let Some(name) = names.iter().find(|name| !tests_of(name).exists()) {
        return Err(Outcome::Failed(format!("there are no tests of `{name}` in {FRAMEWORKS}")));
    }
    if !names.is_empty() {
        return Ok(names.to_vec());
    }
    let files = fs::read_dir(machine::root().join(FRAMEWORKS))?;
    let name = |file: fs::DirEntry| {
        let name = file.file_name().into_string().ok()?;
        Some(name.strip_prefix("test_")?.strip_suffix(".py")?.to_owned())
    };
    let mut names: Vec<_> = files.flatten().filter_map(name).collect();
    names.sort();
    Ok(names)
}

/// Returns the pinned version of a tool, as `name==version`.
fn pinned(name: &str) -> String {
    let text = fs::read_to_string(machine::root().join(TOOLS)).unwrap_or_default();
    let found = text.lines().find(|line| line.split("==").next() == Some(name));
    found.unwrap_or(name).to_owned()
}

/// Returns the only file in `folder` with this ending.
fn only(folder: &Path, ending: &str) -> Done<String> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let found: Vec<_> = found
        .filter_map(|file| file.path().into_os_string().into_string().ok())
        .filter(|path| path.ends_with(ending))
        .collect();
    if let [only] = found.as_slice() {
        return Ok(only.clone());
    }
    let (folder, count) = (folder.display(), found.len());
    Err(Outcome::Failed(format!("{folder} has {count} files *{ending}")))
}

#[cfg(test)]
mod tests {
    use super::incomplete;

    #[test]
    fn only_symbols_of_frameworks_may_be_incomplete() {
        let modules = ["langchain".to_owned()];
        let report = "Public modules: 2\n   unstuck.langchain\n\nunstuck.langchain.Middleware\n  \
                      unstuck/langchain.py:1:2 - error: Return type is unknown\n";
        assert_eq!(incomplete(report, &modules), None);
        let report = format!("{report}unstuck.Guard.before\n  error: Return type is unknown\n");
        assert_eq!(incomplete(&report, &modules), Some("unstuck.Guard.before"));
        assert_eq!(incomplete("unstuck.langchains", &modules), Some("unstuck.langchains"));
    }
}
