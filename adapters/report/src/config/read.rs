//! Reads a policy from the text of a configuration.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use unstuck::Budget;
use unstuck_core::{
    Action, Basis, Force, Ladder, Outcomes, Pattern, Policy, PolicyError, PolicyErrorKind,
    Progress, Rule, Rung, Select, Silence, Tag, TagSet, TextRule, Texts, Tool,
};
use unstuck_text::{Preset, Recipe};

use super::fields::{Fields, Node, elements, number, other, text, unknown, word};
use super::tables::Variant;
use super::{choice, tables};
use crate::cost::Prices;
use crate::mistake::Mistake;
use crate::shown::is_plain;

const POLICY: [&str; 13] = [
    "preset", "name", "window", "exempt", "recipe", "rule", "text", "tools", "allow", "adaptive",
    "messages", "budget", "prices",
];

const RULE: [&str; 11] = [
    "name",
    "args",
    "results",
    "select",
    "outcomes",
    "pattern",
    "progress",
    "silence",
    "silent_max",
    "force",
    "ladder",
];

/// The fields that a configuration with a `preset` must not have.
const OF_PRESET: [&str; 4] = ["name", "window", "recipe", "text"];

/// Returns the policy called `name`: a preset, or the rule set of another agent, which is parsed
/// now.
pub fn named(name: &str) -> Option<&'static Preset> {
    let published = || preset(choice::text(name)?).ok();
    Preset::named(name).or_else(published)
}

/// What a configuration describes.
#[derive(Clone, Debug)]
pub struct Config {
    /// The policy, with its recipe.
    pub preset: &'static Preset,
    /// What the agents of different sessions are told. It is empty if all are told the same.
    pub variants: Vec<Variant>,
    /// What an agent may spend, if there is a limit.
    pub budget: Option<Budget>,
    /// The prices of models. There may be none.
    pub prices: Prices,
}

impl Config {
    /// Returns the configuration that has nothing but a policy.
    pub fn of(preset: &'static Preset) -> Self {
        Self { preset, variants: Vec::new(), budget: None, prices: Prices::default() }
    }
}

/// Returns the policy that `config` describes, with its recipe.
///
/// The policy is leaked: it is the only one of the program, and the detectors of all threads borrow
/// it.
///
/// # Errors
///
/// The first mistake in the text.
pub fn preset(config: &str) -> Result<&'static Preset, Mistake> {
    Ok(config_of(config)?.preset)
}

/// Returns all that `config` describes. The policy is leaked, as by [`preset`].
///
/// # Errors
///
/// The first mistake in the text.
pub fn config_of(config: &str) -> Result<Config, Mistake> {
    let root = DeTable::parse(config).map_err(|error| {
        Mistake::new(error.span().unwrap_or_default(), format!("not TOML: {}", error.message()))
    })?;
    let fields = Fields::of(root.get_ref(), 0..0, "a policy", &POLICY)?;
    let (policy, recipe) = match fields.optional("preset") {
        Some(named) => named_preset(&fields, named)?,
        None => whole(&fields)?,
    };
    let tools = fields.optional("tools").map_or(Ok(&[][..]), tables::of_tools)?;
    let recipe = Recipe { tools, ..recipe };
    let policy: &'static Policy<'static> = Box::leak(Box::new(adapted(policy, &recipe, &fields)?));
    Ok(Config {
        preset: Box::leak(Box::new(Preset { policy, recipe })),
        variants: fields.optional("messages").map_or(Ok(Vec::new()), tables::variants)?,
        budget: fields.optional("budget").map(tables::budget).transpose()?,
        prices: fields.optional("prices").map_or(Ok(Prices::default()), tables::prices)?,
    })
}

/// Applies the fields that are allowed beside a preset and beside rules.
fn adapted(
    mut policy: Policy<'static>,
    recipe: &Recipe,
    fields: &Fields<'_>,
) -> Result<Policy<'static>, Mistake> {
    if let Some(tags) = fields.optional("exempt") {
        policy = policy.with_exempt(exempt(tags)?);
    }
    if let Some(tools) = fields.optional("tools") {
        policy = tables::with_tools(policy, tools)?;
    }
    if let Some(calls) = fields.optional("allow") {
        policy = tables::with_allowed(policy, recipe, calls)?;
    }
    match fields.optional("adaptive") {
        Some(phases) => tables::with_phases(policy, phases),
        None => Ok(policy),
    }
}

