//! Reads a value in one of several forms, finds where it ends, and tells the values that are no secrets.

use std::ops::Range;

use super::names::{Kind, Name};
use super::pattern::{Class, LETTERS, Place, is_random, next_argument, run};
use super::symbol::{Symbol, after_spaces, next, quotation, rest};

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The rest of the line, after spaces. In YAML also the lines below.
    Line,
    /// A word.
    Word,
    /// An argument of a command. It is no call in a program.
    Argument,
    /// The contents of an element of XML.
    Content,
    /// An argument, after this character in it.
    Half(char),
    /// The last argument, if there are so many. If there is a letter, an option has to have it.
    Last(Option<char>, usize),
    /// A quotation that ends with a return, and has so many characters. A short one may have several words.
    Typed(usize),
}

/// The words before a credential in a header.
const SCHEMES: &[&str] = &texts![
    "bearer" "basic" "token" "apikey" "api-key" "digest" "negotiate" "ntlm" "hawk" "dpop" "bot"
    "key" "oauth" "jwt" "ssws" "genie-key" "aws4-hmac-sha256"
];

/// The types of values in programs, and values that are nothing.
pub(super) const NOTHING: &[&str] = &texts![
    "" "null" "none" "None" "nil" "true" "false" "undefined" "str" "string" "String" "&str" "bytes"
    "int" "required" "optional" "usize" "u8" "u16" "u32" "u64" "i32" "i64" "float" "bool" "boolean" "text" "TEXT" "varchar" "any" "unknown" "number" "Optional[str]"
    "Option<String>" "Option<&str>" "SecretStr" "Vec<u8>" "inherit" "object" "include" "omit"
    "same-origin"
];

/// Values of names with other meanings that are no secrets.
const COMMON: &[&str] = &texts![
    "yes" "no" "on" "off" "basic" "bearer" "oauth" "oauth2" "required" "optional" "enabled"
    "disabled" "ok" "pass" "passed" "fail" "failed" "auto" "default" "always" "never" "strict" "lax"
    "digest" "token" "user" "self" "jwt" "saml" "cookie"
];

