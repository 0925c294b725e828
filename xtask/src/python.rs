//! Builds, tests and measures the package for Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::slice;

use crate::environment::Environment;
use crate::machine::{self, Machine};
use crate::step::{Outcome, Step, Summary};

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

/// The options of `cargo xtask python`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Whether to try the frameworks.
    pub(crate) frameworks: bool,
    /// Whether to measure instead.
    pub(crate) bench: bool,
    /// The frameworks to try, or none for all.
    pub(crate) names: Vec<String>,
}

/// Runs the steps of `request`, then prints the outcome of each.
pub(crate) fn run(request: &Request) -> ExitCode {
    let mut is_built = false;
    let mut steps = vec![Step::run("build", || {
        let outcome = built(Profile::Release);
        is_built = outcome == Outcome::Passed;
        outcome
    })];
    if is_built && request.bench {
        steps.push(Step::run("bench", bench));
    } else if is_built {
        steps.push(Step::run("sdist", sdist));
        steps.push(Step::run("tests", tests));
        steps.push(Step::run("types", types));
    }
    if is_built && (request.frameworks || !request.names.is_empty()) {
        steps.push(Step::run("frameworks", || match frameworks(&request.names) {
            Ok(names) => each_framework(&names),
            Err(why) => Outcome::Failed(why),
        }));
    }
    let summary = Summary::of_named(steps);
    print!("\n{summary}");
    summary.exit_code()
}