/// Reads a configuration that names a preset.
fn named_preset(
    fields: &Fields<'_>,
    node: &Node<'_>,
) -> Result<(Policy<'static>, Recipe), Mistake> {
    let Some(preset) = named(text(node)?) else {
        return Err(unknown(node, &choice::names().collect::<Vec<_>>()));
    };
    let name = preset.policy.name();
    let why = format!(
        "the preset has its own; to change it, start from the output of `unstuck presets {name} \
         --format toml`"
    );
    for key in OF_PRESET {
        fields.without(key, &why)?;
    }
    let policy = match fields.optional("rule") {
        Some(rules) => with_rules_of_tools(preset.policy, rules, &why)?,
        None => *preset.policy,
    };
    Ok((policy, preset.recipe))
}

/// Returns the policy with more rules, each for one tool. They come first, because the first rule that holds decides.
fn with_rules_of_tools(
    policy: &'static Policy<'static>,
    node: &Node<'_>,
    why: &str,
) -> Result<Policy<'static>, Mistake> {
    let sources = RuleSource::all_of(node)?;
    let is_of_all = |source: &&RuleSource| !matches!(source.rule.select, Select::Tool(_));
    if let Some(source) = sources.iter().find(is_of_all) {
        let what =
            "a rule beside a preset must be for one tool, as with `select = { tool = \"deploy\" }`";
        return Err(Mistake::new(source.whole.clone(), format!("{what}: {why}")));
    }
    let (early, late) = policy.phases();
    checked(policy.name(), (policy.window(), node.span()), &sources, policy.rules())?
        .with_exempt(policy.exempt())
        .with_texts(policy.texts())
        .and_then(|own| own.with_tools(policy.tools()))
        .and_then(|own| own.with_allowed(policy.allowed()))
        .and_then(|own| own.with_phases(early, late))
        .map_err(|error| Mistake::new(node.span(), error.to_string()))
}

/// Reads a configuration with rules of its own.
fn whole(fields: &Fields<'_>) -> Result<(Policy<'static>, Recipe), Mistake> {
    let name = name(fields)?;
    let window = fields.required("window")?;
    let sources = fields.optional("rule").map_or(Ok(Vec::new()), RuleSource::all_of)?;
    let policy = checked(name, (number(window)?, window.span()), &sources, &[])?;
    let policy = match fields.optional("text") {
        Some(texts) => with_texts(policy, texts)?,
        None => policy,
    };
    Ok((policy, fields.optional("recipe").map_or(Ok(Recipe::EXACT), tables::recipe)?))
}

/// A rule and its spans.
struct RuleSource {
    rule: Rule<'static>,
    whole: Range<usize>,
    pattern: Range<usize>,
    rungs: Rungs,
}

impl RuleSource {
    fn all_of(node: &Node<'_>) -> Result<Vec<Self>, Mistake> {
        elements(node, "[[rule]] tables")?.map(Self::of).collect()
    }

    fn of(node: &Node<'_>) -> Result<Self, Mistake> {
        let fields = Fields::at(node, "a rule", &RULE)?;
        let name = name(&fields)?;
        let (args, results) = (word(fields.required("args")?)?, word(fields.required("results")?)?);
        let (at, steps) = (fields.required("pattern")?, fields.required("ladder")?);
        let (ladder, rungs) = ladder(steps)?;
        let mut rule = Rule::new(name, args, results, pattern(at)?, ladder);
        rule.select = fields.optional("select").map_or(Ok(Select::Every), select)?;
        rule.outcomes = fields.word_or("outcomes", Outcomes::Any)?;
        rule.progress = fields.word_or("progress", Progress::Respect)?;
        rule.silence = fields.word_or("silence", Silence::Ignored)?;
        rule.silent_max = fields.word_or("silent_max", Action::Stop)?;
        rule.force = fields.word_or("force", Force::Always)?;
        Ok(Self { rule, whole: node.span(), pattern: at.span(), rungs })
    }