/// What is before and after a name, what the name is like, and an example.
type Reference = (&'static str, &'static str, fn(&str) -> bool, &'static str);

/// Values that stand for a secret.
#[rustfmt::skip]
pub(super) const REFERENCES: &[Reference] = &[
    ("$", "", |name| is_constant(name) || is_name(name) && names_secret(name), "$db_password"),
    ("$env:", "", is_name, "$env:DbKey"),
    ("process.env.", "", is_name, "process.env.DB_KEY"),
    ("${", "}", is_name, "${db_key}"),
    ("%", "%", is_constant, "%DB_KEY%"),
    ("${{", "}}", is_expression, "${{ secrets.DB_KEY }}"),
    ("{{", "}}", is_expression, "{{ db_key }}"),
    ("<", ">", |name| !name.contains(['=', '<', '>']), "<your password>"),
    ("[", "]", |name| ["redacted", "filtered"].contains(&&*name.to_ascii_lowercase()), "[REDACTED]"),
    ("[", "]", |name| name.len() < 8 && is_constant(name), "[PAD]"),
    ("", "", |mask| mask.chars().all(|c| "*•.x".contains(c)), "****"),
];

/// The most words, and the most bytes, of a command that are looked at.
const WORDS_MAX: usize = 16;
const LINE_MAX: usize = 1024;

/// Returns the place of the value at `at`, without what is shown of it.
pub(super) fn value(place: &Place<'_>, at: usize, form: Form) -> Option<Range<usize>> {
    let Place { text, kind, .. } = *place;
    let begin = if form == Form::Line { tagged(text, after_spaces(text, at, false)) } else { at };
    if kind == Kind::Key && !is_key(text, begin) {
        return None;
    }
    match form {
        Form::Line => {
            let is_block = match next(text, begin).map(|symbol| symbol.c) {
                None | Some('\n') => kind == Kind::Strong,
                Some(sign) => "|>".contains(sign),
            };
            let name = place.name.filter(|_| is_block);
            let below = name.and_then(|name| block(text, begin, name));
            below.or_else(|| on_line(place, begin, form))
        }
        Form::Word | Form::Argument => on_line(place, at, form),
        Form::Content => checked(text, at..until(text, at, '<'), kind, form),
        Form::Half(join) => {
            let half = run(text, at, |byte| !byte.is_ascii_whitespace(), SHORT);
            let half = at + text[at..half].find(join)? + join.len_utf8();
            let end = on_line(place, at, Form::Argument)?.end;
            checked(text, half..half.max(end), kind, Form::Argument)
        }
        Form::Last(option, least) => last(text, at, option, least),
        Form::Typed(least) => typed(text, at, least),
    }
}

/// Returns the place of a value on one line.
fn on_line(place: &Place<'_>, at: usize, form: Form) -> Option<Range<usize>> {
    let Place { text, kind, name, .. } = *place;
    let first = next(text, at).filter(|first| !"\n|>".contains(first.c))?;
    let name_end = name.map_or(at, |name| name.span.end);
    // The quotation around the name and the value: it does not end right after the name.
    let enclosing = place.previous.filter(|open| {
        open.quotes() && !next(text, name_end).is_some_and(|symbol| symbol.closes(*open))
    });
    if first.quotes() {
        let is_empty = next(text, at + first.len).is_none_or(|mark| ",;:)]}".contains(mark.c));
        let is_end = enclosing.is_some_and(|open| first.closes(open))
            || is_empty && !name.is_some_and(|name| name.is_quoted);
        return if is_end {
            None
        } else {
            checked(text, quoted(text, at, first), kind, Form::Word)
        };
    }
    if "[{".contains(first.c) && kind != Kind::Key && !rest(text, at).starts_with("{{") {
        // The names of members decide.
        if kind == Kind::Weak && first.c == '{' {
            return None;
        }
        let inside = bracketed(text, at, first);
        return Some(inside).filter(|inside| holds_secret(&text[inside.clone()], kind));
    }
    if kind == Kind::Weak && form == Form::Line && is_prose(text, at) {
        return None;
    }
    // A quotation around a word is one argument of a command.
    let is_line = form == Form::Line && kind != Kind::Key
        || form == Form::Word && enclosing.is_some_and(|open| open.c == '\'')
        || kind == Kind::Header;
    let extent = Extent { enclosing, is_line, in_list: kind != Kind::Header };
    let range = extent.of(text, at);
    let is_own = name.is_some_and(|name| repeats(text, name, range.clone()));
    if is_own { None } else { checked(text, range, kind, form) }
}

/// Returns whether the value in `range` is the variable that has the `name`: a member of the object itself gets it,
/// or a call.
fn repeats(text: &str, name: &Name, range: Range<usize>) -> bool {
    let (full, value) = (&text[name.span.clone()], &text[range.clone()]);
    let member = ["self.", "this.", "cls."].iter().find_map(|object| full.strip_prefix(object));
    let is_passed = name.previous.is_some_and(|before| before.c == '(')
        || next(text, range.end).is_some_and(|after| after.c == ')');
    let is_lower = value.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    match member {
        Some(member) => member.trim_start_matches('_') == value,
        None => is_passed && is_lower && full == value,
    }
}

/// Returns whether the `contents` of brackets are secrets, and no numbers, the name of a token or a variable.
fn holds_secret(contents: &str, kind: Kind) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_digit() || b", .-\n\t".contains(&byte);
    let is_number = kind != Kind::Strong && contents.bytes().all(is_plain);
    let is_token = kind == Kind::Token && contents.len() < 8 && is_constant(contents);
    let is_small = contents.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_variable = is_small && names_secret(contents);
    !(contents.trim().is_empty() || is_number || is_token || is_variable)
}

/// Returns the last argument of the command whose arguments begin at `at`.
fn last(text: &str, mut at: usize, option: Option<char>, least: usize) -> Option<Range<usize>> {
    let text = &text[..run(text, at, |_| true, LINE_MAX)];
    let (mut value, mut count, mut is_meant) = (0..0, 0, option.is_none());
    for _ in 0..WORDS_MAX {
        let Some(begin) = next_argument(text, at) else { break };
        let argument = match next(text, begin).filter(|symbol| symbol.quotes()) {
            Some(open) => begin + open.len..quotation(text, open, begin + open.len).0,
            None => Extent::WORD.of(text, begin),
        };
        // In a list, the comma comes after the mark.
        let is_listed = next(text, at).is_some_and(Symbol::quotes);
        at = if is_listed { argument.end } else { Extent::WORD.of(text, begin).end };
        if let Some(letters) = text[argument.clone()].strip_prefix('-') {
            let is_long = letters.starts_with('-');
            is_meant |= !is_long && option.is_some_and(|option| letters.contains(option));
        } else {
            (value, count) = (argument, count + 1);
        }
    }
    let is_value = is_meant && count >= least && !text[value.clone()].contains(['=', '$', '•']);
    is_value.then_some(value)
}

