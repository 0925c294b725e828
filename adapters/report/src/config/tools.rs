//! The tables of a configuration for single tools, allowed calls, and phases of a run.

use serde_json::{Map, Number, Value};
use toml::de::DeValue;
use unstuck_core::{Call, Phase, Policy, PolicyError, Tool, ToolRule};
use unstuck_text::Recipe;

use super::fields::{Fields, Node, elements, entries, flag, number, other, text};
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

/// The fields of a `[tools.NAME]` table. [`super::recipe::of_tools`] reads those that belong to the
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
