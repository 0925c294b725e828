//! `unstuck tune`: fits the thresholds of a policy to runs, and prints the scores.
//!
//! [`fit`](crate::calibrate::fit) describes the fit to labelled runs, and [`conformal`] the fit to
//! healthy runs. The policy that is written has the fitted number in each rule. A patience in its
//! `[adaptive]` table could express some fits, but people want to read, change and compare the
//! number of each rule.

mod conformal;
mod healthy;
mod labelled;
mod report;

use std::path::Path;

use unstuck_core::Policy;
use unstuck_text::Preset;

use crate::calibrate::options::{Material, Tune};
use crate::config;
use crate::exit::Exit;
use crate::output::shown::COLUMNS;
use crate::output::{Closed, Output, Reader, complain, show};

/// The suffix of a fitted policy's name.
const SUFFIX: &str = "-tuned";

/// A fitted policy.
struct Tuned {
    policy: Policy<'static>,
    /// The scores, for people.
    report: String,
    /// A summary of the scores, for a comment in the policy's file.
    remark: String,
    /// The exit code.
    exit: Exit,
}

pub(crate) fn run(tune: &Tune) -> Exit {
    match tuned(tune) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn tuned(tune: &Tune) -> Result<Exit, Exit> {
    let (preset, beside) = tune.preset()?;
    if let Some(config) = &tune.config {
        spare(tune, [config.as_path()])?;
    }
    let tuned = match tune.material() {
        Material::Labelled { labels, root } => labelled::tuned(tune, preset, labels, root),
        Material::Healthy(paths) => healthy::tuned(tune, preset, paths),
    }?;
    let policy = Box::leak(Box::new(tuned.policy));
    let remark = textwrap::fill(
        &tuned.remark,
        textwrap::Options::new(COLUMNS).initial_indent("# ").subsequent_indent("# "),
    );
    let config = config::config(&Preset { policy, recipe: preset.recipe });
    write(tune, &tuned.report, &format!("{remark}\n{config}{beside}"), tuned.exit)
}

/// Writes the policy to its file or standard output, and the report to the other stream.
fn write(tune: &Tune, report: &str, config: &str, exit: Exit) -> Result<Exit, Exit> {
    let closed = |closed: Closed| closed.exit(exit);
    let Some(path) = &tune.output else {
        show(report);
        return Output::stdout(Reader::Program).write(config).map(|()| exit).map_err(closed);
    };
    Output::file(path, Reader::Program)?.write(config).map_err(closed)?;
    Output::stdout(Reader::Person).write(report).map(|()| exit).map_err(closed)
}

/// Refuses to write the policy to a file that is an input.
fn spare<'i>(tune: &Tune, inputs: impl IntoIterator<Item = &'i Path>) -> Result<(), Exit> {
    let output = tune.output.as_deref().and_then(|path| Some((path, path.canonicalize().ok()?)));
    let Some((path, output)) = output else { return Ok(()) };
    let is_output = |input: &Path| input.canonicalize().is_ok_and(|input| input == output);
    if inputs.into_iter().any(is_output) {
        let why = "is also an input, and writing would destroy it: name another file";
        return Err(complained(path, why, Exit::Setup));
    }
    Ok(())
}

/// Returns the name of the policy that is fitted from `name`.
fn name_of(name: &str) -> String {
    if name.ends_with(SUFFIX) { name.to_owned() } else { format!("{name}{SUFFIX}") }
}

/// Prints what is wrong with `path`. Returns the exit code.
fn complained(path: &Path, why: &str, exit: Exit) -> Exit {
    complain(&path.display().to_string(), why);
    exit
}
