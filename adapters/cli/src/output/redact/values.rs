//! Finds the value that follows a name.

use std::ops::Range;

use super::names::{Kind, Name, is_of_parser, labels_secret};
use super::shapes::is_random;
use super::symbol::{Symbol, after_spaces, quotation, symbol};

/// The words before a credential in a header.
const SCHEMES: &[&str] = &texts![
    "bearer" "basic" "token" "apikey" "api-key" "digest" "negotiate" "ntlm" "hawk" "dpop" "bot"
    "key" "oauth" "jwt" "ssws" "genie-key" "aws4-hmac-sha256"
];

/// Values that are no secrets.
const NOTHING: &[&str] = &texts![
    "" "null" "none" "nil" "true" "false" "undefined" "str" "string" "String" "&str" "bytes" "int"
    "bool" "boolean" "text" "TEXT" "varchar" "any" "unknown" "number" "Optional[str]"
    "Option<String>" "SecretStr" "Vec<u8>" "inherit" "object" "include" "omit" "same-origin"
];

/// Types of values in programs, and values that are nothing.
const TYPES: &[&str] = &texts![
    "str" "string" "String" "&str" "bytes" "bool" "boolean" "SecretStr" "Optional[str]"
    "Option<String>" "Option<&str>" "Vec<u8>" "null" "None" "nil" "undefined" "true" "false"
];

/// Values of names with other meanings that are no secrets.
const COMMON: &[&str] = &[
    "yes", "no", "on", "off", "basic", "bearer", "oauth", "oauth2", "required", "optional",
    "enabled", "disabled", "ok", "pass", "passed", "fail", "failed", "auto", "default", "always",
    "never", "strict", "lax", "digest", "token", "user", "self", "jwt", "saml", "cookie",
];

/// Words after an option in a sentence about it.
const PROSE: &[&str] = &texts![
    "flag" "option" "options" "argument" "parameter" "or" "and" "is" "to" "for" "in" "on" "if"
    "when" "as" "with"
];

/// The way that a name and its value are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sep {
    /// A colon and a space: the value may have several words.
    Line,
    /// A sign without spaces: the value is one word.
    Word,
    /// A space. The value is the next argument.
    Argument,
}

/// The longest value, in bytes, that may be a reference to a secret. Longer values are not read twice.
const SHORT: usize = 200;

/// The most symbols of a name after which another value begins.
const AHEAD: usize = 64;

/// Returns the place of the secret that belongs to `name`. The word `before` is the one before the name.
pub(super) fn of(
    text: &str,
    name: &Name,
    kind: Kind,
    before: Option<&Name>,
) -> Option<Range<usize>> {
    if let Some(range) = element(text, name) {
        let is_key = kind != Kind::Key || is_key(text, range.start);
        return checked(text, range, kind, Sep::Line).filter(|_| is_key);
    }
    if let Some(segment) = segment(text, name.span.end).filter(|_| kind != Kind::Weak) {
        return Some(segment);
    }
    let (sep, at) = separator(text, name, kind, before)?;
    if kind == Kind::Token && sep == Sep::Line && before.is_some_and(is_of_parser) {
        let word = word(text, at, None);
        return is_random(&text[word.clone()], 8).then_some(word);
    }
    value(text, at, name, kind, sep)
}

/// The shortest key in a path. It has no sign.
const SEGMENT_MIN: usize = 20;

/// Returns the place of the segment of a path at `at` if it is a key, as in `/private_key/3f2a…`.
fn segment(text: &str, at: usize) -> Option<Range<usize>> {
    let path = rest(text, at).strip_prefix(['/', '\\'])?;
    let length = path.bytes().take(SHORT).take_while(u8::is_ascii_alphanumeric).count();
    is_random(&path[..length], SEGMENT_MIN).then_some(at + 1..at + 1 + length)
}

