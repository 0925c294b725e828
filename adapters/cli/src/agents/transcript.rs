//! Parts of a transcript, for agents whose transcript tells more than their events, and the tokens of a model's answers.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};
use unstuck_core::Digest;
use unstuck_report::cost::Prices;
use unstuck_trace::{Event, Tokens, read};

use super::host::Host;

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

/// The number of answers that are remembered, because several lines may have the tokens of one.
const ANSWERS_MAX: usize = 16;

/// The answer of the model that a line of a transcript belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The answer whose tokens the line has, by a text that no other answer has.
    pub(crate) id: Option<String>,
    /// The model of this answer and of the following ones.
    pub(crate) model: Option<String>,
}

/// The answers that were read, and the place up to which the transcript was read.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Answers {
    /// `None` if nothing was read: what is there already was not spent under the budget.
    offset: Option<u64>,
    model: String,
    /// The latest answers with their largest figures.
    latest: Vec<(Digest, Tokens)>,
}

impl Answers {
    /// Reads what is new in the transcript at `path`. Returns the number of new tokens and their price in dollars. A
    /// model without a price costs nothing.
    pub(crate) fn read_on(&mut self, host: &Host, path: &Path, prices: &Prices) -> (u64, f64) {
        let (Some(answer), Some(transcripts)) = (host.answer, host.transcripts) else {
            return (0, 0.0);
        };
        let Some(offset) = self.offset else {
            // A new session may have no file yet.
            self.offset = Some(end(path).unwrap_or_default());
            return (0, 0.0);
        };
        let Ok((lines, next)) = lines_from(path, offset) else { return (0, 0.0) };
        self.offset = Some(next);
        let (mut tokens, mut dollars) = (0, 0.0);
        for line in lines.lines() {
            let Some(Answer { id, model }) = answer(line) else { continue };
            self.model = model.unwrap_or_else(|| std::mem::take(&mut self.model));
            let Some(id) = id else { continue };
            let more = self.more(&id, |each| {
                // A line that cannot be read has no tokens.
                let _ = read(line.as_bytes(), Some(transcripts.format), each);
            });
            tokens += more.total();
            dollars += prices.of(&self.model).map_or(0.0, |price| price.of(more));
        }
        (tokens, dollars)
    }

    /// Returns the tokens of the answer `id` that have not been counted yet.
    fn more(&mut self, id: &str, read: impl FnOnce(&mut dyn FnMut(Event<'_>))) -> Tokens {
        let mut tokens = Tokens::default();
        read(&mut |event| {
            if let Event::Usage(usage) = event {
                tokens += usage.tokens;
            }
        });
        let id = Digest::of(id.as_bytes());
        let place = self.latest.iter().position(|(known, _)| *known == id);
        let known = place.map_or(Tokens::default(), |place| self.latest.remove(place).1);
        if self.latest.len() >= ANSWERS_MAX {
            self.latest.remove(0);
        }
        self.latest.push((id, known.max(tokens)));
        tokens.without(known)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::agents::Agent;
    use crate::agents::host::Steps;

    #[test]
    fn a_call_belongs_to_the_answer_of_the_one_before() {
        for (name, first, behind) in [("claude-code", "ade", "bcf"), ("qwen", "ac", "b")] {
            let agent = Agent::named(name).expect("an agent");
            let (Steps::Reported(ask) | Steps::Transcribed(ask)) = agent.host().steps else {
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
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("transcript");
        for (length, expected) in [(0, 0), (10, 10), (TAIL + 7, TAIL)] {
            let length = usize::try_from(length).expect("a short file");
            fs::write(&path, "a".repeat(length)).expect("a file");
            assert_eq!(tail(&path).expect("the file").len() as u64, expected);
        }
        fs::remove_file(&path).expect("the file");
        assert!(tail(&path).is_err());
    }

    /// Returns the tokens and the millionths of a dollar that each part of a transcript adds.
    fn spent(agent: &str, parts: &[&str]) -> Vec<(u64, u64)> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("transcript.jsonl");
        let price = |text: &str| text.parse().expect("a price");
        let prices = [("", "input=1,output=1"), ("dear-", "input=2,cached=1,output=3")];
        let prices = prices.map(|(model, text)| (model.to_owned(), price(text)));
        let prices: Prices = prices.into_iter().collect();
        let host = Agent::named(agent).expect("an agent").host();
        let (mut answers, mut text) = (Answers::default(), String::new());
        let mut take = |part: &&str| {
            text += part;
            fs::write(&path, &text).expect("a file");
            // Each event is a process of its own.
            let bytes = postcard::to_stdvec(&answers).expect("answers");
            answers = postcard::from_bytes(&bytes).expect("answers");
            let (tokens, dollars) = answers.read_on(host, &path, &prices);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few")]
            let millionths = (dollars * 1e6).round() as u64;
            (tokens, millionths)
        };
        parts.iter().map(&mut take).collect()
    }

    fn claude(id: &str, model: &str, [input, cached, output]: [u64; 3]) -> String {
        format!(
            r#"{{"type":"assistant","uuid":"u","message":{{"id":"{id}","model":"{model}","content":[],"usage":{{"input_tokens":{input},"cache_creation_input_tokens":0,"cache_read_input_tokens":{cached},"output_tokens":{output}}}}}}}"#
        ) + "\n"
    }

    #[test]
    fn an_answer_of_claude_code_is_counted_once_with_its_largest_figures() {
        let first = claude("m1", "dear-1", [100, 1000, 1]);
        let grown = claude("m1", "dear-1", [100, 1000, 50]);
        let other = claude("m2", "cheap-1", [10, 0, 5]);
        let (half, rest) = other.split_at(40);
        let user = "{\"type\":\"user\",\"uuid\":\"u\",\"message\":{\"content\":\"usage\"}}\n";
        let synthetic = claude("m3", "<synthetic>", [7, 7, 7]);
        let parts = ["", &first, &grown, half, rest, user, &grown, &synthetic];
        let expected = [(0, 0), (1101, 1203), (49, 147), (0, 0), (15, 15), (0, 0), (0, 0), (0, 0)];
        assert_eq!(spent("claude-code", &parts), expected);
        // Tokens from before the budget began are not counted.
        assert_eq!(spent("claude-code", &[&first, &grown])[0], (0, 0));
    }

    #[test]
    fn an_answer_of_codex_is_counted_if_the_total_has_changed() {
        let count = |total: u64, last: u64| {
            let usage = |tokens| {
                format!(r#"{{"input_tokens":{tokens},"cached_input_tokens":0,"output_tokens":10}}"#)
            };
            format!(
                r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{},"last_token_usage":{}}}}}}}"#,
                usage(total),
                usage(last)
            ) + "\n"
        };
        let turn = "{\"type\":\"turn_context\",\"payload\":{\"model\":\"dear-2\"}}\n";
        let parts = ["", turn, &count(100, 100), &count(100, 100), &count(300, 200)];
        let expected = [(0, 0), (0, 0), (110, 230), (0, 0), (210, 430)];
        assert_eq!(spent("codex", &parts), expected);
    }

    #[test]
    fn a_transcript_that_is_not_read_costs_nothing() {
        assert_eq!(spent("goose", &["", &claude("m1", "dear-1", [1, 1, 1])]), [(0, 0), (0, 0)]);
    }
}