    /// Returns the span to change because of `error`.
    fn span_of(&self, error: PolicyErrorKind) -> Range<usize> {
        match error {
            PolicyErrorKind::TooManyRules { .. } => self.whole.clone(),
            error => self.rungs.span_of(error).unwrap_or(&self.pattern).clone(),
        }
    }
}

/// The spans of a ladder's rungs, each with the rung's count.
struct Rungs {
    whole: Range<usize>,
    each: Vec<(u16, Range<usize>)>,
}

impl Rungs {
    /// Returns the span to change because of `error`, or `None` if the error is not about a ladder.
    fn span_of(&self, error: PolicyErrorKind) -> Option<&Range<usize>> {
        let count = match error {
            PolicyErrorKind::Rungs { .. } => return Some(&self.whole),
            PolicyErrorKind::CountsDoNotRise { next: count, .. }
            | PolicyErrorKind::ActionsFall { count }
            | PolicyErrorKind::RungOutOfReach { count, .. }
            | PolicyErrorKind::RungPassedOver { count, .. }
            | PolicyErrorKind::RungAfterReset { count } => count,
            _ => return None,
        };
        let rung = self.each.iter().rfind(|(of_rung, _)| *of_rung == count);
        Some(rung.map_or(&self.whole, |(_, span)| span))
    }
}

/// Returns the policy with these rules and then those of a preset, or a mistake at the first rule that the engine
/// refuses. The window of the policy has a span.
fn checked(
    name: &'static str,
    (length, window): (u8, Range<usize>),
    sources: &[RuleSource],
    preset: &[Rule<'static>],
) -> Result<Policy<'static>, Mistake> {
    let refused = |error: PolicyError, source: Option<&RuleSource>| {
        let span = match (error.flaw, source) {
            (PolicyErrorKind::Window { .. }, _) => window.clone(),
            (kind, Some(source)) => source.span_of(kind),
            (_, None) => 0..0,
        };
        Mistake::new(span, error.to_string())
    };
    let rules = |count: usize| -> Vec<Rule<'static>> {
        let own = sources.iter().take(count).map(|source| source.rule);
        own.chain(preset.iter().copied()).collect()
    };
    // Names may occur twice, so the rule is found by adding one rule at a time.
    for (source, count) in sources.iter().zip(1..) {
        Policy::new(name, length, &rules(count)).map_err(|error| refused(error, Some(source)))?;
    }
    Policy::new(name, length, rules(sources.len()).leak()).map_err(|error| refused(error, None))
}

fn with_texts(policy: Policy<'static>, node: &Node<'_>) -> Result<Policy<'static>, Mistake> {
    let mut rules = Vec::new();
    for node in elements(node, "[[text]] tables")? {
        let (rule, times, rungs) = text_rule(node)?;
        // Each rule is tried alone, so that the mistake is at the first one that the engine
        // refuses.
        policy.with_texts(vec![rule].leak()).map_err(|error| {
            let span = rungs.span_of(error.flaw).cloned().unwrap_or(times);
            Mistake::new(span, error.to_string())
        })?;
        rules.push(rule);
    }
    let refused = |error: PolicyError| Mistake::new(node.span(), error.to_string());
    policy.with_texts(rules.leak()).map_err(refused)
}

/// Reads a rule about text. Returns the spans of its `times` and of its rungs as well.
fn text_rule(node: &Node<'_>) -> Result<(TextRule<'static>, Range<usize>, Rungs), Mistake> {
    let fields = Fields::at(node, "a rule about text", &["name", "texts", "times", "ladder"])?;
    let (times, texts) = (fields.required("times")?, word::<Texts>(fields.required("texts")?)?);
    let (ladder, rungs) = ladder(fields.required("ladder")?)?;
    let rule = TextRule::new(name(&fields)?, texts, number(times)?, ladder);
    Ok((rule, times.span(), rungs))
}

