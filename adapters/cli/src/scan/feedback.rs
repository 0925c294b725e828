//! Feedback: a file that lists loops which were reported wrongly and are to be ignored.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use unstuck_core::LoopId;
use unstuck_report::mistake::Mistake;
use unstuck_report::parts::NAMED_MAX;
use unstuck_report::replay::LoopPrefix;
use unstuck_text::Preset;

use crate::exit::Exit;
use crate::setup;

/// The character that begins a comment.
const COMMENT: char = '#';

/// The fewest digits of an id. The file is used again with other runs, and fewer digits would soon
/// mean another loop.
const DIGITS_MIN: usize = 4;

/// The part of a finding in JSON that names its loop.
#[derive(Deserialize)]
struct Finding {
    r#loop: String,
}

/// A loop that the file lists, and its place there.
#[derive(Debug, PartialEq, Eq)]
struct Listed {
    prefix: LoopPrefix,
    digits: String,
    span: Range<usize>,
}

/// The loops of a feedback file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Feedback {
    /// Sorted, each once.
    pub(crate) loops: Vec<LoopId>,
    /// The first digits with which no loop begins.
    pub(crate) unknown: Vec<String>,
}

/// Returns the loops that the file `path` lists. Prints an error if the file is wrong.
///
/// `found` returns the loops that first digits can mean, or the reason why it cannot. It is called only
/// if an id is not whole.
pub(crate) fn load(
    path: &Path,
    found: impl FnOnce() -> Result<BTreeSet<LoopId>, String>,
) -> Result<Feedback, Exit> {
    setup::load(path, "loop ids, one a line", |text| feedback(&listed(text)?, found))
}

/// Returns `preset` with these loops silenced.
///
/// The result is leaked: it is the only policy of the program.
pub(crate) fn silencing(preset: &Preset, loops: Vec<LoopId>) -> &'static Preset {
    let policy = preset.policy.with_silenced(loops.leak());
    Box::leak(Box::new(Preset { policy: Box::leak(Box::new(policy)), recipe: preset.recipe }))
}

/// Returns the loops that are meant by `listed`.
fn feedback(
    listed: &[Listed],
    found: impl FnOnce() -> Result<BTreeSet<LoopId>, String>,
) -> Result<Feedback, Mistake> {
    let short = listed.iter().find(|one| one.prefix.whole().is_none());
    let found = match short {
        Some(short) => found().map_err(|why| Mistake::new(short.span.clone(), why))?,
        None => BTreeSet::new(),
    };
    let mut feedback = Feedback::default();
    for one in listed {
        match one.meant(&found)? {
            Some(id) => feedback.loops.push(id),
            None => feedback.unknown.push(one.digits.clone()),
        }
    }
    feedback.loops.sort_unstable();
    feedback.loops.dedup();
    Ok(feedback)
}

impl Listed {
    /// Returns the loop that the digits identify among `found`, or `None` if none begins with them.
    fn meant(&self, found: &BTreeSet<LoopId>) -> Result<Option<LoopId>, Mistake> {
        let whole = self.prefix.whole();
        if whole.is_some() {
            return Ok(whole);
        }
        let meant: Vec<LoopId> = found.range(self.prefix.ids()).copied().collect();
        if meant.len() <= 1 {
            return Ok(meant.first().copied());
        }
        let mut ids: Vec<String> = meant.iter().take(NAMED_MAX).map(LoopId::to_string).collect();
        if meant.len() > NAMED_MAX {
            ids.push(format!("and {} more", meant.len() - NAMED_MAX));
        }
        let what =
            format!("several loops begin with these digits; give more of one: {}", ids.join(", "));
        Err(Mistake::new(self.span.clone(), what))
    }
}

/// Returns what `text` lists, in its order.
fn listed(text: &str) -> Result<Vec<Listed>, Mistake> {
    let mut all = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        all.extend(listed_in(line, start)?);
        start += line.len();
    }
    Ok(all)
}

/// Returns the loop in `line`, which begins at byte `start`, or `None` if the line is blank.
fn listed_in(line: &str, start: usize) -> Result<Option<Listed>, Mistake> {
    let indent = line.len() - line.trim_start().len();
    let is_json = line.trim_start().starts_with('{');
    let entry = if is_json { line } else { line.split(COMMENT).next().unwrap_or_default() };
    let entry = entry.trim();
    if entry.is_empty() {
        return Ok(None);
    }
    let span = start + indent..start + indent + entry.len();
    let digits = if is_json { named(entry, span.clone())? } else { entry.to_owned() };
    match digits.parse::<LoopPrefix>() {
        Ok(_) if digits.len() < DIGITS_MIN => {
            let what = format!(
                "too few digits: give {DIGITS_MIN} or more, because fewer would also mean loops \
                 of other runs"
            );
            Err(Mistake::new(span, what))
        }
        Ok(prefix) => Ok(Some(Listed { prefix, digits, span })),
        Err(error) => Err(Mistake::new(span, error)),
    }
}

