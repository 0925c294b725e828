//! Masks secrets in text before a person or a file gets it.
//!
//! A secret is recognised by its structure, which is the value of a name like `password`, or by its shape, for
//! example the prefix of a service's keys. Text is scanned once from left to right, so the time grows with its
//! length. Text that looks like a secret and is none is masked, too: a mask costs a reader less than a leak.

/// Creates an array of texts, which `rustfmt` leaves in as few lines as they were written.
macro_rules! texts {
    [$($text:literal)+] => { [$($text),+] };
}

mod commands;
mod names;
mod shapes;
mod symbol;
#[cfg(test)]
mod tests;
mod values;

use std::borrow::Cow;
use std::ops::Range;

use commands::Command;
use names::{Kind, Name};
use symbol::{Symbol, symbol};

/// The replacement for a secret.
pub(crate) const MASK: &str = "•••";

/// The bytes between the name of a secret, as a value, and the value that belongs to it.
const NEAR: usize = 300;

/// Returns `text` with everything masked that looks like a secret.
pub fn masked(text: &str) -> Cow<'_, str> {
    let secrets = Scanner::new(text).secrets();
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
    /// The command on this line.
    command: Command,
    /// The place up to which a member `value` belongs to a member `name` that names a secret.
    labelled: usize,
    secrets: Vec<Range<usize>>,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            previous: None,
            line: 0,
            named: 0,
            before: None,
            command: Command::default(),
            labelled: 0,
            secrets: Vec::new(),
        }
    }

    /// Returns the places of the secrets, in their order.
    fn secrets(mut self) -> Vec<Range<usize>> {
        while let Some(symbol) = symbol(self.text, self.at) {
            if let Some(secret) = self.secret(symbol) {
                self.pass(secret);
                continue;
            }
            match symbol.c {
                '\n' => {
                    self.line = self.at + symbol.len;
                    self.command = Command::default();
                }
                ';' | '|' | '&' => self.command = Command::default(),
                '}' => self.labelled = 0,
                _ => {}
            }
            self.previous = Some(symbol);
            self.at += symbol.len;
        }
        self.secrets
    }

    /// Notes a secret and continues after it.
    fn pass(&mut self, secret: Range<usize>) {
        self.at = secret.end;
        self.named = self.named.max(secret.end);
        self.previous = Some(Symbol { c: '•', level: 0, len: 3 });
        self.secrets.push(secret);
    }

    /// Returns the place of a secret that is recognised at the present place, where `symbol` is.
    fn secret(&mut self, symbol: Symbol) -> Option<Range<usize>> {
        let is_begin = !self.previous.is_some_and(|symbol| symbol.c.is_alphanumeric());
        if is_begin && let Some(secret) = shapes::at(self.text, self.at, self.previous) {
            return Some(secret);
        }
        let is_argument = self.previous.is_none_or(|symbol| symbol.is_space() || symbol.quotes());
        match symbol.c {
            ':' => return shapes::in_url(self.text, self.at),
            '<' => return commands::here_string(self.text, self.at),
            '-' if is_argument => return self.command.flag(self.text, self.at),
            _ => {}
        }
        if self.at < self.named {
            return None;
        }
        let name = Name::at(self.text, self.at, self.line, self.previous)?;
        self.named = name.span.end;
        let secret = self.named_secret(&name);
        self.command.word(&name);
        self.before = Some(name);
        secret
    }

    /// Returns the place of the value of `name` if the name is one of a secret.
    fn named_secret(&mut self, name: &Name) -> Option<Range<usize>> {
        if name.is_any(&["echo", "printf"])
            && let Some(secret) = commands::piped(self.text, name.span.end)
        {
            return Some(secret);
        }
        if let Some(secret) = commands::passed(self.text, name) {
            return Some(secret);
        }
        let before = self.before.as_ref().filter(|before| before.is_before(name, self.text));
        if let Some(kind) = name.kind(before)
            && let Some(secret) = values::of(self.text, name, kind, before)
        {
            return Some(secret);
        }
        if name.is_label()
            && let Some(label) = values::label(self.text, name)
            && names::labels_secret(name, &self.text[label.clone()])
        {
            self.labelled = label.end + NEAR;
            return values::after_tag(self.text, &label);
        } else if name.is_content()
            && (self.at < self.labelled || values::is_labelled_later(self.text, name))
        {
            self.labelled = 0;
            return values::of(self.text, name, Kind::Strong, None);
        }
        None
    }
}