/// Returns the separator after `name`, and the place of the value.
fn separator(text: &str, name: &Name, kind: Kind, before: Option<&Name>) -> Option<(Sep, usize)> {
    let mut at = name.span.end;
    let quoted = next(text, at).filter(|symbol| symbol.quotes());
    let mut close = |c: &dyn Fn(Symbol) -> bool| {
        if let Some(symbol) = next(text, at).filter(|symbol| c(*symbol)) {
            at += symbol.len;
        }
    };
    close(&|symbol| symbol.quotes());
    close(&|symbol| symbol.c == ']');
    close(&|symbol| symbol.quotes());
    close(&|symbol| symbol.c == '?');
    let begin = at;
    let at = after_spaces(text, at, quoted.is_some());
    let is_spaced = at > begin;
    let symbol = next(text, at)?;
    let after = at + symbol.len;
    let then = next(text, after);
    match symbol.c {
        ':' if then.is_some_and(|then| then.c == ':') => None,
        ':' if rest(text, after).starts_with("//") => None,
        // The path of a file, with a message.
        ':' if is_path(text, name) && quoted.is_none() => None,
        ':' if then.is_some_and(|then| then.c == '=') => {
            Some((Sep::Line, after_sign(text, after + 1)))
        }
        ':' if then.is_some_and(Symbol::is_space) || quoted.is_some() => {
            Some((Sep::Line, after_sign(text, after)))
        }
        ':' => Some((Sep::Word, after)),
        '=' => {
            let many =
                rest(text, after).bytes().take(3).take_while(|byte| b"=>~".contains(byte)).count();
            let value = after_sign(text, after + many);
            Some((if is_spaced || value > after + many { Sep::Line } else { Sep::Word }, value))
        }
        '-' if rest(text, after).starts_with('>') && is_spaced => {
            Some((Sep::Line, after_sign(text, after + 1)))
        }
        // A call: `setPassword("…")`.
        '(' if !is_spaced && name.sets() && then.is_some_and(Symbol::quotes) => {
            Some((Sep::Word, after))
        }
        // An option in a list of arguments, in JSON or on lines of YAML.
        ',' if name.is_option && quoted.is_some() => {
            let value = after_spaces(text, after, true);
            next(text, value).filter(|symbol| symbol.quotes()).map(|_| (Sep::Argument, value))
        }
        // The first argument of a function that sets a header or a variable.
        ',' if name.previous.is_some_and(|mark| {
            mark.quotes() && text[..name.span.start - mark.len].ends_with('(')
        }) =>
        {
            let value = after_spaces(text, after, true);
            next(text, value).filter(|symbol| symbol.quotes()).map(|_| (Sep::Argument, value))
        }
        '\n' if name.is_option => {
            let item = after_spaces(text, at, true);
            let item =
                rest(text, item).starts_with("- ").then(|| after_spaces(text, item + 1, false));
            item.map(|value| (Sep::Argument, value))
        }
        _ if is_spaced && quoted.is_none() => spaced(text, at, name, kind, before),
        _ => None,
    }
}

/// Returns whether the name is a part of a path. An option of Windows is none.
fn is_path(text: &str, name: &Name) -> bool {
    let before = &text[..name.span.start];
    let is_option = before.ends_with(" /")
        && next(text, name.span.end + 1).is_some_and(|symbol| !symbol.is_space());
    before.ends_with(['/', '\\']) && !is_option
}

