//! Reads the tables of a configuration: the recipe, tools, allowed calls, phases, messages, budgets and prices.

use std::num::{NonZeroU32, TryFromIntError};

use serde_json::{Map, Number, Value};
use toml::de::{DeTable, DeValue};
use unstuck::{AtLimit, Budget, Limits};
use unstuck_core::{Call, Digest, Phase, Policy, PolicyError, Tag, Tool, ToolRule};
use unstuck_text::{
    Counter, Effect, Failures, Likeness, Mask, Masks, Near, Recipe, ResultPart, ToolDeclaration,
};

use super::fields::{
    self, Fields, Node, elements, entries, flag, number, other, quoted, text, unknown, word,
};
use crate::cost::Prices;
use crate::mistake::Mistake;

/// Returns the policy with the rules of the `[tools]` table.
pub(super) fn with_tools(
    policy: Policy<'static>,
    node: &Node<'_>,
) -> Result<Policy<'static>, Mistake> {
    let tools = entries(node, "[tools.NAME] tables")?;
    let rules = tools.map(|(name, node)| rule(name.get_ref(), node));
    let rules = rules.collect::<Result<Vec<ToolRule>, Mistake>>()?;
    policy.with_tools(rules.leak()).map_err(|error| refused(node, error))
}

/// The fields of a `[tools.NAME]` table. [`of_tools`] reads those that belong to the
/// recipe.
const TOOL: [&str; 7] = ["effect", "key", "exempt", "poll", "patience", "tag", "masks"];

fn rule(name: &str, node: &Node<'_>) -> Result<ToolRule, Mistake> {
    let fields = Fields::at(node, "a tool", &TOOL)?;
    let mut rule = ToolRule::new(Tool::named(name));
    rule.exempt = fields.optional("exempt").map_or(Ok(false), flag)?;
    rule.poll = fields.optional("poll").map_or(Ok(false), flag)?;
    rule.patience = fields.optional("patience").map_or(Ok(0), number)?;
    Ok(rule)
}

/// Returns the policy with the calls of the `[[allow]]` tables, which may repeat.
pub(super) fn with_allowed(
    policy: Policy<'static>,
    recipe: &Recipe,
    node: &Node<'_>,
) -> Result<Policy<'static>, Mistake> {
    let calls = elements(node, "[[allow]] tables")?.map(|node| call(recipe, node));
    let calls = calls.collect::<Result<Vec<Call>, Mistake>>()?;
    policy.with_allowed(calls.leak()).map_err(|error| refused(node, error))
}

fn call(recipe: &Recipe, node: &Node<'_>) -> Result<Call, Mistake> {
    let fields = Fields::at(node, "an allowed call", &["tool", "args"])?;
    let (tool, args) = (text(fields.required("tool")?)?, fields.required("args")?);
    match args.get_ref() {
        DeValue::Table(_) => Ok(recipe.call(tool, &json(args)?.to_string())),
        DeValue::String(args) => Ok(recipe.call(tool, args)),
        _ => Err(other(args, "a table, or a string with the arguments as the agent writes them")),
    }
}

/// Returns the policy with the phases of the `[adaptive]` table.
pub(super) fn with_phases(
    policy: Policy<'static>,
    node: &Node<'_>,
) -> Result<Policy<'static>, Mistake> {
    let fields = Fields::at(node, "an adaptive policy", &["early", "late"])?;
    let (early, late) = policy.phases();
    let early = fields.optional("early").map_or(Ok(early), phase)?;
    let late = fields.optional("late").map_or(Ok(late), phase)?;
    let at = fields.optional("late").unwrap_or(node);
    policy.with_phases(early, late).map_err(|error| refused(at, error))
}

fn phase(node: &Node<'_>) -> Result<Phase, Mistake> {
    let fields = Fields::at(node, "a phase of a run", &["calls", "patience"])?;
    Ok(Phase::new(number(fields.required("calls")?)?, number(fields.required("patience")?)?))
}

/// Returns the engine's error as a mistake at `node`.
fn refused(node: &Node<'_>, error: PolicyError) -> Mistake {
    Mistake::new(node.span(), error.to_string())
}

