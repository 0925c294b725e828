//! Feedback: a file that lists loops which were reported wrongly and are to be ignored.

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use unstuck_core::LoopId;
use unstuck_report::mistake::Mistake;
use unstuck_text::Preset;

use crate::exit::Exit;
use crate::setup;

/// The character that begins a comment.
const COMMENT: char = '#';

/// The part of a finding in JSON that names its loop.
#[derive(Deserialize)]
struct Finding {
    r#loop: String,
}

/// Returns the loops that the file `path` lists. Prints an error if the file is wrong.
pub(crate) fn load(path: &Path) -> Result<Vec<LoopId>, Exit> {
    setup::load(path, "loop ids, one a line", loops)
}

/// Returns `preset` with these loops silenced.
///
/// The result is leaked: it is the only policy of the program.
pub(crate) fn silencing(preset: &Preset, loops: Vec<LoopId>) -> &'static Preset {
    let policy = preset.policy.with_silenced(loops.leak());
    Box::leak(Box::new(Preset { policy: Box::leak(Box::new(policy)), recipe: preset.recipe }))
}

/// Returns the loops that `text` lists, sorted, each once.
fn loops(text: &str) -> Result<Vec<LoopId>, Mistake> {
    let mut loops = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        loops.extend(loop_of(line, start)?);
        start += line.len();
    }
    loops.sort_unstable();
    loops.dedup();
    Ok(loops)
}

/// Returns the loop in `line`, which begins at byte `start`, or `None` if the line is blank.
fn loop_of(line: &str, start: usize) -> Result<Option<LoopId>, Mistake> {
    let indent = line.len() - line.trim_start().len();
    let is_json = line.trim_start().starts_with('{');
    let entry = if is_json { line } else { line.split(COMMENT).next().unwrap_or_default() };
    let entry = entry.trim();
    if entry.is_empty() {
        return Ok(None);
    }
    let span = start + indent..start + indent + entry.len();
    let id = if is_json { &named(entry, span.clone())? } else { entry };
    id.parse().map(Some).map_err(|error| Mistake::new(span, format!("not a loop id: {error}")))
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
            assert_eq!(loops(text), Ok(vec![ID.parse().expect("an id")]), "{text}");
        }
        for text in ["", "\n \n", "# nothing", "#"] {
            assert_eq!(loops(text), Ok(Vec::new()), "{text}");
        }
    }

    #[test]
    fn a_wrong_id_is_refused_with_its_place() {
        for (text, place) in [
            ("9f0c", (1, 1)),
            ("# one\n\n  loop 9f0c5e8b2a7d4411", (3, 3)),
            ("9f0c5e8b2a7d4411 7abd7265cf7d09f6", (1, 1)),
            ("9f0c5e8b2a7d4411\n {\"loop\":7}", (2, 2)),
            ("{\"schema\":1,\"findings\":[]}", (1, 1)),
            ("{\"loop\":\"9f0c\"}", (1, 1)),
        ] {
            assert_eq!(loops(text).map_err(|mistake| mistake.place(text)), Err(place), "{text}");
        }
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
