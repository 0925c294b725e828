//! The tables of a configuration for budgets and prices.

use std::num::{NonZeroU32, TryFromIntError};

use toml::de::DeValue;
use unstuck::{AtLimit, Budget, Limits};

use super::fields::{self, Fields, Node, entries, number, other, text};
use crate::cost::Prices;
use crate::mistake::Mistake;

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