/// Returns what the quotation at `at` has before the escape of a return.
fn typed(text: &str, at: usize, least: usize) -> Option<Range<usize>> {
    let text = &text[..run(text, at, |_| true, LINE_MAX)];
    let open = next(text, at)?;
    let inside = at + open.len;
    let typed = &text[inside..quotation(text, open, inside).0];
    let bare = typed.strip_suffix(['r', 'n']).filter(|bare| bare.ends_with('\\'));
    let line = bare.unwrap_or(typed).trim_end_matches(['\\', '\r', '\n']);
    let is_long = line.len() >= least && line.len() < typed.len();
    let is_secret = is_long && (least == 1 || !line.contains(char::is_whitespace));
    (is_secret && !line.starts_with('$')).then_some(inside..inside + line.len())
}

/// Returns whether a value that looks random begins at `at`.
fn is_key(text: &str, at: usize) -> bool {
    let begin = at + next(text, at).filter(|symbol| symbol.quotes()).map_or(0, |mark| mark.len);
    let class: Class = |byte| LETTERS(byte) || b"+/=_-.~".contains(&byte);
    is_random(&text[begin..run(text, begin, class, SHORT)], 16)
}

/// Returns whether a sentence begins at `at`: several words, none of which looks random.
fn is_prose(text: &str, at: usize) -> bool {
    let line = &text[at..run(text, at, |byte| byte != b'\n', SHORT)];
    line.contains(' ') && !line.split(' ').any(|word| is_random(word, 5))
}

/// Returns the place after the tag or the anchor of a YAML value at `at`, if there is one.
fn tagged(text: &str, at: usize) -> usize {
    let class: Class = |byte| LETTERS(byte) || b"!&_-:/".contains(&byte);
    let end = if rest(text, at).starts_with(['!', '&']) { run(text, at, class, SHORT) } else { at };
    if next(text, end).is_some_and(Symbol::is_space) { after_spaces(text, end, false) } else { at }
}

/// Returns `range` without the scheme of a credential, which is no secret.
fn after_scheme(text: &str, range: Range<usize>) -> Range<usize> {
    let value = &text[range.clone()];
    let Some((scheme, credential)) = value.split_once([' ', '\t']) else { return range };
    let credential = credential.trim_start();
    let is_known = SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    if !is_known || credential.is_empty() { range } else { range.end - credential.len()..range.end }
}

/// Returns the secret in `range` if its text is one of this kind, and no reference to one.
pub(super) fn checked(
    text: &str,
    range: Range<usize>,
    kind: Kind,
    form: Form,
) -> Option<Range<usize>> {
    let range = if kind == Kind::Header { after_scheme(text, range) } else { range };
    let bare =
        text.get(range.clone())?.trim().trim_end_matches([',', ';']).trim_matches(['"', '\'']);
    let is_short = bare.len() < SHORT;
    let is_expression = || is_reference(bare) || form != Form::Argument && is_call(bare, kind);
    if NOTHING.contains(&bare) || is_short && is_expression() {
        return None;
    }
    let is_number = bare.bytes().all(|byte| byte.is_ascii_digit() || b".,_".contains(&byte));
    let is_common = || COMMON.iter().any(|common| common.eq_ignore_ascii_case(bare));
    let is_path = bare.starts_with(['/', '~', '.']) || bare.get(1..3) == Some(":\\");
    let is_secret = match kind {
        Kind::Strong | Kind::Key => true,
        Kind::Header => !is_common(),
        Kind::Token => !(is_number && bare.len() < 6),
        Kind::Weak => {
            let is_long = bare.chars().count() >= 3 && !(is_number && bare.len() < 4);
            is_long && !(is_path && is_short) && !is_common()
        }
    };
    is_secret.then_some(range)
}

