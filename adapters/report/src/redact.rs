//! Masks secrets in text before a person or a file gets it.
//!
//! A secret is recognised by its structure, which is the value of a name like `password`, or by its shape, for
//! example the prefix of a service's keys. The module `rules` lists both, each with an example, and `pattern` matches
//! them. Text is scanned once from left to right, so the time grows with its length. Text that looks like a secret
//! and is none is masked, too: a mask costs a reader less than a leak.

/// Creates an array of texts, which `rustfmt` leaves in as few lines as they were written.
macro_rules! texts {
    [$($text:literal)+] => { [$($text),+] };
}

mod names;
mod pattern;
mod rules;
mod symbol;
#[cfg(test)]
mod tests;
mod values;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use names::{Kind, Name};
use pattern::{BASE64, LETTERS, MANY, Part, Place, run};
use rules::{CALLS, KEYS, NAMED, OPTIONS, Rule, SHAPES};
use symbol::{Symbol, next};

/// The replacement for a secret.
pub(crate) const MASK: &str = "•••";

/// The bytes between the name of a secret, as a value, and the value that belongs to it.
const NEAR: usize = 300;

/// The length of the shortest key with a prefix.
const KEY_MIN: usize = 13;

/// The rules of a command: for what follows its name, and for its options.
#[derive(Default)]
struct Command {
    calls: Vec<&'static Rule>,
    options: Vec<&'static Rule>,
}

/// The commands that have rules, by the words of their names.
static COMMANDS: LazyLock<BTreeMap<String, Command>> = LazyLock::new(|| {
    let mut commands = BTreeMap::<String, Command>::new();
    let mut add = |rows: &[(&[&str], &'static [Rule])],
                   list: fn(&mut Command) -> &mut Vec<&'static Rule>| {
        for (names, rules) in rows {
            for name in *names {
                let (sign, name) = name.split_at(usize::from(name.starts_with('-')));
                let words = sign.to_owned() + &name.replace(['-', '_'], " ");
                list(commands.entry(words).or_default()).extend(*rules);
            }
        }
    };
    add(CALLS, |command| &mut command.calls);
    add(OPTIONS, |command| &mut command.options);
    commands
});

/// Returns `text` with everything masked that looks like a secret.
pub fn masked(text: &str) -> Cow<'_, str> {
    let secrets = Scanner { text, ..Scanner::default() }.secrets();
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    let mut end = 0;
    for secret in secrets {
        masked.push_str(&text[end..secret.start]);
        masked.push_str(MASK);
        end = secret.end;
    }
    masked.push_str(&text[end..]);
    Cow::Owned(masked)
}

/// The scan of a text.
#[derive(Default)]
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// The symbol before `at`.
    previous: Option<Symbol>,
    /// The begin of the line.
    line: usize,
    /// The end of the last name. No name begins before it.
    named: usize,
    /// The last name, for names of two words.
    before: Option<Name>,
    /// The rules for options of the commands on this line.
    options: Vec<&'static Rule>,
    /// The place up to which a member `value` belongs to a member `name` that names a secret.
    labelled: usize,
    secrets: Vec<Range<usize>>,
}

impl<'t> Scanner<'t> {
    /// Returns the places of the secrets, in their order.
    fn secrets(mut self) -> Vec<Range<usize>> {
        while let Some(symbol) = next(self.text, self.at) {
            if let Some(secret) = self.secret(symbol) {
                self.at = secret.end;
                self.named = self.named.max(secret.end);
                self.previous = Some(Symbol { c: '•', level: 0, len: 3 });
                self.secrets.push(secret);
                continue;
            }
            match symbol.c {
                '\n' => {
                    self.line = self.at + symbol.len;
                    self.options.clear();
                }
                ';' | '|' | '&' => self.options.clear(),
                '}' => self.labelled = 0,
                _ => {}
            }
            self.previous = Some(symbol);
            self.at += symbol.len;
            // Nothing begins inside of a word.
            if symbol.c.is_ascii_alphanumeric() {
                self.at = run(self.text, self.at, LETTERS, MANY);
            }
        }
        self.secrets
    }

    /// Returns the place of a secret that is recognised at the present place, where `symbol` is.
    fn secret(&mut self, symbol: Symbol) -> Option<Range<usize>> {
        if let Some(secret) = self.shape(symbol) {
            return Some(secret);
        }
        let is_argument = self.previous.is_none_or(|symbol| symbol.is_space() || symbol.quotes());
        if symbol.c == '-' && is_argument && !self.options.is_empty() {
            return self.place().first(self.options.iter().map(|rule| rule.1));
        }
        if self.at < self.named {
            return None;
        }
        let name = Name::at(self.text, self.at, self.line, self.previous)?;
        self.named = name.span.end;
        let secret = self.named_secret(&name);
        self.before = Some(name);
        secret
    }

    /// Returns the present place.
    fn place(&self) -> Place<'t> {
        Place::at(self.text, self.at, self.previous)
    }

    /// Returns the place of a secret that has the shape of one.
    fn shape(&self, symbol: Symbol) -> Option<Range<usize>> {
        let is_inside = symbol.c.is_alphanumeric()
            && self.previous.is_some_and(|symbol| symbol.c.is_alphanumeric());
        if is_inside || !(symbol.c.is_alphanumeric() || "$-:<".contains(symbol.c)) {
            return None;
        }
        let place = self.place();
        let byte = self.text.as_bytes()[self.at];
        let is_long = run(self.text, self.at, BASE64, KEY_MIN) == self.at + KEY_MIN;
        let keys = if is_long { KEYS } else { &[] };
        let mut keys = keys.iter().filter(|(_, prefixes, ..)| Part::Any(prefixes).begins(byte));
        let key = keys.find_map(|(_, prefixes, min, class)| {
            place.first([&[Part::Any(prefixes), Part::Run(*class, *min, MANY)][..]])
        });
        let shapes = SHAPES.iter().filter(|rule| rule.1[0].begins(byte)).map(|rule| rule.1);
        key.or_else(|| place.first(shapes))
    }

    /// Returns the place of the secret that belongs to `name`: to the command or the secret of this name.
    fn named_secret(&mut self, name: &Name) -> Option<Range<usize>> {
        let text = self.text;
        if let Some(command) = COMMANDS.get(&*name.command()) {
            for rule in &command.options {
                if !self.options.iter().any(|other| std::ptr::eq(*other, *rule)) {
                    self.options.push(rule);
                }
            }
            let call = Place::at(text, name.span.end, name.previous);
            if let Some(secret) = call.first(command.calls.iter().map(|rule| rule.1)) {
                return Some(secret);
            }
        }
        let before = self.before.as_ref().filter(|before| before.is_before(name, text));
        if let Some(kind) = name.kind(before)
            && let Some(secret) =
                Place::after(text, name, kind).first(NAMED.iter().map(|rule| rule.1))
        {
            return Some(secret);
        }
        if let Some(label) = names::label(text, name) {
            self.labelled = label.end + NEAR;
            return names::element(text, &label);
        }
        if names::is_content(name)
            && (self.at < self.labelled || names::is_labelled_later(text, name))
        {
            self.labelled = 0;
            return Place::after(text, name, Kind::Strong).first(NAMED.iter().map(|rule| rule.1));
        }
        None
    }
}