/// Returns the value after a name and a space.
fn spaced(
    text: &str,
    at: usize,
    name: &Name,
    kind: Kind,
    before: Option<&Name>,
) -> Option<(Sep, usize)> {
    let ahead = rest(text, at);
    let is_word = |word: &&str| ahead.starts_with(*word) && !continues(&ahead[word.len()..]);
    if name.is_option {
        let is_option = ahead.starts_with("--")
            || ahead.starts_with('-') && !continues(ahead.get(2..).unwrap_or(""));
        let is_other = ahead.starts_with(['|', '>', '<', '&', ';', ')', ',', '.'])
            || PROSE.iter().any(is_word);
        return (!is_option && !is_other).then_some((Sep::Argument, at));
    }
    let is_after = |words: &[&str]| before.is_some_and(|before| before.is_any(words));
    let is_quoted = next(text, at).is_some_and(Symbol::quotes);
    match kind {
        // `export`, `setenv` and `ENV` of other shells and files.
        _ if is_after(&["setenv", "env", "arg", "gx", "x", "ux"]) => Some((Sep::Argument, at)),
        Kind::Strong | Kind::Token | Kind::Weak
            if is_after(&["git", "config", "set"]) && !name.is("password") && !name.is("token") =>
        {
            Some((Sep::Argument, at))
        }
        // `login me password …` in `.netrc`, where the name follows a value.
        Kind::Strong if name.is_any(&["password", "passwd"]) && is_netrc(text, name) => {
            Some((Sep::Argument, at))
        }
        Kind::Strong
            if is_quoted
                && is_after(&texts![
                    "identified" "define" "with" "encrypted" "set" "the" "my" "your" "a" "new" "old"
                    "by" "using"
                ]) =>
        {
            Some((Sep::Argument, at))
        }
        // The configuration of npm.
        Kind::Token if name.previous.is_some_and(|symbol| symbol.c == ':') => {
            Some((Sep::Argument, at))
        }
        Kind::Strong if ahead.starts_with("for ") => {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.@'\"".contains(byte);
            let colon = at + ahead.bytes().take(AHEAD).take_while(is_part).count();
            rest(text, colon).starts_with(": ").then_some((Sep::Line, colon + 2))
        }
        Kind::Strong
            if name.is_any(&["password", "passwd", "passphrase", "passwort"])
                && is_random(&text[word(text, at, None)], 6) =>
        {
            Some((Sep::Argument, at))
        }
        Kind::Strong | Kind::Token => {
            let verb = ["is ", "was ", "IS "].into_iter().find(|verb| ahead.starts_with(verb))?;
            let value = at + verb.len();
            let is_value = next(text, value).is_some_and(Symbol::quotes)
                || is_random(&text[word(text, value, None)], 5);
            is_value.then_some((Sep::Argument, value))
        }
        _ => None,
    }
}

/// Returns whether `login` and a word, or `default`, are before the name.
fn is_netrc(text: &str, name: &Name) -> bool {
    let start = name.span.start;
    let begin = (start.saturating_sub(AHEAD * 2)..start).find(|at| text.is_char_boundary(*at));
    let mut words = text[begin.unwrap_or(start)..start].split_ascii_whitespace().rev();
    let (word, before) = (words.next(), words.next());
    let is_key = |word: Option<&str>| {
        word.is_some_and(|word| {
            // A line break may be an escape.
            ["login", "machine", "account", "default", "user"].iter().any(|key| word.ends_with(key))
        })
    };
    is_key(before) || word.is_some_and(|word| word.ends_with("default"))
}

/// Returns the place of the contents of an XML element that `name` opens.
fn element(text: &str, name: &Name) -> Option<Range<usize>> {
    let at = name.span.end;
    // A property list: the key of a string.
    if rest(text, at).starts_with("</key>") {
        let value = after_spaces(text, at + "</key>".len(), true);
        let open = rest(text, value).strip_prefix("<string>").map(|_| value + "<string>".len())?;
        return Some(open..until(text, open, '<'));
    }
    let before = text[..name.span.start].trim_end_matches(':');
    let space = before.bytes().rev().take(AHEAD).take_while(u8::is_ascii_alphanumeric).count();
    let is_spaced = before.len() < name.span.start && before[..before.len() - space].ends_with('<');
    if !before.ends_with('<') && !is_spaced {
        return None;
    }
    let mut place = at;
    for _ in 0..AHEAD * 2 {
        let symbol = next(text, place)?;
        place += symbol.len;
        match symbol.c {
            '>' => return Some(place..until(text, place, '<')),
            '<' | '/' | '\n' => return None,
            // Between the name and its attributes is a space.
            c if place == at + symbol.len && !c.is_whitespace() => return None,
            _ => {}
        }
    }
    None
}