/// Returns whether `value` is the name of a place that holds a secret, or a mask.
pub(super) fn is_reference(value: &str) -> bool {
    REFERENCES.iter().any(|(open, close, is, _)| {
        let name = value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        name.is_some_and(is)
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| LETTERS(byte) || byte == b'_')
}

fn is_constant(name: &str) -> bool {
    is_name(name) && !name.bytes().any(|byte| byte.is_ascii_lowercase())
}

fn names_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["token", "password", "secret", "key"].iter().any(|end| lower.ends_with(end))
}

fn is_expression(name: &str) -> bool {
    !name.contains(['\'', '"', '{', '}'])
}

/// Returns whether `value` is a call in a program: a path of names and a parenthesis.
fn is_call(value: &str, kind: Kind) -> bool {
    let Some((path, _)) = value.split_once(['(', '[']) else { return false };
    let is_part = |byte: u8| byte.is_ascii_lowercase() || b"_.:".contains(&byte);
    !path.is_empty()
        && path.bytes().all(is_part)
        && (path.contains(['.', '_'])
            || path.contains("::")
            || value.contains("()")
            || matches!(kind, Kind::Token | Kind::Weak) && value.ends_with([')', ']']))
}

/// The longest value, in bytes, that is read twice.
pub(super) const SHORT: usize = 200;

/// The most symbols of a name after which another value begins.
const NAME_MAX: usize = 64;

/// The signs at which a value ends.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// The quotation around the value.
    pub(super) enclosing: Option<Symbol>,
    /// The value goes on over spaces.
    pub(super) is_line: bool,
    /// Another name and value may follow after punctuation.
    pub(super) in_list: bool,
}

impl Extent {
    /// The extent of a word.
    pub(super) const WORD: Self = Self { enclosing: None, is_line: false, in_list: true };

    /// Returns the place of the value at `at`, with its quoted parts. It goes on over punctuation, because a password
    /// may contain it.
    pub(super) fn of(self, text: &str, at: usize) -> Range<usize> {
        let (mut end, mut depth, mut previous) = (at, 0_usize, None);
        while let Some(symbol) = next(text, end) {
            let after = end + symbol.len;
            if symbol.c == '\n'
                || symbol.is_space() && !self.is_line && depth == 0
                || self.enclosing.is_some_and(|open| symbol.closes(open))
                || self.in_list && end > at && self.begins_other(text, after, symbol)
                || is_tag(text, end)
            {
                break;
            }
            let before = previous.replace(symbol.c);
            if symbol.quotes() && !(self.is_line && self.enclosing.is_some()) {
                let is_opening = !self.is_line || before == Some('=');
                let is_closing = if self.is_line {
                    !is_opening && (symbol.c == '"' || before != Some(' '))
                } else {
                    end > at && depth == 0
                };
                if is_closing && ends(text, after) || symbol.c == '`' && !self.is_line {
                    break;
                }
                if is_opening {
                    end = quotation(text, symbol, after).1;
                    continue;
                }
            }
            match symbol.c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            // A backslash keeps a space in the word.
            let is_kept = symbol.c == '\\' && rest(text, after).starts_with(' ');
            end = after + usize::from(is_kept);
        }
        trimmed(text, at..end)
    }

    /// Returns whether another name and its sign follow the punctuation `symbol`, which ends at `at`.
    fn begins_other(self, text: &str, at: usize, symbol: Symbol) -> bool {
        if !",;&?".contains(symbol.c) || symbol.c == '?' && self.is_line {
            return false;
        }
        let mut place = if self.is_line { after_spaces(text, at, false) } else { at };
        let begin = place;
        let mut has_space = false;
        for _ in 0..NAME_MAX {
            let Some(part) = next(text, place) else { return false };
            match part.c {
                // A name in the address of a database may have several words.
                ' ' if symbol.c == ';' && place > begin => has_space = true,
                '-' | '.' if place > begin => {}
                '=' | ':' => return place > begin && !(part.c == ':' && has_space),
                c if c.is_alphanumeric() || c == '_' || part.quotes() => {}
                _ => return false,
            }
            place += part.len;
        }
        false
    }
}

