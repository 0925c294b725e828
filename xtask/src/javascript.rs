//! Builds, tests and measures the package for JavaScript.

use std::env::{self, consts};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;

use crate::machine::{self, Machine, cargo, program, root};
use crate::step::{Done, Outcome, Steps, failed_at, run as run_command};
use crate::target::Target;
use crate::toolchain::Toolchain;
use crate::{report, steps};

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

/// Build and test the package for JavaScript.
///
/// Builds the package of `adapters/js` with the engine as WebAssembly, checks its types and how it is packed, and runs its
/// tests on Node 20 and 22, Bun and Deno. The packed package and everything else is in `target/js`. Needs npm and the
/// network.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    /// Also run the tests of every framework, with the versions pinned beside them
    #[arg(long)]
    frameworks: bool,
    /// Also write `target/js/unstuck.html`, and test it in Chromium
    #[arg(long)]
    page: bool,
    /// Measure `before` and `after` beside other guards, and test nothing
    #[arg(long)]
    bench: bool,
    /// Also run the tests of this framework
    #[arg(value_name = "FRAMEWORK")]
    names: Vec<String>,
}

/// Runs the steps of `request`, then prints the outcome of each.
pub(crate) fn run(request: &Request, machine: Machine) -> ExitCode {
    let mut steps = Steps::default();
    steps.then("build", || {
        machine::ready("npm", "npm", machine).done()?;
        built(machine)
    });
    if request.bench {
        steps.then("bench", bench);
    } else {
        steps.then("package", package);
        steps.then("tests", tests);
    }
    if request.page {
        steps.then("web", || web(machine));
        steps.then("page", || page(machine));
    }
    if request.frameworks || !request.names.is_empty() {
        steps.then("frameworks", || each_framework(&frameworks(&request.names)?));
    }
    steps.finish()
}

/// Checks the package as a step of `cargo xtask test`.
pub(crate) fn check(machine: Machine) -> Done {
    built(machine)?;
    package()?;
    tests()?;
    each_framework(&BRIEFLY.map(str::to_owned))
}

/// Returns the file or folder `name` in the target folder.
fn folder(name: &str) -> PathBuf {
    root().join(FOLDER).join(name)
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
fn built(machine: Machine) -> Done {
    copied()?;
    engine(Engine::Small, machine)?;
    engine(Engine::Full, machine)?;
    modules()
}

/// Replaces the copied sources, so that deleted files do not stay.
fn copied() -> Done {
    let package = folder("package");
    for old in ["src", "dist", "platform"] {
        // A folder that does not exist yet is removed, too.
        let _ = fs::remove_dir_all(package.join(old));
    }
    fs::create_dir_all(package.join("dist"))?;
    let sources =
        ["src", "platform", "package.json", "README.md", "tsconfig.json", "tsconfig.cjs.json"];
    let mut copy = program("cp");
    copy.arg("-R").args(sources.map(|name| Path::new(PACKAGE).join(name)));
    run_command(copy.args(["LICENSE-APACHE", "LICENSE-MIT"]).arg(&package))?;
    Ok(fs::create_dir_all(package.join("src/glue"))?)
}

/// Builds the engine, and writes its glue and its file into the package.
fn engine(engine: Engine, machine: Machine) -> Done {
    let features: &[&str] = match engine {
        Engine::Small => &[],
        Engine::Full => &["--features", "full"],
    };
    compiled(features, machine)?;
    let (_, file) = engine.names();
    let size = placed(engine, &folder("bound"))?;
    println!("{file}: {size} bytes by gzip");
    if engine == Engine::Small && size > SIZE_MAX {
        let why = format!("{file} has {size} bytes by gzip; the limit is {SIZE_MAX}");
        return Err(Outcome::Failed(why));
    }
    Ok(())
}

/// Builds the engine with the page around it, and tests it in a browser.
fn page(machine: Machine) -> Done {
    let (bound, page) = (folder("bound"), folder("unstuck.html"));
    compiled(&["--no-default-features", "--features", "page"], machine)?;
    let (wasm, glue) = (bound.join("unstuck_wasm_bg.wasm"), bound.join("unstuck_wasm.js"));
    let mut assemble = program("node");
    assemble.arg("adapters/wasm/page/assemble.mjs").args([&wasm, &glue]);
    run_command(assemble.arg(env!("CARGO_PKG_VERSION")).arg(&page))?;
    let unstuck = steps::built(&["--bin", "unstuck"])?;
    let node = report::in_browser("adapters/wasm/page/check.mjs", machine)?;
    run_command(node().arg(&page).arg(unstuck).arg(root().join(RUNS[0])))
}

/// Builds the engine with these features, and writes its glue and its file into the folder `bound`, by the program of
/// the same version.
fn compiled(features: &[&str], machine: Machine) -> Done {
    let toolchain = Toolchain::ready(Target::Wasm32, machine)?;
    let common = folder("cargo");
    let mut build = toolchain.cargo_with_std("build", Target::Wasm32);
    build.args(["--package", CRATE, "--lib", "--profile", "wasm", "--target-dir"]).arg(&common);
    // Every runtime of the last years has it.
    build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-Ctarget-feature=+simd128");
    run_command(build.args(features))?;
    let mut bind = cargo();
    bind.args(["run", "--package", CRATE, "--bin", "bind", "--locked", "--quiet"]);
    bind.args(["--no-default-features", "--features", "bind", "--profile", "tool"]);
    bind.arg("--target-dir").arg(&common).arg("--");
    let file = common.join(Target::Wasm32.name()).join("wasm/unstuck_wasm.wasm");
    run_command(bind.arg(file).arg(folder("bound")))
}

/// Puts the glue and the file into the package: as it is, and compressed in modules. Returns the compressed
/// size.
fn placed(engine: Engine, bound: &Path) -> Done<usize> {
    let (module, name) = engine.names();
    let (dist, sources) = (folder("package/dist"), folder("package/src/glue"));
    let file = dist.join(name);
    fs::copy(bound.join("unstuck_wasm_bg.wasm"), &file)?;
    fs::copy(bound.join("unstuck_wasm.js"), sources.join(module).with_extension("js"))?;
    let declared = "declare const file: string;\n\nexport default file;\n";
    fs::write(sources.join(format!("{module}-packed.d.ts")), declared)?;
    let mut gzip = program("gzip");
    gzip.args(["--best", "--stdout", "--no-name"]).arg(&file).stderr(Stdio::inherit());
    let compressed = gzip.output()?;
    if !compressed.status.success() {
        return Err(Outcome::Failed(format!("gzip ended with {}", compressed.status)));
    }
    let packed = bound.join("unstuck_wasm_bg.wasm.gz");
    fs::write(&packed, &compressed.stdout)?;
    let encoded = program("base64").arg("--wrap=0").arg(&packed).output()?;
    let text = String::from_utf8_lossy(&encoded.stdout);
    for (kind, start) in [("cjs", "module.exports ="), ("esm", "export default")] {
        let folder = dist.join(kind).join("glue");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("{module}-packed.js")), format!("{start} \"{text}\";\n"))?;
    }
    Ok(compressed.stdout.len())
}