/// Reads the name of a policy or a rule, which will be printed.
fn name(fields: &Fields<'_>) -> Result<&'static str, Mistake> {
    let node = fields.required("name")?;
    let name = text(node)?;
    if name.trim().is_empty() || !is_plain(name) {
        let what = "expected a name on one line, with visible characters only";
        return Err(Mistake::new(node.span(), what));
    }
    Ok(name.to_owned().leak())
}

fn exempt(node: &Node<'_>) -> Result<TagSet, Mistake> {
    elements(node, "tags")?.try_fold(TagSet::EMPTY, |tags, node| Ok(tags.with(word(node)?)))
}

fn select(node: &Node<'_>) -> Result<Select, Mistake> {
    const WORDS: [&str; 2] = ["every", "unreported"];
    match node.get_ref() {
        DeValue::String(which) if which == "every" => Ok(Select::Every),
        DeValue::String(which) if which == "unreported" => Ok(Select::Unreported),
        DeValue::String(_) => Err(unknown(node, &WORDS)),
        DeValue::Table(_) => {
            const KEYS: [&str; 3] = ["tag", "except", "tool"];
            let fields = Fields::at(node, "a selection", &KEYS)?;
            match KEYS.map(|key| fields.optional(key)) {
                [Some(tag), None, None] => Ok(Select::Tag(word::<Tag>(tag)?)),
                [None, Some(tag), None] => Ok(Select::Except(word::<Tag>(tag)?)),
                [None, None, Some(tool)] => match text(tool)? {
                    "" => Err(Mistake::new(tool.span(), "expected the name of a tool")),
                    name => Ok(Select::Tool(Tool::named(name))),
                },
                _ => Err(Mistake::new(node.span(), "expected one of `tag`, `except` and `tool`")),
            }
        }
        _ => {
            const FORMS: &str =
                "\"every\", \"unreported\", { tag = … }, { except = … } or { tool = … }";
            Err(other(node, FORMS))
        }
    }
}

fn pattern(node: &Node<'_>) -> Result<Pattern, Mistake> {
    let known = ["times", "within", "novel", "period", "laps"];
    let fields = Fields::at(node, "a pattern", &known)?;
    if fields.optional("period").or(fields.optional("laps")).is_some() {
        for key in ["times", "within", "novel"] {
            fields.without(key, "a cycle has only `period` and `laps`")?;
        }
        let (period_min, period_max) = periods(fields.required("period")?)?;
        return Ok(Pattern::cycle(period_min, period_max, number(fields.required("laps")?)?));
    }
    let times = fields.required("times")?;
    let Some(within) = fields.optional("within") else {
        fields.without("novel", "it counts the calls in between, and needs `within`")?;
        return Ok(Pattern::Streak { times: number(times)? });
    };
    let novel = fields.optional("novel").map_or(Ok(u8::MAX), number)?;
    Ok(Pattern::Recurrence { times: number(times)?, within: number(within)?, novel })
}

/// Reads the shortest and the longest period.
fn periods(node: &Node<'_>) -> Result<(u8, u8), Mistake> {
    const EXPECTED: &str = "the shortest and the longest period, as in [2, 10]";
    let ends = node.get_ref().as_array().ok_or_else(|| other(node, EXPECTED))?;
    match ends.iter().collect::<Vec<_>>()[..] {
        [shortest, longest] => Ok((number(shortest)?, number(longest)?)),
        _ => Err(Mistake::new(node.span(), format!("expected {EXPECTED}"))),
    }
}

fn ladder(node: &Node<'_>) -> Result<(Ladder<'static>, Rungs), Mistake> {
    let fields = Fields::at(node, "a ladder", &["basis", "rungs"])?;
    let basis = fields.word_or("basis", Basis::Repetitions)?;
    let (mut rungs, mut each) = (Vec::new(), Vec::new());
    let list = fields.required("rungs")?;
    for node in elements(list, "rungs")? {
        let rung = rung(node)?;
        each.push((rung.count, node.span()));
        rungs.push(rung);
    }
    Ok((Ladder { basis, rungs: rungs.leak() }, Rungs { whole: list.span(), each }))
}

fn rung(node: &Node<'_>) -> Result<Rung, Mistake> {
    let fields = Fields::at(node, "a rung", &["count", "action"])?;
    Ok(Rung::new(number(fields.required("count")?)?, word(fields.required("action")?)?))
}
