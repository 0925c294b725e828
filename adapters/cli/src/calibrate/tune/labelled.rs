//! Fits a policy to labelled runs.

use std::path::{Path, PathBuf};

use unstuck_text::Preset;

use super::report::{moved, scores};
use super::{Tuned, complained, name_of, spare};
use crate::calibrate::figures::{number, percent};
use crate::calibrate::fit::{self, FOLDS, Fit, Fitter, REACH, Rate, Run, folds};
use crate::calibrate::labels;
use crate::calibrate::options::Tune;
use crate::calibrate::score::{Counts, Score};
use crate::exit::Exit;
use crate::output::shown::{counted, plain};
use crate::read::progress::Progress;

/// Fits the policy of `preset` to the runs below `root` that the file `path` labels.
pub(super) fn tuned(
    tune: &Tune,
    preset: &'static Preset,
    path: &Path,
    root: &Path,
) -> Result<Tuned, Exit> {
    let wrong = |why: String| complained(path, &why, Exit::Input);
    let (labels, exit) = labels::read(path).map_err(wrong)?;
    let files: Vec<PathBuf> = labels.iter().map(|label| root.join(&label.file)).collect();
    spare(tune, files.iter().map(PathBuf::as_path).chain([path]))?;
    let (runs, unread) = fit::read(root, labels, &[preset]);
    // If there is none, an error was printed for each of them.
    let runs = runs.into_iter().find(|runs| !runs.is_empty()).ok_or(Exit::Input)?;

    let limit = tune.false_alarms();
    let fitted = Fitted::of(preset, limit, &runs).map_err(wrong)?;
    let name = preset.policy.name();
    let policy = fitted.fit.policy(preset.policy, &name_of(name));
    // A policy that the engine refuses is never a candidate.
    let policy = policy.expect("a policy that was tried");
    let what = format!(
        "{}, fitted to {}, with at most {limit} false alarms",
        plain(name),
        counted(runs.len(), "labelled run"),
    );
    let [_, _, unseen] = &fitted.scores;
    let remark = format!(
        "The policy {what}. On runs that it was not fitted to: F1 {}, false alarms {}.",
        number(unseen.f1),
        percent(unseen.false_alarm_rate),
    );
    let report = scores(&what, &fitted.scores, &fitted.unseen) + &moved(preset.policy, &policy);
    Ok(Tuned { policy, report, remark, exit: exit.max(unread) })
}

/// A fit and its scores.
struct Fitted {
    fit: Fit,
    /// The scores of the original policy, of the fit, and of fits on runs that they were not fitted
    /// to.
    scores: [Score; 3],
    /// Describes the runs that were not fitted to.
    unseen: String,
}

impl Fitted {
    /// Fits the policy to all runs, and to all runs without each fold. The error says why it cannot
    /// be fitted.
    fn of(preset: &'static Preset, limit: Rate, runs: &[Run]) -> Result<Self, String> {
        let mut fitter = Fitter::new(preset.policy, limit, runs);
        enough(&Counts::of(fitter.before.iter().copied()))?;
        let folds = folds(runs.iter().map(|(label, _)| label));
        let progress = Progress::of_fits(folds.len() + 1);
        let fit = fitter.fit_without(&[]);
        progress.fitted();
        let unseen = fitter.unseen(&folds, || progress.fitted());
        progress.end();
        within(&Counts::of(fit.outcomes.iter().copied()), limit)?;
        // The scores are of one policy, so each is named after its variant.
        let scores = [
            Score::of("as it is", &fitter.before),
            Score::of("fitted", &fit.outcomes),
            Score::of("unseen", &unseen),
        ];
        let sources = folds.iter().filter(|fold| fold.source.is_some()).count();
        let unseen = match sources {
            0 => format!("each of {FOLDS} random parts of the runs, by a fit to the others"),
            sources => format!("the runs of each of {sources} sources, by a fit to the others"),
        };
        Ok(Self { fit, scores, unseen })
    }
}

/// Checks that there are runs of both kinds. The error says what is missing.
fn enough(counts: &Counts) -> Result<(), String> {
    let missing = match (counts.stuck(), counts.healthy()) {
        (0, _) => "\"yes\": to fit to healthy runs alone, use --healthy",
        (_, 0) => "\"no\": false alarms cannot be measured without healthy runs",
        _ => return Ok(()),
    };
    Err(format!("no run that could be read has the label \"loop\":{missing}"))
}

/// Checks that the fit stays within the limit.
fn within(counts: &Counts, limit: Rate) -> Result<(), String> {
    let (accused, healthy) = (counts.false_alarms, counts.healthy());
    if accused <= limit.of(healthy) {
        return Ok(());
    }
    Err(format!(
        "the policy cannot be fitted to {limit} false alarms: with up to {REACH} more repetitions \
         in each rule about calls it still accuses {accused} of {healthy} healthy runs; raise \
         --false-alarms, or start with another policy"
    ))
}
