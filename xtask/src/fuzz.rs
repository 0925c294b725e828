//! Fuzzing: the canary, which must be found, and then the targets, which must hold.
//!
//! Each run begins with the inputs in `fuzz/corpus` and `fuzz/regressions`, and with parts of the
//! recorded runs. Learned inputs stay on the machine, in `fuzz/target`.
//! `fuzz/regressions/README.md` says what to do with an input that breaks a target.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::{Args, ValueEnum};

use crate::machine::{self, Machine, cargo, program};
use crate::step::{Done, Steps, failed, run as run_command};
use crate::toolchain::output_of;

/// Fuzz the targets in `fuzz/fuzz_targets`.
///
/// Fuzzes each target for some seconds. A planted bug comes first and must be found; otherwise the silence of the other
/// targets proves nothing. Needs a C++ compiler. Inputs that a run learns are kept in `fuzz/target` for the next one.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Request {
    /// The seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Fuzz only this target
    target: Option<Target>,
}

/// A target, which is a file of `fuzz/fuzz_targets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// The engine against its oracle
    Engine,
    /// Checkpoints made of any bytes
    Checkpoint,
    /// JSON and its fingerprints, against `serde_json`
    Fingerprint,
    /// Canonical JSON, against `serde_json_canonicalizer`
    Canonicalize,
    /// Replicas that gossip, and frames made of any bytes
    Gossip,
    /// The guard, with any host and any checkpoint
    Guard,
    /// Transcripts, and what holds of all their events
    Trace,
    /// The recipes and the detectors of the presets
    Text,
    /// A planted bug, which runs before any other and must be found
    Canary,
}

/// The seconds of a target in the test command. Most bugs are found at once.
const BRIEFLY: u32 = 3;

/// The crate of the targets.
const FOLDER: &str = "fuzz";

/// The recorded runs, from which the first inputs are made.
const RUNS: &str = "adapters/trace/runs";

/// The folders of committed inputs.
const COMMITTED: [&str; 2] = ["corpus", "regressions"];

/// The flags that `cargo fuzz` passes to the compiler: coverage of edges, comparisons and the stack.
/// There is no sanitizer, because the crates forbid unsafe code. So a stable compiler is enough.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing \
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0 -Cllvm-args=-sanitizer-coverage-stack-depth \
    -Ccodegen-units=1";

/// The target folder of the fuzzers.
const BUILT: &str = "fuzz/target";

/// The number of inputs within which the canary must be found. It usually takes about ten thousand.
const CANARY_RUNS: u32 = 1_000_000;

/// The message of the canary's panic. It contains no name of a type, which may change.
const CANARY_FOUND: &str = "canary: found the planted bug";

/// The longest input, in bytes. A longer run is cut. Short inputs run faster, and bugs need few lines.
const LENGTH_MAX: u32 = 4096;

/// The seconds after which an input is a finding because it is slow. Normally an input takes at most a
/// few milliseconds.
const SLOW: u32 = 60;

/// The folders of learned inputs. A later run starts with those that are kept; without them, it starts like this one,
/// and takes as long.
const KEPT: &str = "fuzz/target/learnt";
const FORGOTTEN: &str = "fuzz/target/forgotten";

/// Runs the build, the canary, and each target of `request`, then prints the outcome of each.
pub(crate) fn run(request: Request) -> ExitCode {
    let mut steps = Steps::default();
    steps.then("build", || {
        machine::ready("c++", "g++", Machine::Developer).done()?;
        build(&[])
    });
    steps.then("canary", canary);
    for target in Target::all().filter(|target| request.target.is_none_or(|only| only == *target)) {
        steps.then(target.name(), || target.fuzz(KEPT, request.seconds));
    }
    steps.finish()
}

/// Runs the canary, and each target for a few seconds.
pub(crate) fn briefly() -> Done {
    // A full optimisation would take longer than the fuzzing.
    build(&[("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")])?;
    canary()?;
    let outcomes: Vec<_> = Target::all().map(|target| target.fuzz(FORGOTTEN, BRIEFLY)).collect();
    outcomes.into_iter().collect()
}

/// Builds every target with these variables. The command does what `cargo fuzz build` does, without a tool to
/// install.
fn build(variables: &[(&str, &str)]) -> Done {
    let words = "build --release --bins --locked --manifest-path fuzz/Cargo.toml --target-dir";
    let mut build = cargo();
    build.args(words.split(' ')).args([BUILT, "--target", &host()]);
    run_command(build.env("RUSTFLAGS", FLAGS).envs(variables.iter().copied()))
}

/// Returns the name of this platform. With a target, the flags do not apply to build scripts.
fn host() -> String {
    output_of("rustc", &["--print", "host-tuple"]).unwrap_or_default().trim().to_owned()
}