/// Returns a TOML value as JSON. The parser bounds its depth.
fn json(node: &Node<'_>) -> Result<Value, Mistake> {
    Ok(match node.get_ref() {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(_) => Value::from(number::<i64>(node)?),
        DeValue::Float(float) => {
            let finite = float.as_str().parse().ok().and_then(Number::from_f64);
            let what = "expected a finite number: JSON has no inf and nan";
            Value::Number(finite.ok_or_else(|| Mistake::new(node.span(), what))?)
        }
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(_) => return Err(other(node, "a value that JSON can express")),
        DeValue::Array(list) => Value::Array(list.iter().map(json).collect::<Result<_, _>>()?),
        DeValue::Table(table) => {
            let members = table.iter();
            let members =
                members.map(|(name, value)| Ok((name.get_ref().to_string(), json(value)?)));
            Value::Object(members.collect::<Result<Map<_, _>, Mistake>>()?)
        }
    })
}

/// The fields of `[budget.turn]`, `[budget.session]` and `[budget.day]`.
const LIMITS: [&str; 4] = ["calls", "tokens", "dollars", "minutes"];

/// The fields of `[budget]`. The limits are those of the session, for short.
const BUDGET: [&str; 8] =
    ["calls", "tokens", "dollars", "minutes", "turn", "session", "day", "at_limit"];

/// Reads the `[budget]` table.
pub(super) fn budget(node: &Node<'_>) -> Result<Budget, Mistake> {
    let fields = Fields::at(node, "a budget", &BUDGET)?;
    let scope = |name| match fields.optional(name) {
        Some(node) => limits(&Fields::at(node, "a scope of a budget", &LIMITS)?),
        None => Ok(Limits::default()),
    };
    let (turn, session, day) = (scope("turn")?, scope("session")?, scope("day")?);
    let short = limits(&fields)?;
    let session = match fields.optional("session") {
        _ if short == Limits::default() => session,
        None => short,
        Some(node) => {
            let what = "the limits of [budget] itself are those of the session: write them once";
            return Err(Mistake::new(node.span(), what));
        }
    };
    let at_limit = fields.word_or("at_limit", AtLimit::Note)?;
    let budget = Budget { turn, session, day, at_limit };
    if budget.is_empty() {
        let what = format!("a budget needs a limit: {}", LIMITS.join(", "));
        return Err(Mistake::new(node.span(), what));
    }
    Ok(budget)
}

fn limits(fields: &Fields<'_>) -> Result<Limits, Mistake> {
    let whole = |name| {
        let limit = fields.optional(name).map(number::<Limit>).transpose()?;
        Ok(limit.map(|Limit(limit)| limit.into()))
    };
    Ok(Limits {
        calls: whole("calls")?,
        tokens: whole("tokens")?,
        dollars: fields.optional("dollars").map(dollars).transpose()?,
        minutes: whole("minutes")?,
    })
}

/// A limit in whole numbers.
struct Limit(u32);

impl TryFrom<i64> for Limit {
    type Error = TryFromIntError;

    fn try_from(number: i64) -> Result<Self, Self::Error> {
        Ok(Self(NonZeroU32::try_from(u32::try_from(number)?)?.get()))
    }
}

impl fields::Range for Limit {
    const LEAST: i64 = 1;
    const MOST: i64 = u32::MAX as i64;
}

fn dollars(node: &Node<'_>) -> Result<f64, Mistake> {
    const EXPECTED: &str = "an amount of dollars above 0, as in 2.50";
    let amount: f64 = match node.get_ref() {
        DeValue::Integer(_) => number::<u32>(node)?.into(),
        DeValue::Float(float) => float.as_str().replace('_', "").parse().unwrap_or(f64::NAN),
        _ => return Err(other(node, EXPECTED)),
    };
    let is_limit = amount.is_finite() && amount > 0.0;
    let what = || Mistake::new(node.span(), format!("expected {EXPECTED}"));
    is_limit.then_some(amount).ok_or_else(what)
}

