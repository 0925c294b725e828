//! Folds: parts of the labelled runs, each judged by a fit to the other parts.

use std::collections::BTreeMap;

use unstuck_json::{Hash64 as _, Rapid};

use crate::calibrate::labels::Label;

/// The number of folds if all runs come from one source. Each fit then uses four fifths of the
/// runs.
pub(crate) const FOLDS: usize = 5;

/// Runs that are left out together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    /// The source of the runs, or `None` if the runs of one source were split.
    pub(crate) source: Option<String>,
    /// The indexes of the runs.
    pub(crate) runs: Vec<usize>,
}

/// Returns the folds: the runs of each source, by name. Runs of a single source are split by a hash
/// of their file names, which is the same on every machine.
pub(crate) fn folds<'l>(labels: impl Iterator<Item = &'l Label> + Clone) -> Vec<Fold> {
    let mut sources: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, label) in labels.clone().enumerate() {
        sources.entry(label.source()).or_default().push(place);
    }
    if sources.len() > 1 {
        let fold = |(source, runs): (&str, _)| Fold { source: Some(source.to_owned()), runs };
        return sources.into_iter().map(fold).collect();
    }
    let mut parts: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, label) in labels.enumerate() {
        parts.entry(hash(&label.file.to_string_lossy()) % FOLDS as u64).or_default().push(place);
    }
    parts.into_values().map(|runs| Fold { source: None, runs }).collect()
}

/// Returns the hash that splits runs. The seed is fixed, so that the same runs are always split
/// alike.
pub(crate) fn hash(name: &str) -> u64 {
    Rapid::new(0).hash(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn labels(files: impl IntoIterator<Item = String>) -> Vec<Label> {
        let label =
            |file| serde_json::from_str(&format!("{{\"file\":\"{file}\",\"loop\":\"no\"}}"));
        files.into_iter().map(|file| label(file).expect("a label")).collect()
    }

    #[test]
    fn folds_are_the_sources() {
        let labels = labels(["b/1", "a/1", "b/2", "c"].map(str::to_owned));
        let fold = |source: &str, runs: &[usize]| Fold {
            source: Some(source.to_owned()),
            runs: runs.to_vec(),
        };
        assert_eq!(folds(labels.iter()), [fold(".", &[3]), fold("a", &[1]), fold("b", &[0, 2])]);
        assert_eq!(folds([].iter()), []);
    }

    #[test]
    fn runs_of_one_source_are_split_by_a_fixed_hash() {
        let labels = labels((0..200).map(|n| format!("a/{n}.jsonl")));
        let folds = folds(labels.iter());
        assert_eq!(folds.len(), FOLDS);
        assert!(
            folds.iter().all(|fold| fold.source.is_none() && (20..60).contains(&fold.runs.len()))
        );
        let runs: BTreeSet<usize> = folds.iter().flat_map(|fold| fold.runs.clone()).collect();
        assert!(runs.into_iter().eq(0..200));
        assert_eq!(hash("a/0.jsonl"), HASH, "the same on every machine");
    }

    const HASH: u64 = 10_358_128_424_165_992_904;
}
