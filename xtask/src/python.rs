//! Builds, tests and measures the package for Python.

use clap::Args;

use crate::environment::Environment;
use crate::machine;
use crate::step::{Done, Steps};
use crate::steps;

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
        steps.then("bench", || INSTALLED.run(BENCH));
    } else {
        steps.then("sdist", sdist);
        steps.then("tests", || INSTALLED.run(TESTS));
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
    INSTALLED.run(TESTS)?;
    types()
}

/// Builds the source distribution, and from its unpacked files the wheel. The files get the time of unpacking, because
/// cargo compares times.
const BUILD: &str = "
    python -m pip install --requirement adapters/python/requirements.txt
    rm -rf target/python/sdist-dist target/python/source target/python/wheel-dist
    mkdir -p target/python/source
    python -m build --sdist --no-isolation --outdir target/python/sdist-dist adapters/python
    tar --extract --touch --strip-components=1 --file target/python/sdist-dist/*.tar.gz \
        --directory target/python/source
    CARGO_TARGET_DIR=$ROOT/target {variables} python -m build --wheel --no-isolation \
        --outdir target/python/wheel-dist target/python/source";

/// Installs the source distribution as a user does, and finds a loop with it.
const SDIST: &str = "
    CARGO_TARGET_DIR=$ROOT/target python -m pip install --no-deps target/python/source
    python -c \"from unstuck import Guard; guard = Guard(); \
        actions = [guard.after(guard.before('bash', 'make').ticket, 'no', error=True).action for _ in 'abc']; \
        assert actions == ['proceed', 'proceed', 'nudge'], actions\"
    unstuck --version";

/// Runs the tests that need no framework, and the examples of the README.
const TESTS: &str = "
    python -m pip install $(grep -E '^(pytest|hypothesis|nanoarrow)==' adapters/python/requirements.txt)
    HYPOTHESIS_STORAGE_DIRECTORY=$ROOT/target/python/hypothesis python -m pytest --quiet \
        -p no:cacheprovider --ignore=adapters/python/tests/frameworks adapters/python/tests";

/// Checks the types of the package, and its stubs against the extension module. The modules of frameworks are unknown
/// without the frameworks, and [`framework`] checks them. The folder of the sources would come before the
/// installed package.
const TYPES: &str = "
    python -m pip install $(grep -E '^(mypy|pyright)==' adapters/python/requirements.txt)
    cd target/python && python -m mypy --strict -m unstuck -m unstuck._adapter -m unstuck._escalation -m unstuck._guards \
        -m unstuck._unstuck -m unstuck._words
    cd target/python && python -m mypy.stubtest unstuck._unstuck
    cd target/python && python -m pyright --verifytypes unstuck --ignoreexternal > types.txt || { \
        cat types.txt; grep -q 'Type completeness score' types.txt && \
        ! grep '^unstuck[.]' types.txt | grep -vE '^unstuck[.]({modules})([.]|$)'; }";

/// Runs the benchmark beside other guards.
const BENCH: &str = "
    python -m pip install --requirement adapters/python/benches/requirements.txt
    python adapters/python/benches/guards.py";

/// Builds the wheel, and an environment with it. Without variables, it is the optimised one that users get; [`TESTED`]
/// makes one for tests.
pub(crate) fn built(variables: &str) -> Done {
    let tools = Environment("target/python/tools");
    tools.make()?;
    tools.run(&BUILD.replace("{variables}", variables))?;
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
    python.run(SDIST)
}

fn types() -> Done {
    INSTALLED.run(&TYPES.replace("{modules}", &all_frameworks()?.join("|")))
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
