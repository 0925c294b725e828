//! Builds, tests and measures the package for JavaScript.

use std::env::{self, consts};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as STANDARD;

use crate::machine::{self, Machine, cargo, program};
use crate::step::{Outcome, Step, Summary};
use crate::target::Target;
use crate::toolchain::Toolchain;
use crate::{page, report, steps};

/// The package.
const PACKAGE: &str = "adapters/js";

/// The target folder for everything that belongs to the package.
const FOLDER: &str = "target/js";

/// The crate of the engine.
const CRATE: &str = "unstuck-wasm";

/// The size limit of the small engine, compressed by gzip, in bytes.
const SIZE_MAX: usize = 150_000;

/// The frameworks that CI tries. All of them take minutes to install.
const BRIEFLY: [&str; 1] = ["ai-7"];

/// The options of `cargo xtask js`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Whether to try the frameworks.
    pub(crate) frameworks: bool,
    /// Whether to write and test the page.
    pub(crate) page: bool,
    /// Whether to measure instead.
    pub(crate) bench: bool,
    /// The frameworks to try, or none for all.
    pub(crate) names: Vec<String>,
}

/// Runs the steps of `request`, then prints the outcome of each.
pub(crate) fn run(request: &Request, machine: Machine) -> ExitCode {
    let mut is_built = false;
    let mut steps = vec![Step::run("build", || {
        let outcome = built(machine);
        is_built = outcome == Outcome::Passed;
        outcome
    })];
    if is_built && request.bench {
        steps.push(Step::run("bench", bench));
    } else if is_built {
        steps.push(Step::run("package", package));
        steps.push(Step::run("tests", tests));
    }
    if is_built && request.page {
        steps.push(Step::run("web", || web(machine)));
        steps.push(Step::run("page", || page(machine)));
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

/// Checks the package as a step of `cargo xtask test`.
pub(crate) fn check(machine: Machine) -> Outcome {
    if machine == Machine::Developer && !folder("package/node_modules").exists() {
        let what = "its tools are not installed; `cargo xtask js` installs them";
        return Outcome::LeftOut(what.into());
    }
    let brief = BRIEFLY.map(str::to_owned);
    let brief = brief.into_iter().filter(|name| tests_of(name).exists()).collect::<Vec<_>>();
    built(machine).and_then(package).and_then(tests).and_then(|| each_framework(&brief))
}

/// Returns the file or folder `name` in the target folder.
fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}

/// One of the two builds of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    /// Guards with presets.
    Small,
    /// Policies and recorded runs, too.
    Full,
}

impl Engine {
    /// Returns the name of its module, and the one of its file.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Small => ("engine", "unstuck.wasm"),
            Self::Full => ("full", "unstuck-full.wasm"),
        }
    }
}

/// Builds the package: the engine, its glue, the modules, and the archive that users install.
fn built(machine: Machine) -> Outcome {
    machine::ready("npm", "npm", machine)
        .and_then(|| copied().map_or_else(failed, |()| Outcome::Passed))
        .and_then(|| toolchain(machine))
        .and_then(|| engine(Engine::Small, machine))
        .and_then(|| engine(Engine::Full, machine))
        .and_then(modules)
}

#[expect(clippy::needless_pass_by_value, reason = "it ends a chain")]
fn failed(error: io::Error) -> Outcome {
    Outcome::Failed(error.to_string())
}

