//! Reads text symbol by symbol, through the escapes of JSON, URLs and HTML.

/// A character, as written or as an escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    pub(super) c: char,
    /// The way that it is written: the number of backslashes before it, or one of the numbers below.
    pub(super) level: usize,
    /// The bytes that it takes.
    pub(super) len: usize,
}

/// The level of `%22`, of `&quot;` and of `\u0022`.
const URL: usize = usize::MAX;
const HTML: usize = usize::MAX - 1;
const CODE: usize = usize::MAX - 2;

/// The names of characters in HTML.
const ENTITIES: [(&str, char); 9] = [
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&#x22;", '"'),
    ("&apos;", '\''),
    ("&#39;", '\''),
    ("&#x27;", '\''),
    ("&amp;", '&'),
    ("&lt;", '<'),
    ("&gt;", '>'),
];

/// Reads the symbol at `at`. A run of backslashes is one symbol, with the character that it escapes.
pub(super) fn next(text: &str, at: usize) -> Option<Symbol> {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + 1));
    let byte = *text.as_bytes().get(at)?;
    if byte.is_ascii() && !matches!(byte, b'\\' | b'%' | b'&' | b'\r') {
        return Some(Symbol { c: char::from(byte), level: 0, len: 1 });
    }
    let rest = rest(text, at);
    let c = rest.chars().next()?;
    let plain = Symbol { c, level: 0, len: c.len_utf8() };
    Some(match c {
        '\\' => escape(rest),
        '%' => percent(rest).unwrap_or(plain),
        '&' => entity(rest).unwrap_or(plain),
        '\r' => Symbol { c: '\n', ..plain },
        _ => plain,
    })
}

/// Returns the text from `at`.
pub(super) fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

fn escape(rest: &str) -> Symbol {
    let run = rest.bytes().take_while(|byte| *byte == b'\\').count();
    let after = &rest[run..];
    let is_odd = run % 2 == 1;
    let escaped = |c| Symbol { c, level: run, len: run + 1 };
    match after.chars().next() {
        Some(c) if is_quote(c) && c.is_ascii() => escaped(c),
        Some('n' | 'r') if is_odd => escaped('\n'),
        Some('t') if is_odd => escaped('\t'),
        Some('/') if is_odd => escaped('/'),
        Some('u') if is_odd => match coded(after) {
            Some(c) => Symbol { c, level: if is_quote(c) { CODE } else { run }, len: run + 5 },
            None => Symbol { c: '\\', level: run, len: run },
        },
        _ => Symbol { c: '\\', level: run, len: run },
    }
}

/// Reads the four digits of `u0022`.
fn coded(after: &str) -> Option<char> {
    let digits = after.get(1..5).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
}

/// Reads `%22`, if the character separates a name from a value.
fn percent(rest: &str) -> Option<Symbol> {
    let digits = rest.get(1..3).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let c = char::from(u8::from_str_radix(digits, 16).ok()?);
    let c = if c == '\r' { '\n' } else { c };
    "\"'=:&?[]{},;/ \n<>@".contains(c).then_some(Symbol { c, level: URL, len: 3 })
}

fn entity(rest: &str) -> Option<Symbol> {
    let (name, c) = ENTITIES.into_iter().find(|(name, _)| rest.starts_with(name))?;
    Some(Symbol { c, level: HTML, len: name.len() })
}

/// Returns whether `c` begins a quotation.
pub(super) const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '“' | '‘' | '«')
}

/// Returns the end of a quotation that begins with `c`.
const fn closing(c: char) -> char {
    match c {
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        c => c,
    }
}

impl Symbol {
    /// Returns whether this symbol is a quotation mark.
    pub(super) const fn quotes(self) -> bool {
        is_quote(self.c)
    }

    /// Returns whether this symbol ends the quotation that `open` began.
    ///
    /// Inside of a string with `n` backslashes before its quotation marks, each escaped backslash takes
    /// `2 (n + 1)` characters. A mark with fewer backslashes ends a string around it.
    pub(super) const fn closes(self, open: Self) -> bool {
        if self.c != closing(open.c) {
            return false;
        }
        if self.level >= CODE || open.level >= CODE {
            return self.level == open.level || self.level < open.level && self.level == 0;
        }
        match self.level.checked_sub(open.level) {
            None => true,
            Some(more) => more % (2 * (open.level + 1)) == 0,
        }
    }

    /// Returns whether this symbol is white space, also as an escape.
    pub(super) const fn is_space(self) -> bool {
        self.c.is_whitespace()
    }
}

/// Returns the place of the first symbol at `at` or later that is no space. Line breaks count as spaces if
/// `over_lines`.
pub(super) fn after_spaces(text: &str, mut at: usize, over_lines: bool) -> usize {
    while let Some(symbol) = next(text, at) {
        if !symbol.is_space() || symbol.c == '\n' && !over_lines {
            break;
        }
        at += symbol.len;
    }
    at
}

/// Returns the place of the quotation mark that ends the quotation of `open`, whose contents begin at `at`, and
/// the place after it. Without such a mark, the quotation goes on to the end.
pub(super) fn quotation(text: &str, open: Symbol, mut at: usize) -> (usize, usize) {
    while let Some(symbol) = next(text, at) {
        if symbol.closes(open) {
            // The backslashes that are a part of the contents are before those of the mark.
            let own = match open.level {
                level if level < CODE => level.min(symbol.level) + symbol.c.len_utf8(),
                _ => symbol.len,
            };
            return (at + symbol.len.saturating_sub(own), at + symbol.len);
        }
        at += symbol.len;
    }
    (text.len(), text.len())
}

#[cfg(test)]
thread_local! {
    /// The symbols that this thread has read.
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns the number of symbols that `work` reads.
#[cfg(test)]
pub(super) fn steps(work: impl FnOnce()) -> usize {
    let before = STEPS.get();
    work();
    STEPS.get() - before
}
