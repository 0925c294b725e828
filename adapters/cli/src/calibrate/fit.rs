//! Fits a policy to labelled runs.
//!
//! The fit changes how many repetitions each rule about calls asks for, by at most [`REACH`] up or
//! down; its ladder moves with it. Everything else stays. Adding rules, or changing windows and
//! filters, would overfit a hundred runs.
//!
//! The fit is the policy with the highest F1 among those whose false alarms stay within a limit, as
//! far as coordinate ascent finds it. Each rule in turn takes its best number, until a whole round
//! brings no improvement. A run that several rules accuse becomes quiet only if all of them move.
//! So the ascent starts once from the policy as it is, and once from all rules moved alike, for
//! each distance. Among equally good policies the one nearest to the start wins, so that nothing
//! moves without a reason. Among equally near ones the first one wins, and more patient moves are
//! tried first. If the limit is broken, fewer false alarms beyond it count before F1.

mod candidate;
mod folds;
mod rate;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::thread::{self, ScopedJoinHandle};

use unstuck_core::Policy;
use unstuck_text::{Preset, Recipe};

use crate::calibrate::digested::Digested;
use crate::calibrate::labels::{self, Label, Outcome};
use crate::calibrate::score::Counts;
use crate::exit::Exit;
use crate::read::jobs::one_for_each_core;
use crate::read::reading::read_each;
use candidate::Moves;
pub(crate) use candidate::{Candidate, repetitions};
pub(crate) use folds::{FOLDS, Fold, folds, hash};
pub(crate) use rate::Rate;

/// The distance that a rule may move. The rules of the presets ask for two to eight repetitions; a
/// larger change would make another rule.
pub(crate) const REACH: i16 = 4;

/// A labelled run as digests.
pub(crate) type Run = (Label, Digested);

/// Reads the runs of the `labels`, once for each of the presets. Returns the exit code as well,
/// because some may be unreadable.
pub(crate) fn read(root: &Path, labels: Vec<Label>, presets: &[&Preset]) -> (Vec<Vec<Run>>, Exit) {
    let recipes: Vec<Recipe> = presets.iter().map(|preset| preset.recipe).collect();
    let mut runs: Vec<Vec<Run>> = presets.iter().map(|_| Vec::new()).collect();
    let inputs = labels::inputs(root, labels);
    let (read, exit) =
        read_each(inputs, move |input, _, progress| Digested::by_each(&recipes, input, progress));
    for (label, by_each) in read {
        for (runs, digested) in runs.iter_mut().zip(by_each) {
            runs.push((label.clone(), digested));
        }
    }
    (runs, exit)
}

/// Fits one policy to runs, or to a part of them.
pub(crate) struct Fitter<'r> {
    policy: &'static Policy<'static>,
    limit: Rate,
    runs: &'r [Run],
    /// The outcome of each run under the original policy.
    pub(crate) before: Rc<[Outcome]>,
    /// The outcomes under the policies that were tried, some thousand. `None` if the engine refuses
    /// the policy.
    tried: HashMap<Moves, Option<Rc<[Outcome]>>>,
}

/// The result of a fit.
pub(crate) struct Fit {
    moves: Moves,
    /// The outcome of every run, including the runs that were not fitted to.
    pub(crate) outcomes: Rc<[Outcome]>,
}

impl Fit {
    /// Returns the fitted policy with the name `name`. `policy` is the original one.
    pub(crate) fn policy(&self, policy: &Policy<'static>, name: &str) -> Option<Policy<'static>> {
        Candidate::moved(policy, &self.moves)?.keep(policy, name)
    }
}

/// The quality of a policy on the runs that are fitted to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Worth {
    /// The number of false alarms beyond the limit.
    excess: usize,
    f1: f64,
    /// The sum of the distances that the rules moved.
    distance: u32,
}

impl Worth {
    fn is_above(&self, other: &Self) -> bool {
        let fewer = other.excess.cmp(&self.excess);
        let nearer = other.distance.cmp(&self.distance);
        fewer.then(self.f1.total_cmp(&other.f1)).then(nearer) == Ordering::Greater
    }
}

impl<'r> Fitter<'r> {
    /// Starts with `policy`. At most the share `limit` of the healthy runs may be accused.
    pub(crate) fn new(policy: &'static Policy<'static>, limit: Rate, runs: &'r [Run]) -> Self {
        let before = judged(runs, policy).into();
        Self { policy, limit, runs, before, tried: HashMap::new() }
    }

    /// Fits the policy to all runs except those at the indexes `unseen`.
    pub(crate) fn fit_without(&mut self, unseen: &[usize]) -> Fit {
        let mut is_seen = vec![true; self.runs.len()];
        for &run in unseen {
            is_seen[run] = false;
        }
        let mut best = self.climbed(vec![0; self.policy.rules().len()], &is_seen);
        for by in steps() {
            let from = (0..best.moves.len()).map(|place| self.towards(place, by)).collect();
            let other = self.climbed(from, &is_seen);
            if other.worth.is_above(&best.worth) {
                best = other;
            }
        }
        Fit { moves: best.moves, outcomes: best.outcomes }
    }