/// Checks the package as a step of `cargo xtask test`. Its programs are built with the profile of the tests, because
/// the optimised ones take minutes to build.
pub(crate) fn check(machine: Machine) -> Outcome {
    if machine == Machine::Developer && !tools().exists() {
        let what = "its tools are not installed; `cargo xtask python` installs them";
        return Outcome::LeftOut(what.into());
    }
    let brief = BRIEFLY.map(str::to_owned);
    let brief = brief.into_iter().filter(|name| tests_of(name).exists()).collect::<Vec<_>>();
    let together = || frameworks_in(&environment("frameworks/brief"), &brief);
    built(Profile::Dev).and_then(tests).and_then(types).and_then(together)
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
fn built(profile: Profile) -> Outcome {
    tools()
        .make()
        .and_then(|| tools().install(["--requirement", TOOLS]))
        .and_then(source)
        .and_then(|| wheel(profile))
        .and_then(|| installed().make_anew())
        .and_then(|| match only(&folder("wheel-dist"), ".whl") {
            Ok(wheel) => installed().install(["--no-deps", &wheel]),
            Err(why) => Outcome::Failed(why),
        })
}

/// Builds the wheel, and returns its file.
///
/// # Errors
///
/// The outcome of the step that failed.
pub(crate) fn built_wheel(profile: Profile) -> Result<String, Outcome> {
    match built(profile) {
        Outcome::Passed => only(&folder("wheel-dist"), ".whl").map_err(Outcome::Failed),
        outcome => Err(outcome),
    }
}

/// Returns the file with the pinned versions of a framework.
pub(crate) fn requirements(name: &str) -> String {
    format!("{FRAMEWORKS}/requirements-{name}.txt")
}

/// Packs the source distribution and unpacks it.
fn source() -> Outcome {
    let (packed, unpacked) = (folder("sdist-dist"), folder("source"));
    for folder in [&packed, &unpacked, &folder("wheel-dist")] {
        // A folder that does not exist yet is removed, too.
        let _ = fs::remove_dir_all(folder);
    }
    if let Err(error) = fs::create_dir_all(&unpacked) {
        return Outcome::Failed(format!("{}: {error}", unpacked.display()));
    }
    let mut build = tools().build("--sdist");
    Outcome::of(build.arg(&packed).arg(PACKAGE)).and_then(|| match only(&packed, ".tar.gz") {
        // The files get the time of unpacking, because cargo compares times.
        Ok(archive) => Outcome::of(
            machine::program("tar")
                .args(["--extract", "--touch", "--strip-components=1", "--file"])
                .arg(archive)
                .arg("--directory")
                .arg(&unpacked),
        ),
        Err(why) => Outcome::Failed(why),
    })
}

/// Builds the wheel from the unpacked source distribution.
fn wheel(profile: Profile) -> Outcome {
    let mut build = tools().build("--wheel");
    build.env("CARGO_TARGET_DIR", machine::root().join("target")).env(PROFILE, profile.name());
    Outcome::of(build.arg(folder("wheel-dist")).arg(folder("source")))
}

/// Installs the source distribution as a user does, and finds a loop with it.
fn sdist() -> Outcome {
    let environment = environment("sdist");
    let mut install = environment.pip();
    install.env("CARGO_TARGET_DIR", machine::root().join("target"));
    environment
        .make_anew()
        .and_then(|| Outcome::of(install.arg("--no-deps").arg(folder("source"))))
        .and_then(|| Outcome::of(environment.python().arg("-c").arg(SMOKE)))
        .and_then(|| Outcome::of(environment.program("unstuck").arg("--version")))
}

/// A loop in three calls.
const SMOKE: &str = "
from unstuck import Guard
guard = Guard()
actions = [guard.after(guard.before('bash', 'make').ticket, 'no', error=True).action for _ in 'abc']
assert actions == ['proceed', 'proceed', 'nudge'], actions
";

/// Runs the tests that need no framework, and the examples of the README.
fn tests() -> Outcome {
    let needs = ["pytest", "hypothesis", "nanoarrow"].map(pinned);
    installed().install(needs).and_then(|| {
        let ignored = format!("--ignore={FRAMEWORKS}");
        let mut pytest = installed().run("pytest", ["--quiet", "-p", "no:cacheprovider"]);
        pytest.env("HYPOTHESIS_STORAGE_DIRECTORY", folder("hypothesis"));
        Outcome::of(pytest.arg(ignored).arg(format!("{PACKAGE}/tests")))
    })
}

/// Checks the types of the package, and its stubs against the extension module.
fn types() -> Outcome {
    let modules = TYPED.iter().flat_map(|module| ["-m", module]);
    let mut strict = installed().run("mypy", ["--strict"]);
    let mut stubs = installed().run("mypy.stubtest", ["unstuck._unstuck"]);
    // It looks for packages in those of the `python` in `PATH`.
    let complete = ["--verifytypes", "unstuck", "--ignoreexternal"];
    let mut complete = installed().run_in_path("pyright", complete);
    // The folder of the sources would come before the installed package.
    for check in [&mut strict, &mut stubs, &mut complete] {
        check.current_dir(folder(""));
    }
    installed()
        .install([pinned("mypy"), pinned("pyright")])
        .and_then(|| Outcome::of(strict.args(modules)))
        .and_then(|| Outcome::of(&mut stubs))
        .and_then(|| completeness(complete))
}

/// Judges what pyright says about the types of all modules. Those of a framework's module are unknown
/// without the framework, and [`frameworks_in`] checks them.
fn completeness(pyright: Command) -> Outcome {
    let (outcome, said) = Outcome::captured(pyright);
    if outcome == Outcome::Passed || !said.contains("Type completeness score") {
        return outcome;
    }
    frameworks(&[]).map_or_else(Outcome::Failed, |names| match incomplete(&said, &names) {
        Some(symbol) => Outcome::Failed(format!("the type of {symbol} is not known")),
        None => Outcome::Passed,
    })
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
fn bench() -> Outcome {
    let requirements = format!("{PACKAGE}/benches/requirements.txt");
    installed()
        .install(["--requirement", &requirements])
        .and_then(|| Outcome::of(installed().python().arg(format!("{PACKAGE}/benches/guards.py"))))
}

/// Runs the tests of these frameworks, each in an environment of its own. Returns the first failure.
fn each_framework(names: &[String]) -> Outcome {
    let one = |name: &String| {
        let environment = environment(&format!("frameworks/{name}"));
        frameworks_in(&environment, slice::from_ref(name))
    };
    let outcomes: Vec<_> = names.iter().map(one).collect();
    outcomes.into_iter().fold(Outcome::Passed, |first, outcome| first.and_then(|| outcome))
}

/// Runs the tests of these frameworks, and checks the types of their modules, in one environment with their pinned
/// versions.
fn frameworks_in(environment: &Environment, names: &[String]) -> Outcome {
    let requirements: Vec<_> = names.iter().map(|name| requirements(name)).collect();
    let requirements = requirements.iter().flat_map(|file| ["--requirement", file]);
    let tools = [pinned("pytest"), pinned("mypy")];
    let all: Vec<_> = requirements.chain(tools.iter().map(String::as_str)).collect();
    let wheel = match only(&folder("wheel-dist"), ".whl") {
        Ok(wheel) => wheel,
        Err(why) => return Outcome::Failed(why),
    };
    environment
        .make()
        .and_then(|| environment.install(all))
        .and_then(|| environment.install(["--no-deps", "--force-reinstall", &wheel]))
        .and_then(|| {
            let mut pytest = environment.run("pytest", ["--quiet", "-p", "no:cacheprovider"]);
            Outcome::of(pytest.args(names.iter().map(|name| tests_of(name))))
        })
        .and_then(|| {
            let modules: Vec<_> = names.iter().filter_map(|name| module_of(name)).collect();
            if modules.is_empty() {
                return Outcome::Passed;
            }
            let mut strict = environment.run("mypy", ["--strict"]);
            strict.args(modules.iter().flat_map(|module| ["-m", module]));
            Outcome::of(strict.current_dir(folder("")))
        })
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
fn frameworks(names: &[String]) -> Result<Vec<String>, String> {
    if let Some(name) = names.iter().find(|name| !tests_of(name).exists()) {
        return Err(format!("there are no tests of `{name}` in {FRAMEWORKS}"));
    }
    if !names.is_empty() {
        return Ok(names.to_vec());
    }
    let files = fs::read_dir(machine::root().join(FRAMEWORKS));
    let files = files.map_err(|error| format!("{FRAMEWORKS}: {error}"))?;
    let mut names: Vec<String> = files
        .filter_map(|file| {
            let name = file.ok()?.file_name().into_string().ok()?;
            Some(name.strip_prefix("test_")?.strip_suffix(".py")?.to_owned())
        })
        .collect();
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
fn only(folder: &Path, ending: &str) -> Result<String, String> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let found: Vec<_> = found
        .filter_map(|file| file.path().into_os_string().into_string().ok())
        .filter(|path| path.ends_with(ending))
        .collect();
    match found.as_slice() {
        [only] => Ok(only.clone()),
        _ => Err(format!("{} has {} files *{ending}", folder.display(), found.len())),
    }
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