/// Replaces the copied sources, so that deleted files do not stay.
fn copied() -> io::Result<()> {
    for old in ["src", "dist", "platform"] {
        match fs::remove_dir_all(folder("package").join(old)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::create_dir_all(folder("package/dist"))?;
    let sources = machine::root().join(PACKAGE);
    for part in ["src", "platform"] {
        copy(&sources.join(part), &folder("package").join(part))?;
    }
    for file in ["package.json", "README.md", "tsconfig.json", "tsconfig.cjs.json"] {
        fs::copy(sources.join(file), folder("package").join(file))?;
    }
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(machine::root().join(licence), folder("package").join(licence))?;
    }
    fs::create_dir_all(folder("package/src/glue"))
}

/// Copies the files of a folder, and its folders.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// Lets `rustup` install the target in CI, if it can: Debian's compiler has to build `std` first.
fn toolchain(machine: Machine) -> Outcome {
    if machine == Machine::Ci && Toolchain::find(Target::Wasm32) != Some(Toolchain::Installed) {
        let _ = Outcome::of(program("rustup").args(["target", "add", Target::Wasm32.name()]));
    }
    Toolchain::ready(Target::Wasm32, machine).map_or_else(|outcome| outcome, |_| Outcome::Passed)
}

/// Builds the engine, and writes its glue and its file into the package.
fn engine(engine: Engine, machine: Machine) -> Outcome {
    let features: &[&str] = match engine {
        Engine::Small => &[],
        Engine::Full => &["--features", "full"],
    };
    compiled(features, machine).and_then(|| {
        let bound = folder("bound");
        placed(engine, &bound).map_or_else(failed, |size| small_enough(engine, size))
    })
}

/// Builds the engine with the page around it, and tests it in a browser.
fn page(machine: Machine) -> Outcome {
    let (bound, page) = (folder("bound"), folder("unstuck.html"));
    let (wasm, glue) = (bound.join("unstuck_wasm_bg.wasm"), bound.join("unstuck_wasm.js"));
    compiled(&["--no-default-features", "--features", "page"], machine)
        .and_then(|| page::assemble(&wasm, &glue, &page))
        .and_then(|| page::check(&page, machine))
}

/// Builds the engine with these features, and writes its glue and its file into the folder `bound`.
fn compiled(features: &[&str], machine: Machine) -> Outcome {
    let toolchain = match Toolchain::ready(Target::Wasm32, machine) {
        Ok(toolchain) => toolchain,
        Err(outcome) => return outcome,
    };
    let folder = folder("cargo");
    let mut build = toolchain.cargo_with_std("build", Target::Wasm32);
    build.args(["--package", CRATE, "--lib", "--profile", "wasm", "--target-dir"]).arg(&folder);
    // Every runtime of the last years has it.
    build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-Ctarget-feature=+simd128");
    let file = folder.join(Target::Wasm32.name()).join("wasm/unstuck_wasm.wasm");
    Outcome::of(build.args(features)).and_then(|| bound(&file))
}

/// Writes the glue for a WebAssembly file, with the program of the same version.
fn bound(file: &Path) -> Outcome {
    let mut bind = cargo();
    bind.args(["run", "--package", CRATE, "--bin", "bind", "--locked", "--quiet"]);
    bind.args(["--no-default-features", "--features", "bind", "--profile", "tool"]);
    bind.arg("--target-dir").arg(folder("cargo")).arg("--");
    Outcome::of(bind.arg(file).arg(folder("bound")))
}

/// Puts the glue and the file into the package: as it is, and compressed in modules. Returns the compressed
/// size.
fn placed(engine: Engine, bound: &Path) -> io::Result<usize> {
    let (module, name) = engine.names();
    let (dist, sources) = (folder("package/dist"), folder("package/src/glue"));
    let file = dist.join(name);
    fs::copy(bound.join("unstuck_wasm_bg.wasm"), &file)?;
    fs::copy(bound.join("unstuck_wasm.js"), sources.join(module).with_extension("js"))?;
    let declared = "declare const file: string;\n\nexport default file;\n";
    fs::write(sources.join(format!("{module}-packed.d.ts")), declared)?;
    let compressed = output(program("gzip").args(["--best", "--stdout", "--no-name"]).arg(&file))?;
    let text = STANDARD.encode(&compressed);
    for (kind, start) in [("cjs", "module.exports ="), ("esm", "export default")] {
        let folder = dist.join(kind).join("glue");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("{module}-packed.js")), format!("{start} \"{text}\";\n"))?;
    }
    Ok(compressed.len())
}

/// Returns what `command` writes.
fn output(command: &mut Command) -> io::Result<Vec<u8>> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}

fn small_enough(engine: Engine, size: usize) -> Outcome {
    let (_, file) = engine.names();
    println!("{file}: {size} bytes by gzip");
    if engine == Engine::Small && size > SIZE_MAX {
        return Outcome::Failed(format!(
            "{file} has {size} bytes by gzip; the limit is {SIZE_MAX}"
        ));
    }
    Outcome::Passed
}