/// Returns the place of the contents of an element if its attribute `label` ends its tag.
pub(super) fn after_tag(text: &str, label: &Range<usize>) -> Option<Range<usize>> {
    let end = label.end + next(text, label.end).filter(|symbol| symbol.quotes())?.len;
    let begin = end + next(text, end).filter(|symbol| symbol.c == '>')?.len;
    checked(text, begin..until(text, begin, '<'), Kind::Strong, Sep::Line)
}

/// Returns the place of the first `c` at `at` or later.
fn until(text: &str, mut at: usize, c: char) -> usize {
    while let Some(symbol) = next(text, at).filter(|symbol| symbol.c != c) {
        at += symbol.len;
    }
    at
}

/// Returns the place of the value at `at`, without what is shown of it.
fn value(text: &str, at: usize, name: &Name, kind: Kind, sep: Sep) -> Option<Range<usize>> {
    let at = tagged(text, at);
    let at = if sep == Sep::Line { after_type(text, at)? } else { at };
    let first = next(text, at);
    let is_end = first.is_none_or(|symbol| symbol.c == '\n');
    if is_end || first.is_some_and(|symbol| "|>".contains(symbol.c)) {
        let is_block = sep == Sep::Line && (!is_end || kind == Kind::Strong);
        return if is_block { block(text, at, name) } else { None };
    }
    let first = first?;
    let is_quoted = next(text, name.span.end).is_some_and(Symbol::quotes);
    let enclosing = name.previous.filter(|symbol| symbol.quotes()).filter(|open| {
        // The quotation ends right after a quoted name.
        !next(text, name.span.end).is_some_and(|symbol| symbol.closes(*open))
    });
    if kind == Kind::Key && !is_key(text, at) {
        return None;
    }
    if first.quotes() {
        let is_end = enclosing.is_some_and(|open| first.closes(open))
            || !is_quoted && !is_open(text, at, first);
        return if is_end { None } else { quoted(text, at, first, kind) };
    }
    if "[{".contains(first.c) && kind != Kind::Key && !rest(text, at).starts_with("{{") {
        return brackets(text, at, kind);
    }
    if kind == Kind::Header {
        let line = line(text, at, enclosing, false);
        return checked(text, after_scheme(text, line), kind, sep);
    }
    if kind == Kind::Weak && sep == Sep::Line && is_prose(text, at) {
        return None;
    }
    let range = match sep {
        Sep::Line if kind != Kind::Key => line(text, at, enclosing, true),
        // The quotation is one argument of a command.
        Sep::Word if enclosing.is_some_and(|open| open.c == '\'') => {
            line(text, at, enclosing, true)
        }
        _ => word(text, at, enclosing),
    };
    checked(text, range, kind, sep)
}

/// Returns whether a value that looks random begins at `at`.
fn is_key(text: &str, at: usize) -> bool {
    let begin = next(text, at).filter(|symbol| symbol.quotes()).map_or(at, |mark| at + mark.len);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-.~".contains(byte);
    let long = rest(text, begin).bytes().take(SHORT).take_while(is_part).count();
    is_random(&text[begin..begin + long], 16)
}

/// Returns whether a sentence begins at `at`: several words, none of which looks random.
fn is_prose(text: &str, at: usize) -> bool {
    let mut line = rest(text, at).lines().next().unwrap_or_default();
    if let Some((short, _)) =
        line.char_indices().nth(SHORT).and_then(|(end, _)| line.split_at_checked(end))
    {
        line = short;
    }
    line.contains(' ') && !line.split(' ').any(|word| is_random(word, 5))
}

