//! The recipe for digests in a configuration, for reading and for writing.

use toml::de::DeValue;
use unstuck_core::Tool;
use unstuck_text::{Counter, Failures, Likeness, Mask, Masks, Near, OwnTool, Recipe, ResultPart};

use super::fields::{Fields, Node, elements, entries, number, other, text, unknown, word};
use super::words::Word as _;
use super::write::quoted;
use crate::setup::Mistake;

const FIELDS: [&str; 6] = ["likeness", "result", "masks", "counters", "failures", "near"];

/// The recipe that `node` describes; what it does not say is as in [`Recipe::EXACT`].
pub(super) fn read(node: &Node<'_>) -> Result<Recipe, Mistake> {
    let fields = Fields::at(node, "a recipe", &FIELDS)?;
    Ok(Recipe {
        likeness: fields.optional("likeness").map_or(Ok(Likeness::Equal), likeness)?,
        result: fields.optional("result").map_or(Ok(ResultPart::Whole), result)?,
        masks: fields.optional("masks").map_or(Ok(Masks::NONE), masks)?,
        counters: fields.optional("counters").map_or(Ok(&[][..]), counters)?,
        failures: fields.word_or("failures", Failures::Told)?,
        near: fields.word_or("near", Near::Numbers)?,
        tools: &[],
    })
}

/// What kind of tools the `[tools]` table says that single ones are, and what it masks of theirs.
pub(super) fn of_tools(node: &Node<'_>) -> Result<&'static [OwnTool], Mistake> {
    let mut tools = Vec::new();
    for (name, node) in entries(node, "[tools.NAME] tables")? {
        // What is no table, or has other fields, is told by those who read the rest of it.
        let Some(table) = node.get_ref().as_table() else { continue };
        let own = OwnTool {
            tool: Tool::named(name.get_ref()),
            tag: table.get("tag").map(word).transpose()?,
            masks: table.get("masks").map(masks).transpose()?,
        };
        if own.tag.is_some() || own.masks.is_some() {
            tools.push(own);
        }
    }
    Ok(tools.leak())
}

fn likeness(node: &Node<'_>) -> Result<Likeness, Mistake> {
    match node.get_ref() {
        DeValue::String(word) if word == EQUAL => Ok(Likeness::Equal),
        DeValue::String(word) if word == PRIMARY_KEYS => Ok(Likeness::PrimaryKeys),
        DeValue::String(_) => Err(unknown(node, &[EQUAL, PRIMARY_KEYS])),
        DeValue::Table(_) => {
            let words = Fields::at(node, "a likeness", &["words"])?.required("words")?;
            match number::<u8>(words)? {
                percent @ 1..=100 => Ok(Likeness::Words(percent)),
                _ => Err(Mistake::new(words.span(), "expected a percentage from 1 to 100")),
            }
        }
        _ => {
            let what = "\"equal\", \"primary_keys\", or { words = N } for N percent of them";
            Err(other(node, what))
        }
    }
}

const EQUAL: &str = "equal";
const PRIMARY_KEYS: &str = "primary_keys";

fn result(node: &Node<'_>) -> Result<ResultPart, Mistake> {
    match node.get_ref() {
        DeValue::String(part) if part == "whole" => Ok(ResultPart::Whole),
        DeValue::Table(_) => {
            let head = Fields::at(node, "a part of a result", &["head"])?.required("head")?;
            match usize::try_from(number::<u32>(head)?) {
                Ok(characters @ 1..) => Ok(ResultPart::Head(characters)),
                _ => Err(Mistake::new(head.span(), "expected at least one character")),
            }
        }
        _ => Err(other(node, "\"whole\", or { head = N } for its first N characters")),
    }
}

fn masks(node: &Node<'_>) -> Result<Masks, Mistake> {
    elements(node, "masks")?
        .try_fold(Masks::NONE, |masks, node| Ok(masks.with(word::<Mask>(node)?)))
}

fn counters(node: &Node<'_>) -> Result<&'static [Counter<'static>], Mistake> {
    let counters = elements(node, "counters")?.map(|node| {
        let counter = Counter::new(text(node)?.to_owned().leak());
        counter.map_err(|error| Mistake::new(node.span(), error.to_string()))
    });
    Ok(counters.collect::<Result<Vec<_>, Mistake>>()?.leak())
}

/// The `[recipe]` table that describes `recipe`.
pub(super) fn table(recipe: &Recipe) -> String {
    let likeness = match recipe.likeness {
        Likeness::Equal => quoted(EQUAL),
        Likeness::PrimaryKeys => quoted(PRIMARY_KEYS),
        Likeness::Words(percent) => format!("{{ words = {percent} }}"),
    };
    let result = match recipe.result {
        ResultPart::Whole => quoted("whole"),
        ResultPart::Head(characters) => format!("{{ head = {characters} }}"),
    };
    let masks: Vec<String> = recipe.masks.iter().map(|mask| quoted(mask.word())).collect();
    let counters = recipe.counters.iter().map(|counter| quoted(counter.text()));
    let counters: Vec<String> = counters.collect();
    format!(
        "\n[recipe]\nlikeness = {likeness}\nresult = {result}\nmasks = [{}]\ncounters = [{}]\n\
         failures = {}\nnear = {}\n",
        masks.join(", "),
        counters.join(", "),
        quoted(recipe.failures.word()),
        quoted(recipe.near.word())
    )
}
