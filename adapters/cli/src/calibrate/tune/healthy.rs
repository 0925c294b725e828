//! Fits a policy to runs that are known to be healthy.

use std::path::PathBuf;

use unstuck_core::Policy;
use unstuck_text::{Preset, Recipe};

use super::conformal::{interval, quantile, runs_min};
use super::report::{AccusedRuns, accused, moved};
use super::{Tuned, name_of, spare};
use crate::calibrate::digested::Digested;
use crate::calibrate::figures::{percent, percents};
use crate::calibrate::fit::{Candidate, Rate, hash};
use crate::calibrate::options::Tune;
use crate::exit::Exit;
use crate::output::shown::{counted, plain};
use crate::output::{complain, remark};
use crate::read::inputs::{self, Input};
use crate::read::reading::read_each;

/// The largest patience that is tried. An agent that repeats a call so often is waiting, so its
/// tool should be exempt or a poll.
const PATIENCE_MAX: u8 = 16;

/// The smallest patience from which on nothing is found in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Patience {
    Enough(u8),
    /// More than [`PATIENCE_MAX`], or no patience at all: patience does not change rules about
    /// text.
    Never,
}

/// Counts the runs that a policy with `patience` accuses, from the patience that each run needs.
fn accused_runs(what: &'static str, runs: &[Patience], patience: Patience) -> AccusedRuns {
    let accused = runs.iter().filter(|least| **least > patience).count();
    let interval = interval(accused, runs.len());
    AccusedRuns { what, runs: runs.len(), accused, interval }
}

/// Fits the policy of `preset` to the runs in `paths`.
pub(super) fn tuned(
    tune: &Tune,
    preset: &'static Preset,
    paths: &[PathBuf],
) -> Result<Tuned, Exit> {
    let limit = tune.false_alarms();
    let Some(runs_min) = runs_min(limit) else {
        let why = "no number of healthy runs can guarantee 0 false alarms: give a percentage \
                   above 0";
        complain("--false-alarms", why);
        return Err(Exit::Usage);
    };
    let (mut runs, exit) = read(tune, preset.policy, preset.recipe, paths)?;
    runs.sort_by_cached_key(|(name, _)| (hash(name), name.clone()));
    let runs: Vec<Patience> = runs.into_iter().map(|(_, patience)| patience).collect();
    let (fitted, unseen) = runs.split_at(runs.len().div_ceil(2));
    let patience = patience(fitted, limit, runs_min).map_err(|why| {
        complain("--healthy", &why);
        Exit::Input
    })?;

    let name = preset.policy.name();
    let policy = Candidate::patient(preset.policy, patience).keep(preset.policy, &name_of(name));
    // The patience is at most what the engine accepts.
    let policy = policy.expect("a policy that was tried");
    let what = format!(
        "{}, {}, fitted to {} of which at most {limit} may be accused",
        plain(name),
        match patience {
            0 => "as it is".to_owned(),
            more =>
                format!("with {} more in each rule about calls", counted(more.into(), "repetition")),
        },
        counted(runs.len(), "healthy run"),
    );
    let rows = [
        accused_runs("as it is", &runs, Patience::Enough(0)),
        // The patience was chosen by these runs, so they say little about others.
        AccusedRuns {
            interval: None,
            ..accused_runs("fitted", fitted, Patience::Enough(patience))
        },
        accused_runs("unseen", unseen, Patience::Enough(patience)),
    ];
    let [_, _, last] = &rows;
    let remark = format!(
        "The policy {what}. On {} that it was not fitted to: {} (95 %: {}).",
        counted(last.runs, "run"),
        percent(last.share()),
        percents(last.interval),
    );
    let report = accused(&what, &rows) + &moved(preset.policy, &policy);
    Ok(Tuned { policy, report, remark, exit })
}

/// Returns the patience with which at most the share `limit` of such runs is accused. The error
/// says why there is no answer. At least `runs_min` runs are needed.
fn patience(runs: &[Patience], limit: Rate, runs_min: usize) -> Result<u8, String> {
    if runs.is_empty() {
        return Err("no readable run in which the agent did something".to_owned());
    }
    let Some(patience) = quantile(runs, limit) else {
        return Err(format!(
            "too few runs for {limit}: the fitted half has {}, but {runs_min} are needed, {} in \
             all; give more runs, or raise --false-alarms to {}",
            runs.len(),
            2 * runs_min - 1,
            Rate::least_for(runs.len()).percentage(),
        ));
    };
    match patience {
        Patience::Enough(patience) => Ok(patience),
        Patience::Never => {
            let never = runs.iter().filter(|run| **run == Patience::Never).count();
            Err(format!(
                "the policy cannot be fitted to {limit}: in {never} of {} it finds something even \
                 with {PATIENCE_MAX} more repetitions in each rule about calls; look at the \
                 findings with `unstuck scan`, then exempt a tool, declare it as a poll, or raise \
                 --false-alarms",
                counted(runs.len(), "run"),
            ))
        }
    }
}

/// Returns the name of each run with the patience it needs, and the exit code, because some may be
/// unreadable.
fn read(
    tune: &Tune,
    policy: &'static Policy<'static>,
    recipe: Recipe,
    paths: &[PathBuf],
) -> Result<(Vec<(String, Patience)>, Exit), Exit> {
    let inputs = inputs::find(paths);
    spare(
        tune,
        inputs.found.iter().filter_map(|input| match input {
            Input::File(path) => Some(path.as_path()),
            Input::Stdin => None,
        }),
    )?;
    for (path, why) in &inputs.errors {
        complain(path, why);
    }
    let named = inputs.found.into_iter().map(|input| (input.clone(), input.name())).collect();
    let candidate = |patience| (patience, Candidate::patient(policy, patience));
    let candidates: Vec<(u8, Candidate)> = (0..=PATIENCE_MAX).map(candidate).collect();
    let (runs, unread) = read_each(named, move |input, _, progress| {
        let run = Digested::of(input, &recipe, progress)?;
        Ok((!run.is_empty()).then(|| least(&run, policy, &candidates)))
    });
    let read = runs.len();
    let runs: Vec<_> = runs.into_iter().filter_map(|(name, run)| Some((name, run?))).collect();
    if let Some(empty @ 1..) = read.checked_sub(runs.len()) {
        let what = format!("left out {} in which the agent did nothing", counted(empty, "run"));
        remark("--healthy", &what);
    }
    let exit = if inputs.errors.is_empty() { unread } else { Exit::Input };
    Ok((runs, exit))
}

/// Returns the smallest patience from which on nothing is found in `run`. `candidates` has the
/// policies by rising patience.
fn least(run: &Digested, policy: &Policy<'static>, candidates: &[(u8, Candidate)]) -> Patience {
    let is_quiet = |candidate: &Candidate| {
        let first = candidate.try_on(policy, |policy| run.first(policy));
        first.is_some_and(|found| found.is_none())
    };
    let quiet = candidates.iter().rev().take_while(|(_, candidate)| is_quiet(candidate));
    quiet.last().map_or(Patience::Never, |(patience, _)| Patience::Enough(*patience))
}