/// Returns whether the quotation mark at `at` opens a quotation: its value is not empty.
fn is_open(text: &str, at: usize, mark: Symbol) -> bool {
    next(text, at + mark.len).is_some_and(|symbol| !",;:)]}".contains(symbol.c))
}

/// Returns the place of the value after a type, as in `password: str = "…"`, or `None` if only a type is there.
fn after_type(text: &str, at: usize) -> Option<usize> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_[]<>&?".contains(byte);
    let end = at + rest(text, at).bytes().take(AHEAD).take_while(is_part).count();
    if !TYPES.contains(&&text[at..end]) {
        return Some(at);
    }
    let after = after_spaces(text, end, false);
    match next(text, after).map(|symbol| symbol.c) {
        Some('=') => Some(after_spaces(text, after + 1, false)),
        None | Some('\n' | ')' | ',' | ';' | '}' | '|') => None,
        Some(_) => Some(at),
    }
}

/// Returns the place after spaces, and after the tag or the anchor of a YAML value.
fn after_sign(text: &str, at: usize) -> usize {
    after_spaces(text, at, false)
}

fn tagged(text: &str, at: usize) -> usize {
    let rest = rest(text, at);
    if !rest.starts_with(['!', '&']) {
        return at;
    }
    let tag = rest
        .bytes()
        .take(AHEAD)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"!&_-:/".contains(byte));
    let end = at + tag.count();
    if next(text, end).is_some_and(Symbol::is_space) { after_spaces(text, end, false) } else { at }
}

/// Returns the lines of a block that belongs to `name`: those that are indented more.
fn block(text: &str, at: usize, name: &Name) -> Option<Range<usize>> {
    let indent = name.indent?;
    // The sign of a block scalar is alone on its line.
    let sign =
        rest(text, at).bytes().take(4).take_while(|byte| b"|>-+0123456789".contains(byte)).count();
    let mut place = after_spaces(text, at + sign, false);
    next(text, place).filter(|symbol| symbol.c == '\n')?;
    let (mut start, mut end) = (None, place);
    // At the place is a line break, or a second half of one.
    while let Some(newline) = next(text, place).filter(|symbol| symbol.c == '\n') {
        let begin = place + newline.len;
        let mut columns = 0;
        let mut first = begin;
        while let Some(space) = next(text, first).filter(|symbol| " \t".contains(symbol.c)) {
            columns += 1;
            first += space.len;
        }
        let is_item = columns == indent && rest(text, first).starts_with("- ");
        match next(text, first) {
            Some(symbol) if symbol.c == '\n' => {
                place = first;
                continue;
            }
            Some(symbol)
                if (columns > indent || is_item)
                    && !(symbol.quotes() && ends(text, first + symbol.len)) => {}
            _ => break,
        }
        start.get_or_insert(first);
        place = line(text, first, None, false).end.max(first);
        end = place;
        place = after_spaces(text, place, false);
    }
    Some(start?..end)
}

/// Returns the contents of the quotation that `open` begins at `at`.
fn quoted(text: &str, at: usize, open: Symbol, kind: Kind) -> Option<Range<usize>> {
    let triple = |at: usize| {
        let mut place = at;
        (0..3).all(|_| match next(text, place) {
            Some(symbol) if symbol.c == open.c && symbol.level == open.level => {
                place += symbol.len;
                true
            }
            _ => false,
        })
    };
    let inside = at + open.len;
    if triple(at) {
        let begin = at + 3 * open.len;
        let mut end = begin;
        while let Some(symbol) = next(text, end).filter(|_| !triple(end)) {
            end += symbol.len;
        }
        return checked(text, begin..end, kind, Sep::Line);
    }
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
        } else if symbol.c.is_alphanumeric() && open.level == 0 && open.c != '`' {
            end = word(text, after, None).end;
            break;
        } else {
            break;
        }
    }
    let range = inside..end;
    if kind == Kind::Header {
        return checked(text, after_scheme(text, range), kind, Sep::Word);
    }
    checked(text, range, kind, Sep::Word)
}

