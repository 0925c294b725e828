//! The tokens of a model's answers, read from a transcript that grows.

use std::path::Path;

use serde::{Deserialize, Serialize};
use unstuck_core::Digest;
use unstuck_report::cost::Prices;
use unstuck_trace::{Event, Tokens, read};

use super::host::Host;
use super::transcript::{end, lines_from};

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
        let (Some(answer), Some(transcripts)) = (host.quirks.answer, host.transcripts) else {
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
