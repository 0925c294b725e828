//! Fuzzing: the canary, which must be found, and then the targets, which must hold.
//!
//! Each run begins with the inputs in `fuzz/seeds` and `fuzz/regressions`, and with parts of the
//! recorded runs. Learned inputs stay on the machine, in `fuzz/target`.
//! `fuzz/regressions/README.md` says what to do with an input that breaks a target.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use clap::{Args, ValueEnum};

use crate::checks;
use crate::machine::root;
use crate::step::{Done, Scripts, Steps, command, failed, script};
use crate::steps;
use crate::toolchain::output_of;

const SCRIPTS: Scripts = Scripts(include_str!("../scripts/fuzz.sh"));

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

/// The flags that `cargo fuzz` passes to the compiler: coverage of edges, comparisons and the stack.
/// There is no sanitizer, because the crates forbid unsafe code. So a stable compiler is enough.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing \
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0 -Cllvm-args=-sanitizer-coverage-stack-depth \
    -Ccodegen-units=1";

/// The number of inputs within which the canary must be found. It usually takes ten to thirty thousand.
const CANARY_RUNS: &str = "1000000";

/// The message of the canary's panic. It contains no name of a type, which may change.
const CANARY_FOUND: &str = "canary: found the planted bug";

/// The folders of learned inputs. A later run starts with those that are kept; without them, it starts like this one,
/// and takes as long.
const KEPT: &str = "fuzz/target/learnt";
const FORGOTTEN: &str = "fuzz/target/forgotten";

/// Runs the build, the canary, and each target of `request`, then prints the outcome of each.
pub(crate) fn run(request: Request) -> Done {
    let mut steps = Steps::default();
    steps.then("build", || checks::ready("fuzzing").and_then(|()| build("", "")));
    steps.then("canary", canary);
    for target in Target::all().filter(|target| request.target.is_none_or(|only| only == *target)) {
        steps.then(&target.name(), || target.fuzz(KEPT, request.seconds));
    }
    steps.finish()
}

/// Runs the canary, and each target for a few seconds. Most bugs are found at once.
pub(crate) fn briefly() -> Done {
    command("cargo fmt --manifest-path fuzz/Cargo.toml --check")?;
    // More optimisation would take longer than the fuzzing.
    build(&format!("CARGO_PROFILE_RELEASE_OPT_LEVEL=0 {}", steps::linted()), QUICK)?;
    canary()?;
    let outcomes: Vec<_> = Target::all().map(|target| target.fuzz(FORGOTTEN, 3)).collect();
    outcomes.into_iter().collect()
}

/// The packages that the canary spends its time in, which are optimised for a few seconds of fuzzing, too.
const QUICK: &str = "--config profile.release.package.unstuck-core.opt-level=1 \
    --config profile.release.package.unstuck-checks.opt-level=1 \
    --config profile.release.package.heapless.opt-level=1";

/// Builds every target with these variables and options. The command does what `cargo fuzz build` does, without a tool to
/// install.
fn build(variables: &str, options: &str) -> Done {
    let line = format!(
        "{variables} cargo build --release --bins --locked --manifest-path fuzz/Cargo.toml \
            --target-dir fuzz/target {options} --target {}",
        host()
    );
    script(&line, &[("RUSTFLAGS", FLAGS.into())])
}

/// Returns the name of this platform. With a target, the flags do not apply to build scripts.
fn host() -> String {
    output_of("rustc", &["--print", "host-tuple"]).unwrap_or_default().trim().to_owned()
}

/// Checks that the fuzzer finds the planted bug.
fn canary() -> Done {
    script("rm -rf fuzz/artifacts/canary", &[])?;
    let fuzzer = Target::Canary.fuzzer(FORGOTTEN)?;
    let lines =
        SCRIPTS.part("canary")?.replace("{fuzzer}", &fuzzer).replace("{found}", CANARY_FOUND);
    script(&lines.replace("{runs}", CANARY_RUNS), &[]).or_else(|_| {
        failed(format!("the planted bug is not among {CANARY_RUNS} inputs: the fuzzing is broken"))
    })
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

    /// Returns the command that runs the target, with the folder of learned inputs in `learnt`, which is emptied if inputs
    /// are not kept. Inputs that break the target go to `fuzz/artifacts`.
    fn fuzzer(self, learnt: &str) -> Done<String> {
        let (name, host) = (self.name(), host());
        script(&format!("rm -rf {FORGOTTEN}/{name}"), &[])?;
        script(&format!("mkdir -p {learnt}/{name} fuzz/artifacts/{name}"), &[])?;
        // Reading all of them would take longer than a few seconds of fuzzing.
        self.seed(&root().join(learnt).join(&name), if learnt == KEPT { 1 } else { 8 })?;
        Ok(format!(
            "fuzz/target/{host}/release/{name} -artifact_prefix=fuzz/artifacts/{name}/ {learnt}/{name}"
        ))
    }

    /// Fuzzes the target for `seconds`, from the learned and the committed inputs. An input that takes a minute is a
    /// finding; normally it takes milliseconds. Short inputs run faster, and bugs need few lines, so longer runs are cut.
    fn fuzz(self, learnt: &str, seconds: u32) -> Done {
        let (fuzzer, name) = (self.fuzzer(learnt)?, self.name());
        // The last option leaves out the thousands of lines on learned inputs.
        let line = format!(
            "{fuzzer} $(ls -d fuzz/seeds/{name} fuzz/regressions/{name} 2> /dev/null) \
                -max_total_time={seconds} -timeout=60 -max_len=4096 -dict=fuzz/words.dict \
                -print_final_stats=1 -verbosity=0"
        );
        script(&line, &[])
    }

    /// Adds the inputs made from the recorded runs to the learned ones, or one in so many of them.
    fn seed(self, learnt: &Path, step: usize) -> io::Result<()> {
        for (name, run) in runs(&root().join("adapters/trace/runs"))? {
            for (n, input) in self.inputs(&run).into_iter().enumerate().step_by(step) {
                fs::write(learnt.join(format!("{name}-{n}")), input)?;
            }
        }
        Ok(())
    }

    /// Makes inputs for the target from a recorded run. The engine's targets take raw bytes, so they start without any.
    fn inputs(self, run: &str) -> Vec<Vec<u8>> {
        match self {
            Self::Trace => vec![run.into()],
            // A document that spans many lines also gives parts that are not valid documents.
            Self::Fingerprint | Self::Canonicalize => run.lines().map(Into::into).collect(),
            Self::Text => {
                let calls = run.lines().map(str::as_bytes);
                calls.map(|line| [b"bash", line, line].join(&0xFF)).collect()
            }
            _ => Vec::new(),
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
        } else if let Some(name) = path.file_name().and_then(OsStr::to_str) {
            runs.push((name.into(), fs::read_to_string(&path)?));
        }
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_files_of_the_fuzzing_crate_agree() {
        let entries =
            fs::read_dir(root().join("fuzz/fuzz_targets")).expect("the folder of the targets");
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
        let source =
            fs::read_to_string(root().join("fuzz/checks/src/canary.rs")).expect("the canary");
        assert!(source.contains(&format!("\"{CANARY_FOUND}\"")), "the message is another");
    }
}