/// Checks that the fuzzer finds the planted bug. It starts without inputs and with a fixed seed.
fn canary() -> Done {
    let canary = Target::Canary;
    let learnt = canary.begin(FORGOTTEN)?;
    emptied(&folder("artifacts").join(canary.name()))?;
    let mut command = canary.fuzzer();
    command.arg(learnt).args(["-seed=1".into(), format!("-runs={CANARY_RUNS}")]);
    // The output of a found bug is long and looks like a failure, so it is not printed.
    let output = command.stdin(Stdio::null()).output()?;
    let output = String::from_utf8_lossy(&output.stderr);
    // An error exit alone does not prove it.
    if output.contains(CANARY_FOUND) {
        println!("found, as it should be");
        return Ok(());
    }
    println!("{output}");
    failed(format!("the planted bug is not among {CANARY_RUNS} inputs: the fuzzing is broken"))
}

impl Target {
    /// Every target that is no planted bug.
    fn all() -> impl Iterator<Item = Self> {
        Self::value_variants().iter().copied().filter(|target| *target != Self::Canary)
    }

    /// Returns the target's name, which is also the name of its file.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |name| name.get_name().to_owned())
    }

    /// Creates the folder of artifacts, and the one of inputs in `learnt`, and returns the latter. Empties it if inputs are
    /// not kept.
    fn begin(self, learnt: &str) -> io::Result<PathBuf> {
        fs::create_dir_all(folder("artifacts").join(self.name()))?;
        let folder = machine::root().join(learnt).join(self.name());
        if learnt == KEPT { fs::create_dir_all(&folder) } else { emptied(&folder) }.map(|()| folder)
    }

    /// Fuzzes the target for `seconds`.
    fn fuzz(self, learnt: &str, seconds: u32) -> Done {
        let learnt = self.begin(learnt)?;
        self.seed(&learnt)?;
        let mut command = self.fuzzer();
        // The fuzzer writes what it learns to the first folder.
        command.arg(learnt).args(self.committed());
        command.args([format!("-max_total_time={seconds}"), format!("-timeout={SLOW}")]);
        command.args([format!("-max_len={LENGTH_MAX}"), format!("-dict={FOLDER}/words.dict")]);
        // Without the thousands of lines on learned inputs.
        run_command(command.args(["-print_final_stats=1", "-verbosity=0"]))
    }

    /// Returns a command that runs the target. Inputs that break it go to `fuzz/artifacts`.
    fn fuzzer(self) -> Command {
        let path = [BUILT, &host(), "release", &self.name()].iter().collect::<PathBuf>();
        let mut command = program(machine::root().join(path));
        command.arg(format!("-artifact_prefix={FOLDER}/artifacts/{}/", self.name()));
        command
    }

    /// Returns the folders of committed inputs that exist.
    fn committed(self) -> impl Iterator<Item = PathBuf> {
        let folders = COMMITTED.map(|kind| Path::new(FOLDER).join(kind).join(self.name()));
        folders.into_iter().filter(|folder| machine::root().join(folder).is_dir())
    }

    /// Adds the inputs made from the recorded runs to the learned ones.
    fn seed(self, learnt: &Path) -> io::Result<()> {
        for (run, text) in runs(&machine::root().join(RUNS))? {
            for (n, input) in self.inputs(&text).into_iter().enumerate() {
                fs::write(learnt.join(format!("{run}-{n}")), input)?;
            }
        }
        Ok(())
    }

    /// Makes inputs for the target from a recorded run. The engine's targets take raw bytes, so they
    /// start without any.
    fn inputs(self, run: &str) -> Vec<Vec<u8>> {
        match self {
            Self::Canary | Self::Engine | Self::Checkpoint | Self::Gossip | Self::Guard => {
                Vec::new()
            }
            Self::Trace => vec![run.into()],
            // A document that spans many lines also gives parts that are not valid documents.
            Self::Fingerprint | Self::Canonicalize => run.lines().map(Into::into).collect(),
            Self::Text => run
                .lines()
                .map(|line| [b"bash", line.as_bytes(), line.as_bytes()].join(&0xFF))
                .collect(),
        }
    }
}

/// Returns the recorded runs in `folder` and its subfolders, with distinct names.
fn runs(folder: &Path) -> io::Result<Vec<(String, String)>> {
    let mut runs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            runs.extend(self::runs(&path)?);
        } else if let Some(name) = path.file_stem().and_then(OsStr::to_str) {
            runs.push((name.into(), fs::read_to_string(&path)?));
        }
    }
    Ok(runs)
}

/// Returns a folder of the fuzzing crate.
fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}

/// Creates `folder`, or removes its contents.
fn emptied(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_files_of_the_fuzzing_crate_agree() {
        let entries = fs::read_dir(folder("fuzz_targets")).expect("the folder of the targets");
        let files = entries.map(|entry| entry.expect("a readable folder").path());
        let files = files.filter(|path| path.is_file());
        let mut found: Vec<_> =
            files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
        let mut named: Vec<_> =
            Target::value_variants().iter().map(|target| target.name()).collect();
        found.sort();
        named.sort_unstable();
        assert_eq!(found, named);
    }

    #[test]
    fn the_canary_panics_with_the_expected_message() {
        let source = fs::read_to_string(folder("checks/src/canary.rs")).expect("the canary");
        assert!(source.contains(&format!("\"{CANARY_FOUND}\"")), "the message is another");
    }
}
