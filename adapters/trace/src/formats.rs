//! The readers of the formats: a module each, and their table.
//!
//! The crate's documentation explains how to [add a format](crate#adding-a-format).

mod acp;
mod aider;
mod anthropic;
mod atif;
mod autogen;
mod browser_use;
mod claude_code;
mod cline;
mod codex;
mod codex_exec;
mod copilot;
mod cursor;
mod gemini;
mod gemini_stream;
mod inspect;
mod langchain;
mod langfuse;
mod langsmith;
mod managed_agents;
mod mini_swe_agent;
mod native;
mod openai;
mod openai_responses;
pub(crate) mod opencode;
mod openhands;
mod otlp;
mod phoenix;
mod pi;
mod prelude;
mod pydantic_ai;
mod smolagents;
mod swe_agent;

use std::io::BufRead;

use self::Read::{Each, Paid, Whole};
use crate::document::Source;
use crate::event::Tokens;
use crate::field::Raw;
use crate::fields::Fields;
use crate::format::Lists::First;
use crate::format::{Format, Layout, Layouts};
use crate::object::Object;
use crate::problem::Done;
use crate::recorder::Recorder;

/// A function that replays the records of an input.
enum Read {
    /// Replays a record, whatever the records before it.
    Each(fn(&Object<'_>, &mut Recorder<'_>) -> Done),
    /// Replays a record like `Each`, and reads the tokens beside the records of a document.
    Paid(fn(&Object<'_>, &mut Recorder<'_>) -> Done, fn(Raw<'_>) -> Option<Tokens>),
    /// Replays all records.
    Whole(fn(Source<'_>, &mut Recorder<'_>)),
}

/// The reader of each format, in the order of [`Format::ALL`].
const READERS: &[(Format, Read)] = &[
    (Format::NATIVE, Whole(native::read)),
    (Format::CLAUDE_CODE, Whole(claude_code::read)),
    (Format::CODEX, Whole(codex::read)),
    (Format::CODEX_EXEC, Whole(codex_exec::read)),
    (Format::OPENAI, Paid(openai::replay, Tokens::of_openai)),
    (Format::OPENAI_RESPONSES, Paid(openai_responses::replay, Tokens::of_openai)),
    (Format::ANTHROPIC, Paid(anthropic::replay, Tokens::of_anthropic)),
    (Format::MANAGED_AGENTS, Each(managed_agents::replay)),
    (Format::GEMINI, Whole(gemini::read)),
    (Format::GEMINI_STREAM, Each(gemini_stream::replay)),
    (Format::QWEN, Whole(gemini::read)),
    (Format::COPILOT, Whole(copilot::read)),
    (Format::CURSOR, Each(cursor::replay)),
    (Format::CLINE, Whole(cline::read)),
    (Format::CLINE_UI, Whole(cline::ui::read)),
    (Format::AIDER, Whole(aider::read)),
    (Format::OPENCODE, Whole(opencode::read)),
    (Format::PI, Whole(pi::read)),
    (Format::SWE_AGENT, Paid(swe_agent::replay, swe_agent::tokens)),
    (Format::MINI_SWE_AGENT, Each(mini_swe_agent::replay)),
    (Format::OPENHANDS, Whole(openhands::read)),
    (Format::ATIF, Each(atif::replay)),
    (Format::BROWSER_USE, Each(browser_use::replay)),
    (Format::SMOLAGENTS, Each(smolagents::replay)),
    (Format::AUTOGEN, Whole(autogen::read)),
    (Format::LANGCHAIN, Whole(langchain::read)),
    (Format::PYDANTIC_AI, Each(pydantic_ai::replay)),
    (Format::INSPECT, Whole(inspect::read)),
    (Format::ACP, Whole(acp::read)),
    (Format::OTLP, Whole(otlp::read)),
    (Format::PHOENIX, Whole(phoenix::read)),
    (Format::LANGFUSE, Whole(langfuse::read)),
    (Format::LANGSMITH, Whole(langsmith::read)),
];

/// Reads an input whose first records are laid out like this, and hands its records to the recorder.
pub(crate) fn read(
    format: Format,
    input: &mut dyn BufRead,
    layout: Layout,
    recorder: &mut Recorder<'_>,
) {
    // Lines may be recognised as a format of documents. They are a document that breaks off.
    let (layout, lists) = match format.0.layouts {
        Layouts::Lines => (Layout::Lines, First(&[])),
        Layouts::Document(lists) => (Layout::Document, lists),
        Layouts::Either(lists) => (layout, lists),
    };
    let source = Source { input, layout, lists };
    let reader = READERS.iter().find(|(of, _)| *of == format);
    match reader.map(|(_, read)| read) {
        Some(Each(each)) => source.replay(recorder, &mut { each }),
        Some(Paid(each, usage)) => source.replay_with_usage(*usage, recorder, &mut { each }),
        Some(Whole(read)) => read(source, recorder),
        // A test excludes it.
        None => {}
    }
}

/// Returns a test of an object that `formats.txt` names.
pub(crate) fn test(name: &str) -> Option<fn(&Fields) -> bool> {
    Some(match name {
        "aider_heading" => aider::is_chat,
        "autogen_type" => autogen::is_message,
        "cline_text" => cline::is_own,
        "item" => openai_responses::is_item,
        "item_text" => openai_responses::has_item_text,
        "mini_swe_message" => mini_swe_agent::is_own,
        "observation" => langfuse::is_observation,
        "phoenix_span" => phoenix::is_span,
        "sdk_events" => openhands::begins_with_sdk,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_reader() {
        assert!(READERS.iter().map(|(format, _)| format).eq(Format::ALL));
    }
}
