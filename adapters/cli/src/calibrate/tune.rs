//! `unstuck tune`: fits the numbers of a policy's rules to runs, and prints what that costs.
//!
//! To labelled runs it fits as [`fit`](crate::calibrate::fit) says; to healthy ones alone as
//! [`conformal`] says. The numbers of the policy that is written are the fitted ones: a patience for
//! all rules could be said in its `[adaptive]` table as well, but not as the numbers of each rule
//! that a person wants to read, change or compare.

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

/// What is added to the name of a policy whose rules were fitted.
const SUFFIX: &str = "-tuned";

/// What was fitted.
struct Tuned {
    policy: Policy<'static>,
    /// What it cost, for a person.
    report: String,
    /// The same in a few words, for whoever reads the policy.
    remark: String,
    /// How to exit.
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

/// Writes the policy where it was asked for, and the report where the policy is not.
fn write(tune: &Tune, report: &str, config: &str, exit: Exit) -> Result<Exit, Exit> {
    let closed = |closed: Closed| closed.exit(exit);
    let Some(path) = &tune.output else {
        show(report);
        return Output::stdout(Reader::Program).write(config).map(|()| exit).map_err(closed);
    };
    Output::file(path, Reader::Program)?.write(config).map_err(closed)?;
    Output::stdout(Reader::Person).write(report).map(|()| exit).map_err(closed)
}

/// Refuses to write the policy to a file that is read.
fn spare<'i>(tune: &Tune, inputs: impl IntoIterator<Item = &'i Path>) -> Result<(), Exit> {
    let output = tune.output.as_deref().and_then(|path| Some((path, path.canonicalize().ok()?)));
    let Some((path, output)) = output else { return Ok(()) };
    let is_output = |input: &Path| input.canonicalize().is_ok_and(|input| input == output);
    if inputs.into_iter().any(is_output) {
        let why = "is an input, too: writing would destroy it; name another file";
        return Err(complained(path, why, Exit::Setup));
    }
    Ok(())
}

/// The name of what was fitted from the policy called `name`.
fn name_of(name: &str) -> String {
    if name.ends_with(SUFFIX) { name.to_owned() } else { format!("{name}{SUFFIX}") }
}

/// Says what is wrong with `path`; how to exit then.
fn complained(path: &Path, why: &str, exit: Exit) -> Exit {
    complain(&path.display().to_string(), why);
    exit
}
