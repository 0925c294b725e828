//! Reads and writes the recipe for digests in a configuration.

use toml::de::{DeTable, DeValue};
use unstuck_core::{Tag, Tool};
use unstuck_text::{
    Counter, Effect, Failures, Likeness, Mask, Masks, Near, Recipe, ResultPart, ToolDeclaration,
};

use super::fields::{Fields, Node, elements, entries, number, other, text, unknown, word};
use super::words::quoted;
use crate::mistake::Mistake;

const FIELDS: [&str; 6] = ["likeness", "result", "masks", "counters", "failures", "near"];

/// Returns the recipe that `node` describes. Missing fields are as in [`Recipe::EXACT`].
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

/// The declarations in the `[tools]` table.
pub(super) fn of_tools(node: &Node<'_>) -> Result<&'static [ToolDeclaration<'static>], Mistake> {
    let mut tools = Vec::new();
    for (name, node) in entries(node, "[tools.NAME] tables")? {
        // Reading the policy reports a value that is not a table and unknown fields.
        let Some(table) = node.get_ref().as_table() else { continue };
        let blank = ToolDeclaration::new(Tool::named(name.get_ref()));
        let own = ToolDeclaration {
            effect: table.get("effect").map(word).transpose()?,
            tag: table.get("tag").map(word).transpose()?,
            masks: table.get("masks").map(masks).transpose()?,
            key: table.get("key").map(key).transpose()?,
            ..blank
        };
        agrees(&own, table)?;
        if own != blank {
            tools.push(own);
        }
    }
    Ok(tools.leak())
}

/// Checks that a tool is not declared as two things at once.
///
/// Effects exclude each other, so they are the words of one field. The older fields overlap with
/// them.
fn agrees(own: &ToolDeclaration<'_>, table: &DeTable<'_>) -> Result<(), Mistake> {
    let polls = table.get("poll").filter(|poll| poll.get_ref().as_bool() == Some(true));
    let refused = |node: &Node<'_>, what: String| Err(Mistake::new(node.span(), what));
    if let (Some(tag), Some(node)) = (own.tag, table.get("tag")) {
        if let Some(effect) = own.effect.filter(|effect| !effect.allows(tag)) {
            let known: Vec<_> = Tag::ALL.into_iter().filter(|tag| effect.allows(*tag)).collect();
            let known: Vec<_> = known.iter().map(|tag| quoted(tag.name())).collect();
            let what = format!(
                "the tag \"{tag}\" contradicts the effect \"{effect}\": leave the tag out, or use {}",
                known.join(", ")
            );
            return refused(node, what);
        }
        if polls.is_some() && tag != Tag::Poll {
            let what = format!(
                "the tag \"{tag}\" contradicts `poll = true`, which stands for the tag \"poll\": \
                 leave one of the two out"
            );
            return refused(node, what);
        }
    }
    match (own.effect, polls) {
        (Some(effect), Some(poll)) if effect != Effect::Waits => {
            let what = format!(
                "`poll = true` contradicts the effect \"{effect}\": leave `poll` out, or use the \
                 effect \"waits\", which means the same"
            );
            refused(poll, what)
        }
        _ => Ok(()),
    }
}

/// The word for all arguments, used if a server declares a key.
const ALL: &str = "all";

/// Reads the names of the arguments that identify a call.
fn key(node: &Node<'_>) -> Result<&'static [&'static str], Mistake> {
    match node.get_ref() {
        DeValue::String(word) if word == ALL => return Ok(&[]),
        DeValue::Array(_) => {}
        _ => {
            return Err(other(
                node,
                "a list of the names of arguments, as in [\"path\"], or \"all\"",
            ));
        }
    }
    let mut names: Vec<&'static str> = Vec::new();
    for name in elements(node, "names of arguments")? {
        names.push(text(name)?.to_owned().leak());
    }
    if names.is_empty() {
        let what = "without a name, all calls of the tool would be equal: name the arguments that \
                    identify a call, or use \"all\"; to ignore the tool, use `exempt = true`";
        return Err(Mistake::new(node.span(), what));
    }
    Ok(names.leak())
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

/// Returns the `[recipe]` table for `recipe`.
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
    let masks: Vec<String> = recipe.masks.iter().map(|mask| quoted(mask.name())).collect();
    let counters = recipe.counters.iter().map(|counter| quoted(counter.text()));
    let counters: Vec<String> = counters.collect();
    format!(
        "\n[recipe]\nlikeness = {likeness}\nresult = {result}\nmasks = [{}]\ncounters = [{}]\n\
         failures = {}\nnear = {}\n",
        masks.join(", "),
        counters.join(", "),
        quoted(recipe.failures.name()),
        quoted(recipe.near.name())
    )
}