/// Compiles the modules twice, and packs the package.
fn modules() -> Done {
    let package = folder("package");
    npm(&package, &[])?;
    for project in ["tsconfig.json", "tsconfig.cjs.json"] {
        run_command(tool("tsc").args(["--project", project]))?;
    }
    common_js(&package.join("dist/cjs"))?;
    let mut pack = program("npm");
    pack.args(["pack", "--silent", "--pack-destination"]).arg(folder(""));
    run_command(pack.current_dir(&package))
}

/// Returns a tool that is installed in the package.
fn tool(name: &str) -> Command {
    let mut tool = program(folder("package/node_modules/.bin").join(name));
    tool.current_dir(folder("package"));
    tool
}

/// Marks the modules as `CommonJS`, and replaces `#engine` and `#full` by paths, because only the other modules
/// choose the engine by the runtime.
fn common_js(dist: &Path) -> Done {
    fs::write(dist.join("package.json"), "{ \"type\": \"commonjs\" }\n")?;
    let module = fs::read_to_string(dist.join("engine.js"))?;
    let files = [Engine::Small, Engine::Full].map(|engine| engine.names().0);
    let text = files.into_iter().fold(module, |module, name| {
        module.replace(&format!("\"#{name}\""), &format!("\"./glue/{name}-packed.js\""))
    });
    Ok(fs::write(dist.join("engine.js"), text)?)
}