/// Compiles the modules twice, and packs the package.
fn modules() -> Outcome {
    let package = folder("package");
    let tsc = |project: &str| {
        let mut tsc = program(package.join("node_modules/.bin/tsc"));
        Outcome::of(tsc.args(["--project", project]).current_dir(&package))
    };
    npm(&package, &[])
        .and_then(|| tsc("tsconfig.json"))
        .and_then(|| tsc("tsconfig.cjs.json"))
        .and_then(|| common_js(&package.join("dist/cjs")).map_or_else(failed, |()| Outcome::Passed))
        .and_then(|| {
            let mut pack = program("npm");
            pack.args(["pack", "--silent", "--pack-destination"]).arg(folder(""));
            Outcome::of(pack.current_dir(&package))
        })
}

/// Marks the modules as `CommonJS`, and replaces `#engine` and `#full` by paths, because only the other modules
/// choose the engine by the runtime.
fn common_js(dist: &Path) -> io::Result<()> {
    fs::write(dist.join("package.json"), "{ \"type\": \"commonjs\" }\n")?;
    let module = fs::read_to_string(dist.join("engine.js"))?;
    let files = [Engine::Small, Engine::Full].map(|engine| engine.names().0);
    let text = files.into_iter().fold(module, |module, name| {
        module.replace(&format!("\"#{name}\""), &format!("\"./glue/{name}-packed.js\""))
    });
    fs::write(dist.join("engine.js"), text)
}

/// Installs the packages of the `package.json` in `folder`, and these.
fn npm(folder: &Path, packages: &[&Path]) -> Outcome {
    let mut npm = program("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]);
    Outcome::of(npm.args(["--ignore-scripts", "--no-save"]).args(packages).current_dir(folder))
}

/// Returns the archive that users install.
fn archive() -> PathBuf {
    folder(concat!("unstuck-", env!("CARGO_PKG_VERSION"), ".tgz"))
}

/// Checks how the package is packed: that each entry exists, and that its types are found.
fn package() -> Outcome {
    let package = folder("package");
    let tool = |name: &str| {
        let mut tool = program(package.join("node_modules/.bin").join(name));
        tool.current_dir(&package);
        tool
    };
    Outcome::of(tool("publint").arg("--strict").arg(archive())).and_then(|| {
        // The files of the engine are no modules.
        let modules = ["--exclude-entrypoints", "unstuck.wasm", "unstuck-full.wasm"];
        Outcome::of(tool("attw").arg(archive()).args(["--profile", "node16"]).args(modules))
    })
}

/// A program that runs JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runtime {
    Node20,
    Node22,
    Bun,
    Deno,
}

impl Runtime {
    const ALL: [Self; 4] = [Self::Node20, Self::Node22, Self::Bun, Self::Deno];

    /// Returns the command that runs test files.
    fn test(self) -> Command {
        let arch = if consts::ARCH == "aarch64" { "arm64" } else { "x64" };
        let modules = folder("runtimes/node_modules");
        let path = match self {
            Self::Node20 => "node20/bin/node".to_owned(),
            Self::Node22 => "node22/bin/node".to_owned(),
            Self::Bun => format!("@oven/bun-linux-{arch}/bin/bun"),
            Self::Deno => format!("@deno/linux-{arch}-glibc/deno"),
        };
        let mut command = program(modules.join(path));
        command.args(match self {
            Self::Node20 | Self::Node22 => &["--test"][..],
            Self::Bun => &["test"],
            Self::Deno => &["test", "--allow-all", "--no-check", "--node-modules-dir=manual"],
        });
        command
    }
}

/// Installs the programs that run JavaScript.
fn runtimes() -> Outcome {
    let runtimes = folder("runtimes");
    let copied = fs::create_dir_all(&runtimes).and_then(|()| {
        fs::copy(
            machine::root().join(PACKAGE).join("tests/runtimes.json"),
            runtimes.join("package.json"),
        )
    });
    copied.map_or_else(failed, |_| npm(&runtimes, &[]))
}

/// The folders of recorded runs: those of the repository, and labelled ones that stand beside it.
const RUNS: [&str; 2] = ["adapters/trace/runs", "../shared/traces"];

/// Runs the tests that need no framework.
fn tests() -> Outcome {
    let place = folder("tests");
    let ready = runtimes().and_then(|| prepared(&["tests", "examples"].map(Path::new), &place));
    Runtime::ALL.iter().fold(ready, |before, runtime| before.and_then(|| tested(*runtime, &place)))
}

