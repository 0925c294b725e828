//! The cost of a run in calls, tokens, time and money, and the part of it after the first finding.

use std::fmt::{self, Display, Formatter, Write as _};
use std::iter::Sum;
use std::ops::Add;
use std::str::FromStr;
use std::time::Duration;

use unstuck_trace::{Event, Tokens};

use crate::shown::counted;

/// The cost of a run, as far as its file tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// The whole run.
    pub total: Spent,
    /// The part after the first finding. `None` if nothing was found.
    pub after: Option<Spent>,
}

/// Something that was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// The number of calls.
    pub calls: usize,
    /// `None` if the file has none.
    pub tokens: Option<Tokens>,
    /// The time from the first record to the last one. `None` if the file has no times.
    pub time: Option<Duration>,
    /// US dollars, if a price is known and the file has tokens.
    pub dollars: Option<f64>,
}

/// The prices of a million tokens in US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    input: f64,
    /// `None` if tokens from a cache cost as much as others.
    cached: Option<f64>,
    output: f64,
}

/// The prices of models, by the beginnings of their names.
///
/// ```
/// use unstuck_report::cost::Prices;
///
/// let prices: Prices = [("gpt", "input=1,output=8"), ("gpt-mini", "input=0.1,output=0.8")]
///     .into_iter()
///     .map(|(model, price)| (model.to_owned(), price.parse().expect("a price")))
///     .collect();
/// assert_eq!(prices.of("gpt-mini-2026"), "input=0.1,output=0.8".parse().ok());
/// assert_eq!(prices.of("claude"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices(Vec<(String, Price)>);

impl Prices {
    /// Returns the price of a model: that of the longest beginning of its name.
    pub fn of(&self, model: &str) -> Option<Price> {
        let fitting = self.0.iter().filter(|(name, _)| model.starts_with(name.as_str()));
        fitting.max_by_key(|(name, _)| name.len()).map(|(_, price)| *price)
    }
}

impl FromIterator<(String, Price)> for Prices {
    fn from_iter<I: IntoIterator<Item = (String, Price)>>(prices: I) -> Self {
        Self(prices.into_iter().collect())
    }
}

/// Counts what a run spends.
///
/// ```
/// use unstuck_report::cost::Meter;
/// use unstuck_trace::read;
///
/// let call = r#"{"type":"call","tool":"ls","tokens":{"input":90,"output":10}}"#;
/// let (mut meter, mut middle) = (Meter::default(), None);
/// read(format!("{call}\n{call}\n{call}\n").as_bytes(), None, &mut |event| {
///     meter.take(&event);
///     if meter.now().calls == 1 {
///         middle.get_or_insert(meter.now());
///     }
/// })?;
/// assert_eq!(meter.total().to_string(), "3 calls, 300 tokens");
/// assert_eq!(middle.map(|middle| meter.since(middle).calls), Some(2));
/// # Ok::<(), unstuck_trace::Problem>(())
/// ```
#[derive(Default)]
pub struct Meter {
    price: Option<Price>,
    now: Reading,
    begin: Option<u64>,
    /// The reading when the first loop was found.
    found: Option<Reading>,
}

/// What a [`Meter`] has counted so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// The number of calls.
    pub calls: usize,
    tokens: Option<Tokens>,
    /// The latest time, in milliseconds since 1970. Workers may write records out of order.
    time: Option<u64>,
}

impl Meter {
    /// Begins with a run, whose tokens have this price.
    pub fn new(price: Option<Price>) -> Self {
        Self { price, ..Self::default() }
    }

    /// Takes in an event, after the calls before it were judged.
    pub fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Call(_) => self.now.calls += 1,
            Event::Usage(usage) => {
                *self.now.tokens.get_or_insert_default() += usage.tokens;
            }
            Event::Time(time) => {
                self.begin = self.begin.min(Some(*time)).or(Some(*time));
                self.now.time = self.now.time.max(Some(*time));
            }
            Event::Outcome(_) | Event::Message(_) | Event::Begin(_) => {}
        }
    }

    /// Notes that a loop has been found.
    pub(super) fn found(&mut self) {
        self.found.get_or_insert(self.now);
    }

    pub(super) fn finish(self) -> Cost {
        Cost { total: self.total(), after: self.found.map(|found| self.since(found)) }
    }

    /// Returns the reading.
    pub const fn now(&self) -> Reading {
        self.now
    }

    /// Returns what was spent so far.
    pub fn total(&self) -> Spent {
        self.since(Reading { time: self.begin, ..Reading::default() })
    }

    /// Returns what was spent since `before`.
    pub fn since(&self, before: Reading) -> Spent {
        let tokens = self.now.tokens.map(|now| now.without(before.tokens.unwrap_or_default()));
        let time = self.now.time.zip(before.time).map(|(now, before)| now.saturating_sub(before));
        Spent {
            calls: self.now.calls - before.calls,
            tokens,
            time: time.map(Duration::from_millis),
            dollars: self.price.zip(tokens).map(|(price, tokens)| price.of(tokens)),
        }
    }
}

impl Price {
    /// Returns the price of `tokens` in dollars.
    #[expect(clippy::cast_precision_loss, reason = "no run has 2^53 tokens")]
    pub fn of(self, tokens: Tokens) -> f64 {
        let Tokens { input, cached, output } = tokens;
        let cached = cached as f64 * self.cached.unwrap_or(self.input);
        (input as f64 * self.input + cached + output as f64 * self.output) / 1e6
    }
}

