//! Parts of a transcript, for agents whose transcript tells more than their events.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// The number of bytes that are read: enough for the calls of one answer.
const TAIL: u64 = 256 * 1024;

/// The most bytes of new lines that are read at a time, so that no event waits for long.
const NEW: u64 = 4 << 20;

/// Returns the length of the file.
pub(super) fn end(path: &Path) -> io::Result<u64> {
    Ok(path.metadata()?.len())
}

/// Reads the whole lines behind `offset`, or a part of them if they are long. Returns them, and the offset of the
/// next line. A line that is longer than [`NEW`] is passed over.
pub(super) fn lines_from(path: &Path, offset: u64) -> io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(NEW).read_to_end(&mut bytes)?;
    let is_long = bytes.len() as u64 == NEW;
    match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(last) => bytes.truncate(last + 1),
        None if is_long => {}
        None => bytes.clear(),
    }
    let next = offset + bytes.len() as u64;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), next))
}

/// Reads the end of the file. Its first line may be cut off.
pub(super) fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let begin = file.metadata()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns whether the call with this id stands behind another call of the same answer, or `None` if the end of the
/// transcript does not show the call. `read` returns the calls of a line that has `word`, and the id of their answer if
/// the lines before it may belong to the same.
pub(super) fn is_behind_another(
    path: &Path,
    id: &str,
    word: &str,
    read: impl Fn(&str) -> Option<(Option<String>, Vec<String>)>,
) -> Option<bool> {
    let text = tail(path).ok()?;
    let lines = text.lines().rev().filter(|line| line.contains(word)).filter_map(read);
    let mut answers = lines.filter(|(_, calls)| !calls.is_empty());
    let (answer, place) = answers.find_map(|(answer, calls)| {
        let place = calls.iter().position(|call| call == id)?;
        Some((answer, place))
    })?;
    let mut before = || answers.next().is_some_and(|(before, _)| before == answer);
    Some(place > 0 || (answer.is_some() && before()))
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use super::*;
    use crate::agents::Agent;
    use crate::agents::host::Steps;

    #[test]
    fn a_call_belongs_to_the_answer_of_the_one_before() {
        for (name, first, behind) in [("claude-code", "ade", "bcf"), ("qwen", "ac", "b")] {
            let agent = Agent::named(name).expect("an agent");
            let (Steps::Reported(ask) | Steps::Transcribed(ask)) = agent.host().quirks.steps else {
                panic!("{name} has a transcript");
            };
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/agents/payloads");
            let path = folder.join(format!("{name}.transcript.jsonl"));
            for (ids, expected) in [(first, Some(false)), (behind, Some(true)), ("g", None)] {
                for id in ids.split("").filter(|id| !id.is_empty()) {
                    assert_eq!(ask(&path, id), expected, "{name} {id}");
                }
            }
            assert_eq!(ask("/no/such/file".as_ref(), "b"), None);
        }
    }

    #[test]
    fn whole_lines_are_read_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("transcript");
        let mut text = "one\ntwo\nthr".to_owned();
        let read = |text: &str, offset| {
            fs::write(&path, text).expect("a file");
            lines_from(&path, offset).expect("the file")
        };
        assert_eq!(read(&text, 0), ("one\ntwo\n".to_owned(), 8));
        assert_eq!(read(&text, 8), (String::new(), 8));
        text += "ee\n";
        assert_eq!(read(&text, 8), ("three\n".to_owned(), 14));
        assert_eq!(read(&text, 99), (String::new(), 99));
        // A line without an end in sight is passed over.
        let long = "x".repeat(usize::try_from(NEW).expect("a short file")) + "\nend\n";
        assert_eq!(read(&long, 0).1, NEW);
        assert_eq!(read(&long, NEW).0, "\nend\n");
    }

    #[test]
    fn only_the_end_of_a_file_is_read() {
        let path = env::temp_dir().join(format!("unstuck-tail-{}", process::id()));
        for (length, expected) in [(0, 0), (10, 10), (TAIL + 7, TAIL)] {
            let length = usize::try_from(length).expect("a short file");
            fs::write(&path, "a".repeat(length)).expect("a file");
            assert_eq!(tail(&path).expect("the file").len() as u64, expected);
        }
        fs::remove_file(&path).expect("the file");
        assert!(tail(&path).is_err());
    }
}