/// Returns the loop id in `finding`, a line of JSON.
fn named(finding: &str, span: Range<usize>) -> Result<String, Mistake> {
    let finding: Result<Finding, _> = serde_json::from_str(finding);
    finding.map(|finding| finding.r#loop).map_err(|_| {
        let what = "expected a loop id, or one of the `findings` that scan --format jsonl prints: \
                    an object with a `loop`";
        Mistake::new(span, what)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "9f0c5e8b2a7d4411";

    /// Returns the loops of `text`, which lists whole ids only.
    fn loops(text: &str) -> Result<Vec<LoopId>, Mistake> {
        let found = || Err("nothing was to be looked for".to_owned());
        feedback(&listed(text)?, found).map(|feedback| feedback.loops)
    }

    fn id(text: &str) -> LoopId {
        text.parse().expect("an id")
    }

    #[test]
    fn ids_are_read_in_every_accepted_spelling() {
        let finding =
            format!("{{\"rule\":\"a\",\"loop\":\"{ID}\",\"message\":\"# is no remark\"}}");
        for text in [
            ID,
            "9F0C5E8B2A7D4411",
            "9f0c5e8b2a7d4411 # a build that has to fail",
            "# a remark\r\n\r\n\t9f0c5e8b2a7d4411\r\n",
            "9f0c5e8b2a7d4411\n9f0c5e8b2a7d4411",
            &finding,
            &format!(" {finding}\n{ID}"),
        ] {
            assert_eq!(loops(text), Ok(vec![id(ID)]), "{text}");
        }
        for text in ["", "\n \n", "# nothing", "#"] {
            assert_eq!(loops(text), Ok(Vec::new()), "{text}");
        }
    }

    #[test]
    fn a_wrong_id_is_refused_with_its_place() {
        for (text, place) in [
            ("9f0", (1, 1)),
            ("9f0g", (1, 1)),
            ("9f0c5e8b2a7d44111", (1, 1)),
            ("# one\n\n  loop 9f0c5e8b2a7d4411", (3, 3)),
            ("9f0c5e8b2a7d4411 7abd7265cf7d09f6", (1, 1)),
            ("9f0c5e8b2a7d4411\n {\"loop\":7}", (2, 2)),
            ("{\"schema\":1,\"findings\":[]}", (1, 1)),
            ("{\"loop\":\"9f0\"}", (1, 1)),
        ] {
            assert_eq!(loops(text).map_err(|mistake| mistake.place(text)), Err(place), "{text}");
        }
    }

    #[test]
    fn first_digits_mean_the_only_loop_that_begins_with_them() {
        let all = [ID, "9f0c5e8b2a7d4412", "9f0d000000000000"].map(id);
        let read = |text: &str| feedback(&listed(text)?, || Ok(BTreeSet::from(all)));
        let meant = |loops: &[LoopId], unknown: &[&str]| {
            let unknown = unknown.iter().map(|&digits| digits.to_owned()).collect();
            Ok(Feedback { loops: loops.to_vec(), unknown })
        };
        assert_eq!(read("9F0D"), meant(&all[2..], &[]));
        assert_eq!(read("9f0d # one\n 9f0d00 \n"), meant(&all[2..], &[]));
        assert_eq!(read("{\"loop\":\"9f0d0\"}"), meant(&all[2..], &[]));
        assert_eq!(read(ID), meant(&all[..1], &[]));
        assert_eq!(read("7abd\n9f0d"), meant(&all[2..], &["7abd"]));
        let text = "9f0d\n  9f0c5 # either\n";
        let mistake = read(text).expect_err("two loops");
        assert_eq!(mistake.place(text), (2, 3));
        for id in &all[..2] {
            assert!(mistake.what().contains(&id.to_string()), "{}", mistake.what());
        }
    }

    #[test]
    fn a_long_list_of_loops_that_begin_alike_is_cut() {
        let all = (0..NAMED_MAX as u64 + 3).map(LoopId::from_bits).collect();
        let mistake = feedback(&listed("0000").expect("digits"), || Ok(all));
        let mistake = mistake.expect_err("many loops");
        assert!(mistake.what().ends_with("0000000000000013, and 3 more"), "{}", mistake.what());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_with_a_place(text in "(?s)([0-9a-f]{16}[ #\n{]?|.){0,9}") {
            if let Err(mistake) = loops(&text) {
                let (line, column) = mistake.place(&text);
                prop_assert!(line <= text.lines().count() && column >= 1, "{mistake:?}");
            }
        }

        #[test]
        fn every_id_survives_a_round_trip(ids in proptest::collection::btree_set(any::<u64>(), 0..20)) {
            let ids: Vec<LoopId> = ids.into_iter().map(LoopId::from_bits).collect();
            let lines: Vec<String> = ids.iter().map(ToString::to_string).collect();
            prop_assert_eq!(loops(&lines.join("\n")), Ok(ids));
        }
    }
}