/// Returns the contents of the brackets that open at `at`.
fn brackets(text: &str, at: usize, kind: Kind) -> Option<Range<usize>> {
    let open = next(text, at)?;
    let inside = at + open.len;
    if kind == Kind::Weak && open.c == '{' {
        // The names of its members decide.
        return None;
    }
    let (mut depth, mut place) = (0_usize, at);
    while let Some(symbol) = next(text, place) {
        match symbol.c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            '"' => {
                place = quotation(text, symbol, place + symbol.len).1;
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
        place += symbol.len;
    }
    let contents = &text[inside..place];
    let is_plain = contents.chars().all(|c| c.is_ascii_digit() || ", .-\n\t".contains(c));
    if is_plain && kind != Kind::Strong || contents.trim().is_empty() {
        return None;
    }
    // The name of a token of a language model.
    if kind == Kind::Token
        && contents.len() < 8
        && contents.bytes().all(|byte| byte.is_ascii_uppercase())
    {
        return None;
    }
    Some(inside..place)
}

/// Returns the place of a word at `at`, with its quoted parts. `enclosing` is the quotation around it.
///
/// A word goes on over punctuation, because a password may contain it, unless another name and value follow.
pub(super) fn word(text: &str, at: usize, enclosing: Option<Symbol>) -> Range<usize> {
    let mut end = at;
    let mut depth = 0_usize;
    while let Some(symbol) = next(text, end) {
        let is_between = symbol.is_space() && (depth == 0 || symbol.c == '\n');
        if is_between || enclosing.is_some_and(|open| symbol.closes(open)) {
            break;
        }
        let after = end + symbol.len;
        match symbol.c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if symbol.quotes() {
            if end > at && depth == 0 && ends(text, after) || symbol.c == '`' {
                break;
            }
            end = quotation(text, symbol, after).1;
            continue;
        }
        if ",;&?".contains(symbol.c) && end > at && begins_member(text, after, symbol.c == ';')
            || is_tag(text, end)
        {
            break;
        }
        end = after;
        // A backslash keeps a space in the word.
        if symbol.c == '\\' && next(text, end).is_some_and(|space| space.c == ' ') {
            end += 1;
        }
    }
    trimmed(text, at..end)
}

/// Returns the place of the rest of the line at `at`, or of the quotation around it. If `in_list`, another name
/// after a comma ends it.
fn line(text: &str, at: usize, enclosing: Option<Symbol>, in_list: bool) -> Range<usize> {
    let mut end = at;
    let mut previous = None;
    while let Some(symbol) = next(text, end) {
        if symbol.c == '\n'
            || enclosing.is_some_and(|open| symbol.closes(open))
            || is_tag(text, end)
        {
            break;
        }
        let after = end + symbol.len;
        if symbol.quotes() && enclosing.is_none() {
            if previous == Some('=') {
                end = quotation(text, symbol, after).1;
                previous = None;
                continue;
            }
            if ends(text, after) && (symbol.c == '"' || previous != Some(' ')) {
                break;
            }
        }
        if in_list
            && ",;&".contains(symbol.c)
            && begins_member(text, after_spaces(text, after, false), symbol.c == ';')
        {
            break;
        }
        previous = Some(symbol.c);
        end = after;
    }
    trimmed(text, at..end)
}

/// Returns whether a name and a separator are at `at`. A name may have several words if it `is_spaced`, as in
/// the address of a database.
fn begins_member(text: &str, at: usize, is_spaced: bool) -> bool {
    let mut place = at;
    let mut has_space = false;
    for n in 0..AHEAD {
        let Some(symbol) = next(text, place) else { return false };
        match symbol.c {
            ' ' if is_spaced && n > 0 => has_space = true,
            c if c.is_alphanumeric() || "_-.".contains(c) && n > 0 || c == '_' => {}
            _ if symbol.quotes() => {}
            '=' => return n > 0,
            ':' => return n > 0 && !has_space,
            _ => return false,
        }
        place += symbol.len;
    }
    false
}

/// Returns whether the tag of an element is at `at`.
fn is_tag(text: &str, at: usize) -> bool {
    next(text, at).is_some_and(|symbol| {
        symbol.c == '<'
            && rest(text, at + symbol.len)
                .starts_with(|c: char| c == '/' || c.is_ascii_alphabetic())
    })
}

/// Returns whether nothing follows at `at` that belongs to a word.
fn ends(text: &str, at: usize) -> bool {
    next(text, at)
        .is_none_or(|symbol| symbol.is_space() || ",:;)}]>|&".contains(symbol.c) || symbol.quotes())
}

/// Returns `range` without the spaces and the punctuation after a value.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let value = &text[range.clone()];
    let mut short = value;
    while let Some(c) = short.chars().next_back() {
        let open = match c {
            ')' => '(',
            ']' => '[',
            '}' => '{',
            '>' => '<',
            c if c.is_whitespace() || ",;.\\".contains(c) => {
                short = &short[..short.len() - c.len_utf8()];
                continue;
            }
            _ => break,
        };
        // A closing bracket belongs to the value if the opening one does.
        if short.len() < SHORT && short.matches(open).count() >= short.matches(c).count() {
            break;
        }
        short = &short[..short.len() - c.len_utf8()];
    }
    // A value of punctuation only stays whole.
    let short = if short.is_empty() { value.trim_end() } else { short };
    range.start..range.start + short.len()
}

