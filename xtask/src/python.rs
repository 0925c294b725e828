//! Builds, tests and measures the package for Python.

use clap::Args;

use crate::environment::Environment;
use crate::machine;
use crate::step::{Done, Scripts, Steps};
use crate::steps;

const SCRIPTS: Scripts = Scripts(include_str!("../scripts/python.sh"));

/// The tests that need the package of a framework, and the versions of each.
const FRAMEWORKS: &str = "adapters/python/tests/frameworks";

/// The environment into which the wheel is installed.
const INSTALLED: Environment<'_> = Environment("target/python/wheel");

/// Build and test the package for Python.
///
/// Builds the source distribution and the wheel of `adapters/python`, installs each into an environment of its own, runs
/// the tests and the examples, and checks the types. Tools, packages and environments are in `target/python`. Needs
/// Python 3.10 or later and the network.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    #[command(flatten)]
    parts: steps::Parts,
}

/// Runs the steps of `request`, then prints the outcome of each.
pub(crate) fn run(Request { parts }: &Request) -> Done {
    let mut steps = Steps::default();
    steps.then("build", || built(""));
    if parts.bench {
        steps.then("bench", || INSTALLED.run(&SCRIPTS.part("bench")?));
    } else {
        steps.then("sdist", sdist);
        steps.then("tests", || INSTALLED.run(&SCRIPTS.part("tests")?));
        steps.then("types", types);
    }
    parts.each_framework(&mut steps, all_frameworks, framework);
    steps.finish()
}

/// The variable for the profile of the tests. The optimised programs take minutes to build.
pub(crate) const TESTED: &str = "UNSTUCK_PROFILE=dev";

/// Checks the package, and lints its crate, as a step of `cargo xtask test`.
pub(crate) fn check() -> Done {
    built(&format!("{TESTED} {}", steps::linted()))?;
    INSTALLED.run(&SCRIPTS.part("tests")?)?;
    types()
}

/// Builds the wheel, and an environment with it. Without variables, it is the optimised one that users get; [`TESTED`]
/// makes one for tests.
pub(crate) fn built(variables: &str) -> Done {
    let tools = Environment("target/python/tools");
    tools.make()?;
    tools.run(&SCRIPTS.part("build")?.replace("{variables}", variables))?;
    INSTALLED.make_anew()?;
    INSTALLED.run("python -m pip install --no-deps target/python/wheel-dist/*.whl")
}

/// Makes an environment with the wheel and with the packages in these files.
pub(crate) fn environment(folder: &str, requirements: &[String]) -> Done {
    let python = Environment(folder);
    python.make()?;
    python.run(&format!(
        "python -m pip install --requirement {}
        python -m pip install --no-deps --force-reinstall target/python/wheel-dist/*.whl",
        requirements.join(" --requirement ")
    ))
}

/// Returns the file with the pinned versions of a framework.
pub(crate) fn requirements(name: &str) -> String {
    format!("{FRAMEWORKS}/requirements-{name}.txt")
}

fn sdist() -> Done {
    let python = Environment("target/python/sdist");
    python.make_anew()?;
    python.run(&SCRIPTS.part("sdist")?)
}

fn types() -> Done {
    INSTALLED.run(&SCRIPTS.part("types")?.replace("{modules}", &all_frameworks()?.join("|")))
}

/// Runs the tests of a framework, and checks the types of its module, in an environment with its pinned versions.
fn framework(name: &str) -> Done {
    let folder = format!("target/python/frameworks/{name}");
    environment(&folder, &[requirements(name)])?;
    let python = Environment(&folder);
    python.run(&format!(
        "python -m pip install $(grep -E '^(pytest|mypy)==' adapters/python/requirements.txt)
        python -m pytest --quiet -p no:cacheprovider {FRAMEWORKS}/test_{name}.py"
    ))?;
    module_of(name).map_or(Ok(()), |module| {
        python.run(&format!("cd target/python && python -m mypy --strict{module}"))
    })
}

/// Returns the option with the module for a framework. A framework that takes tables needs none.
fn module_of(name: &str) -> Option<String> {
    let package = machine::root().join("adapters/python/python/unstuck");
    let mut names = [name.to_owned(), format!("_{name}")].into_iter();
    let name = names.find(|name| package.join(format!("{name}.py")).exists())?;
    Some(format!(" -m unstuck.{name}"))
}

fn all_frameworks() -> Done<Vec<String>> {
    steps::names(FRAMEWORKS, "test_", ".py")
}
