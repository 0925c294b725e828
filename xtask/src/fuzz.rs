//! Fuzzing: the canary, which must be found, and then the targets, which must hold.
//!
//! An input that breaks a target is a bug, or a claim that goes too far. It becomes an ordinary
//! case: reduce it with `cargo fuzz tmin --fuzz-dir fuzz --sanitizer none <target> <file>`, and
//! write it down, readable, among the tests of the crate that is to blame: the events of `engine`
//! in `core`, a document of `fingerprint` in `adapters/json`, a transcript of `trace` in
//! `adapters/trace`, a call of `text` in `adapters/text`. What fuzzing finds is then tested without
//! it; no corpus and no found file is committed.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, ValueEnum};

use crate::machine::{self, cargo};
use crate::step::{Outcome, Step};

/// What is fuzzed, and for how long.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// What to try to break; everything if none is named
    target: Option<Target>,
    /// How many seconds to give each target
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u32,
}

/// The targets, each a file of `fuzz/fuzz_targets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// A bug planted for the fuzzer, which runs before any other and must be found
    Canary,
    /// The engine against its oracle
    Engine,
    /// Checkpoints made of any bytes
    Checkpoint,
    /// JSON and its fingerprints, against `serde_json`
    Fingerprint,
    /// Transcripts, and what their events must have in common
    Trace,
    /// The recipes and the detectors of the presets
    Text,
}

/// The crate that holds the targets.
const FOLDER: &str = "fuzz";

/// The recorded runs, from which the first inputs are made.
const RUNS: &str = "adapters/trace/runs";

/// The inputs within which the canary must be found. It takes some ten thousand.
const CANARY_RUNS: u32 = 1_000_000;

/// What the canary says when it is found.
const CANARY_FOUND: &str = "canary: Said";

/// The longest input, in bytes; of a longer run the beginning is taken. Bugs hide in few lines,
/// and short inputs are tried faster.
const LENGTH_MAX: u32 = 4096;

/// The seconds after which one input is a finding for its slowness alone. Nothing here takes more
/// than a few milliseconds.
const SLOW: u32 = 60;

/// Runs the steps of `plan`: the build, the canary, and each target asked for.
pub(crate) fn steps(plan: Plan) -> Vec<Step> {
    let mut built = Outcome::Passed;
    let mut steps = vec![Step::run("build", || {
        built = build();
        built.clone()
    })];
    if built != Outcome::Passed {
        return steps;
    }
    steps.push(Step::run("canary", canary));
    let asked = |target: &&Target| plan.target.is_none_or(|asked| asked == **target);
    let targets = Target::value_variants().iter().filter(|target| **target != Target::Canary);
    steps.extend(
        targets.filter(asked).map(|target| Step::run(target.name(), || target.fuzz(plan.seconds))),
    );
    steps
}

/// Builds every target, by `cargo-fuzz`.
fn build() -> Outcome {
    if !has_cargo_fuzz() {
        let how = "`cargo fuzz` is not installed; `cargo install cargo-fuzz --locked` brings it";
        return Outcome::Failed(how.into());
    }
    Outcome::of(&mut cargo_fuzz("build"))
}

/// The planted bug is found, from nothing, by the same inputs every time.
fn canary() -> Outcome {
    let name = Target::Canary.name();
    let (corpus, finds) = (corpus(Target::Canary), folder("artifacts").join(name));
    if let Err(error) = emptied(&corpus).and_then(|()| emptied(&finds)) {
        return Outcome::Failed(format!("the canary's folders cannot be emptied: {error}"));
    }
    let mut command = cargo_fuzz("run");
    command.args([name, "--"]).args(["-seed=1".into(), format!("-runs={CANARY_RUNS}")]);
    // What a fuzzer says of a bug is long, and would be taken for one: this one is as it should be.
    match command.stdin(Stdio::null()).output() {
        Err(error) => Outcome::Failed(format!("`cargo fuzz` did not start: {error}")),
        Ok(output) => found(&String::from_utf8_lossy(&output.stderr)),
    }
}

/// Whether the fuzzer of the canary, which said all that, has found it. That it ends with an
/// error is right, but not enough: it must be this one.
fn found(output: &str) -> Outcome {
    if output.contains(CANARY_FOUND) {
        println!("found, as it should be");
        return Outcome::Passed;
    }
    println!("{output}");
    let why = format!("the planted bug is not among {CANARY_RUNS} inputs: the fuzzing is broken");
    Outcome::Failed(why)
}