/// Returns `range` without the scheme of a credential, which is no secret.
fn after_scheme(text: &str, range: Range<usize>) -> Range<usize> {
    let value = &text[range.clone()];
    let Some((scheme, credential)) = value.split_once([' ', '\t']) else { return range };
    let is_known = SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    if !is_known || credential.trim().is_empty() {
        return range;
    }
    let spaces = credential.len() - credential.trim_start().len();
    range.start + scheme.len() + 1 + spaces..range.end
}

/// Returns `range` if its text is a secret of this kind, and no reference to one.
fn checked(text: &str, range: Range<usize>, kind: Kind, sep: Sep) -> Option<Range<usize>> {
    let value = text.get(range.clone())?;
    let bare = value.trim().trim_end_matches([',', ';']).trim_matches(['"', '\'']);
    let is_short = bare.len() < SHORT;
    let is_expression = || is_reference(bare) || sep != Sep::Argument && is_call(bare);
    if NOTHING.contains(&bare) || is_short && is_expression() {
        return None;
    }
    let is_number = bare.bytes().all(|byte| byte.is_ascii_digit() || b".,_".contains(&byte));
    let is_common = COMMON.iter().any(|common| common.eq_ignore_ascii_case(bare));
    let is_secret = match kind {
        // The beginning of a key was looked at.
        Kind::Strong | Kind::Key => true,
        Kind::Header => !is_common,
        Kind::Token => !(is_number && bare.len() < 6 || is_model_token(bare)),
        Kind::Weak => {
            let is_path = bare.starts_with(['/', '~', '.']) || bare.get(1..3) == Some(":\\");
            let is_path = is_path && bare.len() < SHORT;
            let is_short = bare.chars().count() < 3 || is_number && bare.len() < 4;
            !is_path && !is_short && !is_common
        }
    };
    is_secret.then_some(range)
}