/// Runs the test files in `place`. They compare recorded runs and plugins with those of the program.
fn tested(runtime: Runtime, place: &Path) -> Outcome {
    let unstuck = match steps::built(&["--bin", "unstuck"]) {
        Ok(unstuck) => unstuck,
        Err(outcome) => return outcome,
    };
    let runs = RUNS.map(|folder| machine::root().join(folder));
    let runs = env::join_paths(runs.iter().filter(|folder| folder.exists())).unwrap_or_default();
    match test_files(place) {
        Ok(files) => {
            let mut test = runtime.test();
            test.env("UNSTUCK_PROGRAM", unstuck).env("UNSTUCK_RUNS", runs);
            Outcome::of(test.args(files).current_dir(place))
        }
        Err(error) => failed(error),
    }
}

/// Copies the files of folders of the package to `place`, and installs what is there and the package.
fn prepared(folders: &[&Path], place: &Path) -> Outcome {
    let copied = fs::create_dir_all(place).and_then(|()| {
        for folder in folders {
            for entry in fs::read_dir(machine::root().join(PACKAGE).join(folder))? {
                let entry = entry?;
                if entry.file_type()?.is_file() {
                    fs::copy(entry.path(), place.join(entry.file_name()))?;
                }
            }
        }
        Ok(())
    });
    copied.map_or_else(failed, |()| npm(place, &[&archive()]))
}

/// Returns the names of the test files in `place`, in the form that every runtime takes for a path.
fn test_files(place: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(place)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".test.mjs") {
            names.push(format!("./{name}"));
        }
    }
    names.sort();
    Ok(names)
}

/// Runs the package in Chromium and in a worker of Cloudflare.
fn web(machine: Machine) -> Outcome {
    let place = folder("web");
    let browser = match report::browser(machine) {
        Ok(browser) => browser,
        Err(outcome) => return outcome,
    };
    let mut node = program(folder("runtimes/node_modules/node22/bin/node"));
    node.arg("web.mjs").arg(browser).current_dir(&place);
    prepared(&[Path::new("tests/web")], &place).and_then(|| Outcome::of(&mut node))
}

/// Runs the benchmark beside other guards.
fn bench() -> Outcome {
    let place = folder("bench");
    let mut node = program(folder("runtimes/node_modules/node22/bin/node"));
    node.args(["--expose-gc", "guards.mjs"]).current_dir(&place);
    runtimes()
        .and_then(|| prepared(&[Path::new("benches")], &place))
        .and_then(|| Outcome::of(&mut node))
}

/// Runs the tests of these frameworks. Returns the first failure.
fn each_framework(names: &[String]) -> Outcome {
    let outcomes: Vec<_> = names.iter().map(|name| framework(name)).collect();
    outcomes.into_iter().fold(Outcome::Passed, |first, outcome| first.and_then(|| outcome))
}

/// Runs the tests of one framework, and compiles its example, with its pinned versions.
fn framework(name: &str) -> Outcome {
    let place = folder("frameworks").join(name);
    let own = Path::new("tests/frameworks").join(name);
    prepared(&[Path::new("tests/frameworks"), &own], &place)
        .and_then(|| tested(Runtime::Node22, &place))
        .and_then(|| {
            let mut tsc = program(folder("package/node_modules/.bin/tsc"));
            tsc.args(["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022"]);
            tsc.args(["--module", "nodenext", "--ignoreConfig", "types.ts"]);
            Outcome::of(tsc.current_dir(&place))
        })
}

/// Returns the folder with the tests of a framework.
fn tests_of(name: &str) -> PathBuf {
    machine::root().join(PACKAGE).join("tests/frameworks").join(name)
}

/// Returns the frameworks with these names, or all.
///
/// # Errors
///
/// If there are no tests of a framework.
fn frameworks(names: &[String]) -> Result<Vec<String>, String> {
    if let Some(name) = names.iter().find(|name| !tests_of(name).exists()) {
        return Err(format!("there are no tests of `{name}` in {PACKAGE}/tests/frameworks"));
    }
    if !names.is_empty() {
        return Ok(names.to_vec());
    }
    let all = tests_of("");
    let folders = fs::read_dir(&all).map_err(|error| format!("{}: {error}", all.display()))?;
    let mut names: Vec<String> = folders
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}