impl Target {
    /// The target's name, which is that of its file.
    fn name(self) -> &'static str {
        match self {
            Self::Canary => "canary",
            Self::Engine => "engine",
            Self::Checkpoint => "checkpoint",
            Self::Fingerprint => "fingerprint",
            Self::Trace => "trace",
            Self::Text => "text",
        }
    }

    /// Tries to break the target for so many seconds. What is learnt stays in its corpus, so that
    /// the next time begins there.
    fn fuzz(self, seconds: u32) -> Outcome {
        if let Err(error) = self.seed() {
            return Outcome::Failed(format!("the runs in {RUNS} gave no inputs: {error}"));
        }
        let mut command = cargo_fuzz("run");
        command.args([self.name(), "--"]);
        command.args([format!("-max_total_time={seconds}"), format!("-timeout={SLOW}")]);
        command.args([format!("-max_len={LENGTH_MAX}"), "-print_final_stats=1".into()]);
        command.arg(format!("-dict={FOLDER}/words.dict"));
        Outcome::of(&mut command)
    }

    /// Puts the first inputs into the corpus of the target.
    fn seed(self) -> io::Result<()> {
        let corpus = corpus(self);
        fs::create_dir_all(&corpus)?;
        for (run, text) in runs(&machine::root().join(RUNS))? {
            for (n, input) in self.inputs(&text).into_iter().enumerate() {
                fs::write(corpus.join(format!("{run}-{n}")), input)?;
            }
        }
        Ok(())
    }

    /// The inputs that a recorded run makes for the target; those of the engine are bytes that
    /// mean nothing elsewhere, so the two about it begin from none.
    fn inputs(self, run: &str) -> Vec<Vec<u8>> {
        match self {
            Self::Canary | Self::Engine | Self::Checkpoint => Vec::new(),
            Self::Trace => vec![run.into()],
            // Of a document that is printed over many lines, the parts that are no values teach
            // what a document is not.
            Self::Fingerprint => run.lines().map(Into::into).collect(),
            Self::Text => run
                .lines()
                .map(|line| [b"bash", line.as_bytes(), line.as_bytes()].join(&0xFF))
                .collect(),
        }
    }
}

/// The recorded runs in `folder` and beneath, by names that tell them apart.
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

/// Where the inputs of a target are kept.
fn corpus(target: Target) -> PathBuf {
    folder("corpus").join(target.name())
}

/// A folder of the fuzzing crate.
fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}

/// Makes `folder` one that is there and has nothing in it.
fn emptied(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(folder),
    }
}

/// `cargo fuzz` with a `verb`. Without a sanitizer, since the crates forbid unsafe code and so
/// hold nothing for one to find; that is also what lets a stable compiler do.
fn cargo_fuzz(verb: &str) -> Command {
    let mut command = cargo();
    command.args(["fuzz", verb, "--fuzz-dir", FOLDER, "--sanitizer", "none"]);
    command
}

/// Whether `cargo fuzz` is there.
fn has_cargo_fuzz() -> bool {
    let mut probe = cargo();
    probe.args(["fuzz", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_is_a_file_of_the_fuzzing_crate_and_each_file_a_target() {
        let entries = fs::read_dir(folder("fuzz_targets")).expect("the folder of the targets");
        let files = entries.map(|entry| entry.expect("a readable folder").path());
        let files = files.filter(|path| path.is_file());
        let mut found: Vec<_> =
            files.filter_map(|path| Some(path.file_stem()?.to_owned())).collect();
        let mut named: Vec<_> =
            Target::value_variants().iter().map(|target| target.name()).collect();
        found.sort();
        named.sort_unstable();
        assert_eq!(found, named);
    }

    #[test]
    fn the_words_of_the_canary_are_those_looked_for() {
        let source = fs::read_to_string(folder("checks/src/canary.rs")).expect("the canary");
        assert!(source.contains("\"canary: {said:?} "), "{CANARY_FOUND} is not what it says");
    }

    #[test]
    fn the_runs_make_inputs_for_every_target_that_reads_text() {
        let runs = runs(&machine::root().join(RUNS)).expect("the recorded runs");
        for target in [Target::Fingerprint, Target::Trace, Target::Text] {
            let inputs = runs.iter().flat_map(|(_, run)| target.inputs(run));
            assert!(inputs.count() >= runs.len(), "{target:?}");
        }
    }
}