/// Returns the contents of the quotation that `open` begins at `at`.
pub(super) fn quoted(text: &str, at: usize, open: Symbol) -> Range<usize> {
    let is_mark = |symbol: &Symbol| symbol.c == open.c && symbol.level == open.level;
    let triple = |at: usize| {
        (0..3).try_fold(at, |at, _| next(text, at).filter(is_mark).map(|mark| at + mark.len))
    };
    if let Some(begin) = triple(at) {
        let mut end = begin;
        while let Some(symbol) = next(text, end).filter(|_| triple(end).is_none()) {
            end += symbol.len;
        }
        return begin..end;
    }
    let inside = at + open.len;
    let (mut end, mut after) = quotation(text, open, inside);
    // In YAML a doubled mark is a part, and in a shell the next part follows.
    while end < after
        && let Some(symbol) = next(text, after)
    {
        let part = after + symbol.len;
        if symbol.c == '\'' && open.c == '\'' && symbol.level > open.level {
            (end, after) = quotation(text, open, part + 1);
        } else if symbol.quotes() && (!ends(text, part) || symbol.c == '\'' && open.c == '\'') {
            (end, after) = quotation(text, symbol, part);
        } else {
            if symbol.c.is_alphanumeric() && open.level == 0 && open.c != '`' {
                end = Extent::WORD.of(text, after).end;
            }
            break;
        }
    }
    inside..end
}

/// Returns the contents of the brackets that `open` begins at `at`.
pub(super) fn bracketed(text: &str, at: usize, open: Symbol) -> Range<usize> {
    let (mut depth, mut end) = (0_usize, at);
    while let Some(symbol) = next(text, end) {
        match symbol.c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            '"' => {
                end = quotation(text, symbol, end + symbol.len).1;
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
        end += symbol.len;
    }
    at + open.len..end
}

/// Returns the lines below `at` that belong to `name`: those that are indented more, and its items. Nothing but the
/// sign of a block is at `at`.
pub(super) fn block(text: &str, at: usize, name: &Name) -> Option<Range<usize>> {
    let indent = name.indent?;
    let sign = run(text, at, |byte| b"|>-+".contains(&byte) || byte.is_ascii_digit(), 4);
    let mut place = after_spaces(text, sign, false);
    let (mut start, mut end) = (None, place);
    // At the place is a line break, or a second half of one.
    while let Some(newline) = next(text, place).filter(|symbol| symbol.c == '\n') {
        let begin = place + newline.len;
        let first = after_spaces(text, begin, false);
        let Some(symbol) = next(text, first) else { break };
        if symbol.c == '\n' {
            place = first;
            continue;
        }
        let columns = first - begin;
        let is_item = columns == indent && rest(text, first).starts_with("- ");
        if columns <= indent && !is_item || symbol.quotes() && ends(text, first + symbol.len) {
            break;
        }
        start.get_or_insert(first);
        let line = Extent { enclosing: None, is_line: true, in_list: false };
        end = line.of(text, first).end.max(first);
        place = after_spaces(text, end, false);
    }
    Some(start?..end)
}

/// Returns the place of the first `c` at `at` or later.
pub(super) fn until(text: &str, mut at: usize, c: char) -> usize {
    while let Some(symbol) = next(text, at).filter(|symbol| symbol.c != c) {
        at += symbol.len;
    }
    at
}

/// Returns whether the tag of an element is at `at`.
fn is_tag(text: &str, at: usize) -> bool {
    let is_name = |symbol: Symbol| symbol.c == '/' || symbol.c.is_ascii_alphabetic();
    next(text, at)
        .filter(|open| open.c == '<')
        .is_some_and(|open| next(text, at + open.len).is_some_and(is_name))
}

/// Returns whether nothing follows at `at` that belongs to a word.
fn ends(text: &str, at: usize) -> bool {
    next(text, at)
        .is_none_or(|symbol| symbol.is_space() || ",:;)}]>|&".contains(symbol.c) || symbol.quotes())
}

/// Returns `range` without the spaces and the punctuation after a value. A value of punctuation stays whole.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let mut value = text[range.clone()].trim_end();
    let whole = value.len();
    while let Some(c) = value.chars().next_back() {
        // A closing bracket belongs to the value if the opening one does.
        let is_alone =
            |open| value.len() >= SHORT || value.matches(open).count() < value.matches(c).count();
        let is_punctuation = match c {
            ')' => is_alone('('),
            ']' => is_alone('['),
            '}' => is_alone('{'),
            '>' => is_alone('<'),
            c => c.is_whitespace() || ",;.\\".contains(c),
        };
        if !is_punctuation {
            break;
        }
        value = &value[..value.len() - c.len_utf8()];
    }
    range.start..range.start + if value.is_empty() { whole } else { value.len() }
}
