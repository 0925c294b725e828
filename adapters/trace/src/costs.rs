//! Reads the tokens of answers, and counts each answer once.

use std::collections::VecDeque;

use crate::event::Tokens;
use crate::field::{Raw, member, members, nested};
use crate::pairing::{OPEN_CALLS_MAX, digest};

/// The latest answers with an id, to count an answer once whose record is written several times.
#[derive(Debug, Default)]
pub(crate) struct Answers(VecDeque<(u64, Tokens)>);

impl Answers {
    /// Returns the tokens of an answer that have not been counted yet. If there are too many answers,
    /// the oldest is forgotten.
    pub(crate) fn count(&mut self, id: &str, tokens: Tokens) -> Tokens {
        let id = digest(id);
        // Mostly, the same answer goes on.
        if let Some((_, known)) = self.0.iter_mut().rev().find(|(known, _)| *known == id) {
            let more = tokens.without(*known);
            *known = known.max(tokens);
            return more;
        }
        if self.0.len() == OPEN_CALLS_MAX {
            self.0.pop_front();
        }
        self.0.push_back((id, tokens));
        tokens
    }
}

/// Returns a number of tokens: 0 if the field is absent, and `None` if it is no whole number.
pub(crate) fn count(raw: Raw<'_>) -> Option<u64> {
    raw.map_or(Some(0), |raw| raw.get().parse().ok())
}

impl Tokens {
    /// Returns the tokens of an answer whose input includes what came from a cache.
    pub(crate) const fn with_cached_in_input(input: u64, cached: u64, output: u64) -> Self {
        Self { input: input.saturating_sub(cached), cached, output }
    }

    /// Reads an object with the tokens of an answer under these names: all input, that from a cache, and the output.
    pub(crate) fn of(usage: Raw<'_>, names: [&str; 3]) -> Option<Self> {
        let [input, cached, output] = members(usage, names)?.map(count);
        Some(Self::with_cached_in_input(input?, cached?, output?))
    }

    /// Reads an object whose figures do not overlap: the input without a cache, that to one, that from one, and the
    /// output.
    pub(crate) fn of_parts(usage: Raw<'_>, names: [&str; 4]) -> Option<Self> {
        let [input, written, cached, output] = members(usage, names)?.map(count);
        Some(Self { input: input?.saturating_add(written?), cached: cached?, output: output? })
    }

    /// Reads the `usage` of Anthropic's messages.
    pub(crate) fn of_anthropic(usage: Raw<'_>) -> Option<Self> {
        Self::of_parts(
            usage,
            [
                "input_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
                "output_tokens",
            ],
        )
    }

    /// Reads the `usage` of `OpenAI`'s chats, of `LiteLLM`, of `OpenAI`'s Responses or of Codex. The cached
    /// tokens are part of the input, and the reasoning is part of the output.
    pub(crate) fn of_openai(usage: Raw<'_>) -> Option<Self> {
        let usage = nested(usage)?;
        let details = usage.first(["prompt_tokens_details", "input_tokens_details"]);
        let cached = member(details, "cached_tokens");
        let cached = cached.or(usage.first(["cached_input_tokens", "cache_read_input_tokens"]));
        let input = usage.first(["prompt_tokens", "input_tokens"]);
        let output = usage.first(["completion_tokens", "output_tokens"]);
        Some(Self::with_cached_in_input(count(input)?, count(cached)?, count(output)?))
    }

    /// Reads the `tokens` of Gemini CLI, or the service's `usageMetadata`, which Qwen Code keeps. The cached
    /// tokens are part of the input.
    pub(crate) fn of_gemini(usage: Raw<'_>) -> Option<Self> {
        let usage = nested(usage)?;
        let [input, cached, output, thoughts, tool, total] = [
            ["input", "promptTokenCount"],
            ["cached", "cachedContentTokenCount"],
            ["output", "candidatesTokenCount"],
            ["thoughts", "thoughtsTokenCount"],
            ["tool", "toolUsePromptTokenCount"],
            ["total", "totalTokenCount"],
        ]
        .map(|names| count(usage.first(names)));
        let (output, thoughts) = (output?, thoughts?);
        let input = input?.saturating_add(tool?);
        // Qwen Code takes the figures of OpenAI's services, where thoughts are part of the output.
        let thoughts = if total? == input.saturating_add(output) { 0 } else { thoughts };
        Some(Self::with_cached_in_input(input, cached?, output.saturating_add(thoughts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{raw, rows};

    /// A case a line: whose figures these are, the figures, and the input, cached and output tokens.
    const USAGE: &str = include_str!("../tests/tables/usage.txt");

    #[test]
    fn cached_tokens_are_part_of_the_input_only_at_some_and_broken_figures_are_none() {
        for [whose, json, expected] in rows(USAGE) {
            let found = match &*whose {
                "anthropic" => Tokens::of_anthropic(raw(&json)),
                "openai" => Tokens::of_openai(raw(&json)),
                "gemini" => Tokens::of_gemini(raw(&json)),
                other => panic!("unknown service {other}"),
            };
            let words =
                |found: Tokens| format!("{} {} {}", found.input, found.cached, found.output);
            assert_eq!(found.map_or("-".to_owned(), words), expected, "{whose} {json}");
        }
    }

    const fn tokens(input: u64, cached: u64, output: u64) -> Tokens {
        Tokens { input, cached, output }
    }

    #[test]
    fn an_answer_counts_once_with_its_largest_figures() {
        let mut answers = Answers::default();
        let table = [
            ("a", tokens(10, 5, 1), tokens(10, 5, 1)),
            ("a", tokens(10, 5, 1), tokens(0, 0, 0)),
            ("b", tokens(7, 0, 2), tokens(7, 0, 2)),
            ("a", tokens(9, 6, 40), tokens(0, 1, 39)),
            ("a", tokens(10, 6, 40), tokens(0, 0, 0)),
        ];
        for (id, figures, more) in table {
            assert_eq!(answers.count(id, figures), more, "{id} {figures:?}");
        }
    }

    #[test]
    fn the_oldest_answer_is_forgotten() {
        let mut answers = Answers::default();
        for id in 0..=OPEN_CALLS_MAX {
            answers.count(&id.to_string(), tokens(1, 0, 0));
        }
        assert_eq!(answers.0.len(), OPEN_CALLS_MAX);
        assert_eq!(answers.count("1", tokens(1, 0, 0)), Tokens::default());
        assert_eq!(answers.count("0", tokens(1, 0, 0)), tokens(1, 0, 0));
    }
}
