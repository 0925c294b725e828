//! `unstuck tune`: makes a policy as patient as runs that are known to be healthy require, or
//! [limits](limit) what a run may spend.
//!
//! Every rule about calls asks for more repetitions, as many as [`conformal`] finds, which says what
//! they guarantee. The policy that is written has the new number in each rule. A patience in its
//! `[adaptive]` table could express the same, but people want to read, change and compare the number
//! of each rule.

mod conformal;
mod limit;
mod patience;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anstyle::Style;
use unstuck_core::Policy;
use unstuck_json::{Hash64 as _, Rapid};
use unstuck_report::config;
use unstuck_report::replay::Replay;
use unstuck_report::shown::{COLUMNS, counted, plain};
use unstuck_text::Preset;

use super::figures::{Column, name, percent, percents, table};
use super::options::Tune;
use super::runs::{first, replayed};
use super::score::{ratio, wilson};
use crate::exit::Exit;
use crate::output::{Closed, Output, Reader, complain, fail, remark, show};
use crate::read::inputs::{self, Input, same_file};
use crate::read::jobs::read_each;
use crate::read::progress::Progress;
pub(crate) use conformal::Rate;
use conformal::quantile;
use patience::{patient, repetitions};

/// The suffix of a fitted policy's name.
const SUFFIX: &str = "-tuned";

/// The largest patience that is tried. An agent that repeats a call so often is waiting, so its
/// tool should be exempt or a poll.
const PATIENCE_MAX: u8 = 16;

/// The patience of a run in which even [`PATIENCE_MAX`] finds something. Patience does not change
/// rules about text.
const NEVER: u8 = PATIENCE_MAX + 1;

pub(crate) fn run(tune: &Tune) -> Exit {
    let done = tune.limit.map_or_else(|| tuned(tune), |of| limit::limited(tune, of));
    done.unwrap_or_else(|exit| exit)
}