/// Reads the `[prices]` table: the price of each model, by the beginning of its name.
pub(super) fn prices(node: &Node<'_>) -> Result<Prices, Mistake> {
    let prices = entries(node, "prices by the beginnings of models' names")?;
    let price = |(model, node): (&fields::Key<'_>, &Node<'_>)| {
        let price = text(node)?.parse();
        let price = price.map_err(|why: String| Mistake::new(node.span(), why))?;
        Ok((model.get_ref().to_string(), price))
    };
    prices.map(price).collect()
}

/// What the agent of one session is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Messages that name the tool of the repeated call.
    Named,
    /// Messages that do not name it.
    Unnamed,
    /// Nothing: findings are only recorded.
    Observe,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::Named, Self::Unnamed, Self::Observe];

    /// Returns the word for the variant.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Unnamed => "unnamed",
            Self::Observe => "observe",
        }
    }

    /// Returns the variant for the session with this id: always the same one, and each equally often. A session without
    /// any choice has [`Variant::Named`].
    pub fn of_session(variants: &[Self], session: &str) -> Self {
        let count = u64::try_from(variants.len()).unwrap_or(u64::MAX);
        let place = Digest::of(session.as_bytes()).bits().checked_rem(count);
        let place = place.and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| variants.get(place)).copied().unwrap_or(Self::Named)
    }
}

/// Reads the table. A word that stands twice gets twice as many sessions.
pub(super) fn variants(node: &Node<'_>) -> Result<Vec<Variant>, Mistake> {
    let fields = Fields::at(node, "the table of messages", &["variants"])?;
    let list = fields.required("variants")?;
    let variants: Vec<_> = elements(list, "variants")?.map(word).collect::<Result<_, _>>()?;
    if variants.is_empty() {
        return Err(Mistake::new(list.span(), "expected at least one variant"));
    }
    Ok(variants)
}

const FIELDS: [&str; 6] = ["likeness", "result", "masks", "counters", "failures", "near"];

/// Returns the recipe that `node` describes. Missing fields are as in [`Recipe::EXACT`].
pub(super) fn recipe(node: &Node<'_>) -> Result<Recipe, Mistake> {
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

pub(super) const EQUAL: &str = "equal";
pub(super) const PRIMARY_KEYS: &str = "primary_keys";

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::check;
    use crate::config::config_of;

    #[test]
    fn sessions_are_spread_over_the_variants() {
        let ids: [fn(u32) -> String; 3] = [
            |n| format!("5f1c7a90-0000-4000-8000-{n:012x}"),
            |n| format!("{:016x}", u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            |n| n.to_string(),
        ];
        for (id, count) in ids.into_iter().flat_map(|id| (1..=3).map(move |count| (id, count))) {
            let variants = &Variant::ALL[..count];
            let mut sessions = [0_usize; 3];
            for n in 0..3000 {
                let variant = Variant::of_session(variants, &id(n));
                assert_eq!(variant, Variant::of_session(variants, &id(n)));
                sessions[Variant::ALL.iter().position(|one| *one == variant).expect("one")] += 1;
            }
            // Five standard deviations of a fair draw.
            let fair = 3000 / count;
            let is_fair = |sessions: &usize| sessions.abs_diff(fair) <= 137;
            assert!(sessions[..count].iter().all(is_fair), "{}: {sessions:?}", id(7));
            assert!(sessions[count..].iter().all(|sessions| *sessions == 0), "{sessions:?}");
        }
        assert_eq!(Variant::of_session(&[], "s"), Variant::Named);
    }

    #[test]
    fn the_table_is_read_or_its_mistake_is_shown() {
        let read = |table: &str| config_of(&format!("preset = \"balanced\"\n{table}"));
        let all = "[messages]\nvariants = [\"named\", \"unnamed\", \"observe\"]";
        assert_eq!(read(all).expect("three variants").variants, Variant::ALL);
        assert!(read("").expect("a preset").variants.is_empty());
        check("config: a table of messages, and the mistake in it", |table| {
            read(table).map(|_| ()).expect_err(table).what().to_owned()
        });
    }
}