/// Returns whether `value` is the name of a place that holds a secret, or a mask.
fn is_reference(value: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let is_constant =
        |name: &str| is_name(name) && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_variable = |name: &str| {
        let lower = name.to_ascii_lowercase();
        is_constant(name)
            || is_name(name)
                && ["token", "password", "secret", "key"].iter().any(|end| lower.ends_with(end))
    };
    let between = |open, close| {
        let inner = value.strip_prefix(open).and_then(|rest: &str| rest.strip_suffix(close));
        inner.filter(|inner: &&str| !inner.contains(['{', '}', '<', '>', '%']))
    };
    value.strip_prefix('$').is_some_and(is_variable)
        || value.strip_prefix("$env:").is_some_and(is_name)
        || value.strip_prefix("process.env.").is_some_and(is_name)
        || between("${", "}").is_some_and(is_name)
        || between("%", "%").is_some_and(is_constant)
        || between("${{", "}}").is_some_and(|name| !name.contains(['\'', '"']))
        || between("{{", "}}").is_some_and(|name| !name.contains(['\'', '"']))
        || between("<", ">").is_some_and(|name| !name.contains('='))
        || between("[", "]").is_some_and(|name| {
            name.eq_ignore_ascii_case("redacted") || name.eq_ignore_ascii_case("filtered")
        })
        || value.chars().all(|c| "*•.x".contains(c))
}

/// Returns whether `value` is a call in a program: a path of names and a parenthesis.
fn is_call(value: &str) -> bool {
    let Some((path, _)) = value.split_once(['(', '[']) else { return false };
    let is_path = !path.is_empty()
        && path.bytes().all(|byte| byte.is_ascii_lowercase() || b"_.:".contains(&byte));
    is_path && (path.contains(['.', '_']) || path.contains("::") || value.contains("()"))
}

/// Returns whether `value` is a token like `[PAD]` or `</s>`.
fn is_model_token(value: &str) -> bool {
    value.len() < 16
        && (value.starts_with('<') && value.ends_with('>')
            || value.starts_with('[') && value.ends_with(']'))
}

/// Returns the place of the value of a member that names what a member beside it holds.
pub(super) fn label(text: &str, name: &Name) -> Option<Range<usize>> {
    let (_, at) = separator(text, name, Kind::Key, None)?;
    let first = next(text, at)?;
    let begin = if first.quotes() { at + first.len } else { at };
    let is_end = |symbol: Symbol| {
        if first.quotes() { symbol.closes(first) } else { symbol.is_space() || symbol.quotes() }
    };
    let mut end = begin;
    // A long text is no label.
    for _ in 0..AHEAD {
        match next(text, end).filter(|symbol| !is_end(*symbol)) {
            Some(symbol) => end += symbol.len,
            None => return Some(begin..end),
        }
    }
    None
}

/// Returns whether the member after `name` says that `name` holds a secret.
pub(super) fn is_labelled_later(text: &str, name: &Name) -> bool {
    let Some((Sep::Line | Sep::Word, at)) = separator(text, name, Kind::Key, None) else {
        return false;
    };
    let Some(open) = next(text, at).filter(|symbol| symbol.quotes()) else { return false };
    let mut place = at + open.len;
    for _ in 0..AHEAD {
        match next(text, place) {
            Some(symbol) if symbol.closes(open) => break,
            Some(symbol) => place += symbol.len,
            None => return false,
        }
    }
    let Some(comma) = next(text, place).map(|symbol| place + symbol.len) else { return false };
    if next(text, comma).is_none_or(|symbol| symbol.c != ',') {
        return false;
    }
    let mark = after_spaces(text, comma + 1, true);
    let Some(quote) = next(text, mark).filter(|symbol| symbol.quotes()) else { return false };
    let other = Name::at(text, mark + quote.len, usize::MAX, Some(quote));
    let Some(other) = other.filter(Name::is_label) else { return false };
    label(text, &other).is_some_and(|label| labels_secret(&other, &text[label]))
}

fn next(text: &str, at: usize) -> Option<Symbol> {
    symbol(text, at)
}

fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or("")
}

fn continues(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-')
}