fn tuned(tune: &Tune) -> Result<Exit, Exit> {
    let (preset, other_tables) = tune.preset()?;
    let (runs, exit) = patience_of_each(tune, preset)?;
    let fit =
        Fit::of(&runs, tune.false_alarms).map_err(|why| fail(Exit::Input, "--healthy", &why))?;
    let before = preset.policy;
    let is_named = before.name().ends_with(SUFFIX);
    let name = format!("{}{}", before.name(), if is_named { "" } else { SUFFIX });
    let tuned = patient(preset, fit.patience, &name);
    let what = fit.description(before.name(), tune.false_alarms);
    let report = fit.report(&what) + &moved(before, tuned.policy);
    let config = format!("{}\n{}{other_tables}", fit.remark(&what), config::config(tuned));
    write(tune, &report, &config, exit)
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

/// Returns the smallest patience from which on nothing is found in each run, and the exit code.
fn patience_of_each(tune: &Tune, preset: &'static Preset) -> Result<(Vec<u8>, Exit), Exit> {
    let name = preset.policy.name();
    let policies: Vec<_> =
        (0..=PATIENCE_MAX).map(|patience| patient(preset, patience, name)).collect();
    read_healthy(tune, move |input, progress| {
        let replays = policies.iter().map(|preset| Replay::new(preset)).collect();
        let run = replayed(input, progress, replays)?;
        let firsts = run.findings.into_iter().map(|found| first(found.list)).rev();
        let quiet = (0..=PATIENCE_MAX).rev().zip(firsts).take_while(|(_, first)| first.is_none());
        let least = quiet.last().map_or(NEVER, |(patience, _)| patience);
        Ok((!run.is_empty).then_some(least).into_iter().collect())
    })
}

/// The patience for a policy, and the runs that it accuses.
struct Fit {
    patience: u8,
    accused: [AccusedRuns; 3],
}

/// The number of runs that a policy accuses, or that are longer than a limit.
struct AccusedRuns {
    /// The variant of the policy, and its runs.
    what: &'static str,
    runs: usize,
    accused: usize,
    /// Whether the policy was fitted to these runs, so that they say little about others.
    is_fitted: bool,
}

impl AccusedRuns {
    /// Counts the runs that need more than `most`: the patience of a policy, or a limit.
    fn of<S: Ord>(what: &'static str, runs: &[S], most: &S, is_fitted: bool) -> Self {
        let accused = runs.iter().filter(|least| *least > most).count();
        Self { what, runs: runs.len(), accused, is_fitted }
    }

    fn share(&self) -> String {
        percent(ratio(self.accused, self.runs))
    }

    /// Returns the interval for the share of accused runs among all runs of this kind.
    fn interval(&self) -> String {
        percents(wilson(self.accused, self.runs).filter(|_| !self.is_fitted))
    }
}

const ACCUSED: [Column<AccusedRuns>; 5] = [
    ("", |row| row.what.to_owned()),
    ("runs", |row| row.runs.to_string()),
    ("accused", |row| row.accused.to_string()),
    ("share", AccusedRuns::share),
    ("95 %", AccusedRuns::interval),
];

impl Fit {
    /// Fits a policy to the first half of the runs, each with the patience that it needs. The error
    /// says why there is no answer.
    fn of(runs: &[u8], limit: Rate) -> Result<Self, String> {
        let (fitted, unseen) = runs.split_at(runs.len().div_ceil(2));
        let patience = patience_for(fitted, limit)?;
        let accused = [
            AccusedRuns::of("as it is", runs, &0, false),
            AccusedRuns::of("fitted", fitted, &patience, true),
            AccusedRuns::of("unseen", unseen, &patience, false),
        ];
        Ok(Self { patience, accused })
    }

    fn description(&self, name: &str, limit: Rate) -> String {
        let patience = match self.patience {
            0 => "as it is".to_owned(),
            more => {
                format!("with {} more in each rule about calls", counted(more, "repetition"))
            }
        };
        let [all, ..] = &self.accused;
        format!(
            "{}, {patience}, fitted to {} of which at most {limit} % may be accused",
            plain(name),
            counted(all.runs, "healthy run"),
        )
    }

    /// Returns the summary for a comment in the policy's file.
    fn remark(&self, what: &str) -> String {
        let [.., unseen] = &self.accused;
        let remark = format!(
            "The policy {what}. On {} that it was not fitted to: {} (95 %: {}).",
            counted(unseen.runs, "run"),
            unseen.share(),
            unseen.interval(),
        );
        comment(&remark)
    }

    /// Returns the number of healthy runs that the policy accuses.
    fn report(&self, what: &str) -> String {
        let strong = Style::new().bold();
        let legend = "Fitted: on the half of the runs that the policy was fitted to. Unseen: on \
                      the other half. 95 %: Wilson's interval.";
        let (what, legend) = (textwrap::fill(what, COLUMNS), textwrap::fill(legend, COLUMNS));
        format!("{strong}{what}{strong:#}\n\n{}\n\n{legend}\n\n", table(&ACCUSED, &self.accused))
    }
}

/// Returns `text` as a comment of TOML.
fn comment(text: &str) -> String {
    let comment = textwrap::Options::new(COLUMNS).initial_indent("# ").subsequent_indent("# ");
    textwrap::fill(text, comment)
}

/// Returns the patience with which at most the share `limit` of such runs is accused. The error
/// says why there is no answer.
fn patience_for(runs: &[u8], limit: Rate) -> Result<u8, String> {
    match quantile(runs, limit) {
        None => Err(too_few(runs.len(), limit)),
        Some(NEVER) => {
            let never = runs.iter().filter(|least| **least > PATIENCE_MAX).count();
            Err(format!(
                "the policy cannot be fitted to {limit} %: in {never} of {} it finds something \
                 even with {PATIENCE_MAX} more repetitions in each rule about calls; look at the \
                 findings with `unstuck scan`, then exempt a tool, declare it as a poll, or raise \
                 --false-alarms",
                counted(runs.len(), "run"),
            ))
        }
        Some(patience) => Ok(patience),
    }
}

/// Returns the error that `runs` in the fitted half are too few for a limit of `limit`.
fn too_few(runs: usize, limit: Rate) -> String {
    if runs == 0 {
        return "no readable run in which the agent did something".to_owned();
    }
    format!(
        "too few runs for {limit} %: the fitted half has {runs}, but {} are needed, {} in all; \
         give more runs, or raise --false-alarms to {}",
        limit.runs_min(),
        2 * limit.runs_min() - 1,
        Rate::least_for(runs),
    )
}

/// A rule whose number of repetitions changed.
struct Move {
    rule: &'static str,
    before: u16,
    now: u16,
}

const MOVE: [Column<Move>; 3] = [
    ("rule", |moved| name(moved.rule)),
    ("asked for", |moved| moved.before.to_string()),
    ("asks for", |moved| moved.now.to_string()),
];

/// Returns the rules of `policy` whose numbers changed.
fn moved(before: &Policy<'static>, policy: &Policy<'static>) -> String {
    let rules = before.rules().iter().zip(policy.rules()).map(|(before, now)| Move {
        rule: now.name,
        before: repetitions(before.pattern),
        now: repetitions(now.pattern),
    });
    let moves: Vec<Move> = rules.filter(|rule| rule.before != rule.now).collect();
    if moves.is_empty() { "No rule changed.\n".to_owned() } else { table(&MOVE, &moves) + "\n" }
}

/// Returns what `work` makes of each file, some results for the runs of one, and the exit code, because some files may
/// be unreadable. A file without a result is left out with a remark.
fn read_healthy<T: Send + 'static>(
    tune: &Tune,
    work: impl Fn(&Input, &Progress) -> Result<Vec<T>, String> + Send + Sync + 'static,
) -> Result<(Vec<T>, Exit), Exit> {
    let inputs = inputs::find(&tune.healthy);
    let files = inputs.found.iter().filter_map(|input| match input {
        Input::File(path) => Some(path.as_path()),
        Input::Stdin => None,
    });
    spare(tune, tune.config.as_deref().into_iter().chain(files))?;
    for (path, why) in &inputs.errors {
        complain(path, why);
    }
    let named = inputs.found.into_iter().map(|input| (input.clone(), input.name())).collect();
    let (mut runs, unread) = read_each(named, move |input, _, progress| work(input, progress));
    let empty = runs.iter().filter(|(_, results)| results.is_empty()).count();
    if empty > 0 {
        let what = format!("left out {} in which the agent did nothing", counted(empty, "run"));
        remark("--healthy", &what);
    }
    runs.sort_by_cached_key(|(name, _)| (hash(within(&tune.healthy, name)), name.clone()));
    let exit = if inputs.errors.is_empty() { unread } else { Exit::Input };
    Ok((runs.into_iter().flat_map(|(_, results)| results).collect(), exit))
}