/// Installs the packages of the `package.json` in `folder`, and these.
fn npm(folder: &Path, packages: &[&Path]) -> Done {
    let mut npm = program("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]);
    run_command(npm.args(["--ignore-scripts", "--no-save"]).args(packages).current_dir(folder))
}

/// Returns the archive that users install.
fn archive() -> PathBuf {
    folder(concat!("unstuck-", env!("CARGO_PKG_VERSION"), ".tgz"))
}

/// Checks how the package is packed: that each entry exists, and that its types are found.
fn package() -> Done {
    run_command(tool("publint").arg("--strict").arg(archive()))?;
    // The files of the engine are no modules.
    let modules = ["--exclude-entrypoints", "unstuck.wasm", "unstuck-full.wasm"];
    run_command(tool("attw").arg(archive()).args(["--profile", "node16"]).args(modules))
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
fn runtimes() -> Done {
    let runtimes = folder("runtimes");
    fs::create_dir_all(&runtimes)?;
    let versions = root().join(PACKAGE).join("tests/runtimes.json");
    fs::copy(versions, runtimes.join("package.json"))?;
    npm(&runtimes, &[])
}

/// The folders of recorded runs: those of the repository, and labelled ones that stand beside it.
const RUNS: [&str; 2] = ["adapters/trace/runs", "../shared/traces"];

/// Runs the tests that need no framework.
fn tests() -> Done {
    let place = folder("tests");
    runtimes()?;
    prepared(&["tests", "examples"].map(Path::new), &place)?;
    tested(&Runtime::ALL, &place)
}

/// Runs the test files in `place`. They compare recorded runs and plugins with those of the program.
fn tested(runtimes: &[Runtime], place: &Path) -> Done {
    let unstuck = steps::built(&["--bin", "unstuck"])?;
    let runs = RUNS.map(|folder| root().join(folder));
    let runs = env::join_paths(runs.iter().filter(|folder| folder.exists())).unwrap_or_default();
    let files = test_files(place)?;
    runtimes.iter().try_for_each(|runtime| {
        let mut test = runtime.test();
        test.env("UNSTUCK_PROGRAM", &unstuck).env("UNSTUCK_RUNS", &runs);
        run_command(test.args(&files).current_dir(place))
    })
}

/// Copies the files of folders of the package to `place`, and installs what is there and the package.
fn prepared(folders: &[&Path], place: &Path) -> Done {
    fs::create_dir_all(place)?;
    for folder in folders {
        for entry in fs::read_dir(root().join(PACKAGE).join(folder))? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                fs::copy(entry.path(), place.join(entry.file_name()))?;
            }
        }
    }
    npm(place, &[&archive()])
}

/// Returns the names of the test files in `place`, in the form that every runtime takes for a path.
fn test_files(place: &Path) -> Done<Vec<String>> {
    let files = fs::read_dir(place).map_err(failed_at(place))?.flatten();
    let names = files.map(|file| format!("./{}", file.file_name().to_string_lossy()));
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".test.mjs")).collect();
    names.sort();
    Ok(names)
}

/// Runs the package in Chromium and in a worker of Cloudflare.
fn web(machine: Machine) -> Done {
    let (browser, place) = (report::browser(machine)?, folder("web"));
    prepared(&[Path::new("tests/web")], &place)?;
    run_command(node22().arg("web.mjs").arg(browser).current_dir(&place))
}

/// Runs the benchmark beside other guards.
fn bench() -> Done {
    let place = folder("bench");
    runtimes()?;
    prepared(&[Path::new("benches")], &place)?;
    run_command(node22().args(["--expose-gc", "guards.mjs"]).current_dir(&place))
}

fn node22() -> Command {
    program(folder("runtimes/node_modules/node22/bin/node"))
}

/// Runs the tests of these frameworks. Returns the first failure.
fn each_framework(names: &[String]) -> Done {
    let outcomes: Vec<_> = names.iter().map(|name| framework(name)).collect();
    outcomes.into_iter().collect()
}

/// Runs the tests of one framework, and compiles its example, with its pinned versions.
fn framework(name: &str) -> Done {
    let place = folder("frameworks").join(name);
    prepared(&[Path::new("tests/frameworks"), &Path::new("tests/frameworks").join(name)], &place)?;
    tested(&[Runtime::Node22], &place)?;
    let mut tsc = tool("tsc");
    tsc.args(["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022"]);
    tsc.args(["--module", "nodenext", "--ignoreConfig", "types.ts"]);
    run_command(tsc.current_dir(&place))
}

/// Returns the folder with the tests of a framework.
fn tests_of(name: &str) -> PathBuf {
    root().join(PACKAGE).join("tests/frameworks").join(name)
}

/// Returns the frameworks with these names, or all.
///
/// # Errors
///
/// If there are no tests of a framework.
fn frameworks(names: &[String]) -> Done<Vec<String>> {
    if let Some(name) = names.iter().find(|name| !tests_of(name).exists()) {
        let why = format!("there are no tests of `{name}` in {PACKAGE}/tests/frameworks");
        return Err(Outcome::Failed(why));
    }
    if !names.is_empty() {
        return Ok(names.to_vec());
    }
    let folders = fs::read_dir(tests_of(""))?.flatten().filter(|entry| entry.path().is_dir());
    let names = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.collect();
    names.sort();
    Ok(names)
}