impl FromStr for Price {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut input, mut cached, mut output) = (None, None, None);
        for part in text.split(',') {
            let (name, price) = part.split_once('=').ok_or_else(|| expected(part))?;
            let price =
                price.trim().parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0);
            let price = Some(price.ok_or_else(|| expected(part))?);
            match name.trim() {
                "input" => input = price,
                "cached" => cached = price,
                "output" => output = price,
                _ => return Err(expected(part)),
            }
        }
        match (input, output) {
            (Some(input), Some(output)) => Ok(Self { input, cached, output }),
            _ => Err("both input=PRICE and output=PRICE are needed".to_owned()),
        }
    }
}

/// Returns the error about `part` of a price.
fn expected(part: &str) -> String {
    format!(
        "`{part}` is no price: expected input=3,cached=0.3,output=15 in dollars per million tokens"
    )
}

/// Adds what is known of both.
impl Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            tokens: known(self.tokens, other.tokens, Tokens::add),
            time: known(self.time, other.time, Duration::saturating_add),
            dollars: known(self.dollars, other.dollars, f64::add),
        }
    }
}

impl Sum for Spent {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Self::add)
    }
}

/// Adds what is known of `one` and `other`.
pub(crate) fn known<T>(one: Option<T>, other: Option<T>, add: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(add(one, other)),
        (one, other) => one.or(other),
    }
}

/// Shows what is known, for example `37 calls, 1.2M tokens, 4 min, $0.31`.
impl Display for Spent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut text = counted(self.calls, "call");
        // Writing to a string cannot fail.
        if let Some(tokens) = self.tokens {
            let _ = write!(text, ", {} tokens", rounded(tokens.total()));
        }
        if let Some(time) = self.time {
            let _ = write!(text, ", {}", span(time));
        }
        if let Some(dollars) = self.dollars {
            let _ = write!(text, ", ${dollars:.2}");
        }
        f.pad(&text)
    }
}

/// Returns a large number in a short form, for example `12.3k`.
pub fn rounded(number: u64) -> String {
    let (unit, name) = match number {
        0..1_000 => return number.to_string(),
        1_000..999_950 => (1_000, "k"),
        999_950..999_950_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    let tenths = (number + unit / 20) / (unit / 10);
    if tenths < 100 {
        format!("{}.{}{name}", tenths / 10, tenths % 10)
    } else {
        format!("{}{name}", (number + unit / 2) / unit)
    }
}

/// Returns a span of time in its two largest units at most, for example `1 h 20 min`.
pub(super) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use unstuck_trace::{Message, Role, Usage};

    use super::*;
    use crate::cases::check;

    #[test]
    fn numbers_are_short() {
        let number = |text: &str| text.parse().expect("a number");
        check("cost: a number in short", |text| rounded(number(text)));
        check("cost: seconds in words", |text| span(Duration::from_secs(number(text))));
    }

    #[test]
    fn a_price_is_for_a_million_tokens() {
        let tokens = Tokens { input: 1_000_000, cached: 2_000_000, output: 100_000 };
        check("cost: the price of some tokens", |text| match text.parse::<Price>() {
            Ok(price) => price.of(tokens).to_string(),
            Err(why) => why,
        });
    }

    #[test]
    fn what_comes_after_the_first_finding_is_counted_apart() {
        let usage = |input| {
            Event::Usage(Usage { worker: "main", tokens: Tokens { input, cached: 1, output: 2 } })
        };
        let message =
            Message { index: 0, worker: "main", role: Role::User, text: "", text_only: false };
        let mut meter = Meter::new("input=1,output=2".parse().ok());
        for event in [Event::Time(5000), usage(10), Event::Time(3000), Event::Time(9000)] {
            meter.take(&event);
        }
        meter.found();
        for event in [usage(20), Event::Message(message), Event::Time(69_000), Event::Time(8000)] {
            meter.take(&event);
        }
        // Later findings change nothing.
        meter.found();
        let cost = meter.finish();
        let tokens = |input, cached, output| Some(Tokens { input, cached, output });
        assert_eq!(cost.total.tokens, tokens(30, 2, 4));
        assert_eq!(cost.total.time, Some(Duration::from_secs(66)));
        assert_eq!(cost.total.dollars, Some(40.0 / 1e6));
        let after = cost.after.expect("a finding");
        assert_eq!((after.tokens, after.time), (tokens(20, 1, 2), Some(Duration::from_secs(60))));
    }

    #[test]
    fn a_file_without_tokens_and_times_costs_calls_only() {
        let mut meter = Meter::new("input=1,output=2".parse().ok());
        meter.found();
        let cost = meter.finish();
        assert_eq!((cost.total, cost.after), (Spent::default(), Some(Spent::default())));
    }

    #[test]
    fn what_is_known_of_several_runs_is_added() {
        let tokens = |output| Some(Tokens { output, ..Tokens::default() });
        let one = Spent { calls: 2, tokens: tokens(5), dollars: Some(0.5), ..Spent::default() };
        let other = Spent { calls: 3, tokens: tokens(7), ..Spent::default() };
        assert_eq!(known(None, None, Spent::add), None);
        assert_eq!(known(Some(one), None, Spent::add), Some(one));
        let both = Spent { calls: 5, tokens: tokens(12), dollars: Some(0.5), ..Spent::default() };
        assert_eq!(known(Some(one), Some(other), Spent::add), Some(both));
    }

    #[test]
    fn what_was_spent_is_one_line() {
        let spent = Spent { calls: 37, ..Spent::default() };
        assert_eq!(spent.to_string(), "37 calls");
        let tokens = Some(Tokens { input: 1_000_000, cached: 200_000, output: 10_000 });
        let spent =
            Spent { tokens, time: Some(Duration::from_secs(250)), dollars: Some(0.312), ..spent };
        assert_eq!(spent.to_string(), "37 calls, 1.2M tokens, 4 min, $0.31");
    }
}