/// Refuses to write to a file that is an input.
fn spare<'i>(tune: &Tune, inputs: impl IntoIterator<Item = &'i Path>) -> Result<(), Exit> {
    let Some(path) = &tune.output else { return Ok(()) };
    if inputs.into_iter().any(|input| same_file(input, path)) {
        let why = "is also an input, and writing would destroy it: name another file";
        return Err(fail(Exit::Setup, &path.display().to_string(), why));
    }
    Ok(())
}

/// Returns the part of the name of a run that is behind one of the paths that were given, however these are spelled, or
/// the name of its file.
fn within<'n>(given: &[PathBuf], name: &'n str) -> &'n Path {
    let path = Path::new(name);
    let behind = given.iter().find_map(|folder| path.strip_prefix(folder).ok());
    let behind = behind.filter(|behind| !behind.as_os_str().is_empty());
    behind.or_else(|| path.file_name().map(Path::new)).unwrap_or(path)
}

/// Returns the hash that orders runs. The seed is fixed, so that the same runs are always split
/// alike.
fn hash(path: &Path) -> u64 {
    let parts: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
    Rapid::new(0).hash(parts.join("/").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{hash, within};

    #[test]
    fn runs_are_split_alike_on_every_machine_and_from_every_folder() {
        assert_eq!(hash(Path::new("a/0.jsonl")), 10_358_128_424_165_992_904);
        for (given, name, expected) in [
            ("good", "good/a/0.jsonl", "a/0.jsonl"),
            ("/home/me/good/", "/home/me/good/a/0.jsonl", "a/0.jsonl"),
            ("../good", "../good/a/0.jsonl", "a/0.jsonl"),
            ("good/a/0.jsonl", "good/a/0.jsonl", "0.jsonl"),
            ("-", "-", "-"),
        ] {
            assert_eq!(within(&[PathBuf::from(given)], name), Path::new(expected), "{given}");
        }
    }
}