    /// Returns the outcomes of the runs of each fold under the fit to the other folds, in the order
    /// of the runs.
    pub(crate) fn unseen(&mut self, folds: &[Fold], mut fitted: impl FnMut()) -> Vec<Outcome> {
        let mut unseen = self.before.to_vec();
        for fold in folds {
            let fit = self.fit_without(&fold.runs);
            for &run in &fold.runs {
                unseen[run] = fit.outcomes[run];
            }
            fitted();
        }
        unseen
    }

    /// Returns the best policy that the ascent from `moves` finds.
    fn climbed(&mut self, moves: Moves, is_seen: &[bool]) -> Best {
        let outcomes = self.try_on(&moves).unwrap_or_else(|| Rc::clone(&self.before));
        let worth = self.worth(&moves, &outcomes, is_seen);
        let mut best = Best { moves, outcomes, worth };
        while self.improve(&mut best, is_seen) {}
        best
    }

    /// Returns the move of the rule at `place` nearest to `by` that the engine accepts.
    fn towards(&mut self, place: usize, by: i16) -> i16 {
        let mut by = by;
        while by != 0 {
            let mut moves = vec![0; self.policy.rules().len()];
            moves[place] = by;
            if self.try_on(&moves).is_some() {
                break;
            }
            by -= by.signum();
        }
        by
    }

    /// Lets each rule in turn take its best number. Returns whether the policy improved.
    fn improve(&mut self, best: &mut Best, is_seen: &[bool]) -> bool {
        let before = best.worth;
        for place in 0..best.moves.len() {
            for by in steps().chain([0]) {
                let mut moves = best.moves.clone();
                moves[place] = by;
                let Some(outcomes) = self.try_on(&moves) else { continue };
                let worth = self.worth(&moves, &outcomes, is_seen);
                if worth.is_above(&best.worth) {
                    *best = Best { moves, outcomes, worth };
                }
            }
        }
        best.worth.is_above(&before)
    }

    /// Returns the outcome of each run under the policy after these moves.
    fn try_on(&mut self, moves: &Moves) -> Option<Rc<[Outcome]>> {
        if let Some(known) = self.tried.get(moves) {
            return known.clone();
        }
        let candidate = Candidate::moved(self.policy, moves);
        let look = |policy: &Policy<'_>| judged(self.runs, policy).into();
        let outcomes: Option<Rc<[Outcome]>> =
            candidate.and_then(|candidate| candidate.try_on(self.policy, look));
        self.tried.insert(moves.clone(), outcomes.clone());
        outcomes
    }

    fn worth(&self, moves: &Moves, outcomes: &[Outcome], is_seen: &[bool]) -> Worth {
        let seen = outcomes.iter().zip(is_seen).filter(|(_, is_seen)| **is_seen);
        let counts = Counts::of(seen.map(|(outcome, _)| *outcome));
        Worth {
            excess: counts.false_alarms.saturating_sub(self.limit.of(counts.healthy())),
            f1: counts.f1().unwrap_or(0.0),
            distance: moves.iter().map(|by| u32::from(by.unsigned_abs())).sum(),
        }
    }
}

/// Returns the moves of a rule, the nearest first, and of two equally near ones the more patient
/// one first.
fn steps() -> impl Iterator<Item = i16> {
    (1..=REACH).flat_map(|by| [by, -by])
}

/// The best policy so far.
struct Best {
    moves: Moves,
    outcomes: Rc<[Outcome]>,
    worth: Worth,
}

/// Returns the outcome of each of the `runs` under `policy`, computed on one thread per core.
fn judged(runs: &[Run], policy: &Policy<'_>) -> Vec<Outcome> {
    let outcome = |(label, run): &Run| label.outcome(run.first(policy), run.count());
    let part = runs.len().div_ceil(one_for_each_core()).max(1);
    thread::scope(|scope| {
        let parts = runs.chunks(part);
        let parts = parts.map(|runs| scope.spawn(move || runs.iter().map(outcome).collect()));
        let parts: Vec<ScopedJoinHandle<'_, Vec<Outcome>>> = parts.collect();
        // No run makes the judging panic. If one does, the program must not skip it silently.
        parts.into_iter().flat_map(|part| part.join().expect("every part is judged")).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_comes_first_then_f1_then_nearness() {
        let worth = |excess, f1, distance| Worth { excess, f1, distance };
        let rising = [
            worth(2, 0.9, 0),
            worth(1, 0.2, 3),
            worth(0, 0.0, 9),
            worth(0, 0.8, 3),
            worth(0, 0.8, 2),
            worth(0, 0.9, 7),
        ];
        for (place, above) in rising.iter().enumerate() {
            for (other, below) in rising.iter().enumerate() {
                assert_eq!(above.is_above(below), place > other, "{above:?} {below:?}");
            }
        }
    }

    #[test]
    fn the_nearest_move_comes_first_and_the_patient_one_of_two() {
        assert_eq!(steps().collect::<Vec<_>>(), [1, -1, 2, -2, 3, -3, 4, -4]);
    }
}
