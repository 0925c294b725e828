//! Rust source reduced to what a rule may look at: code without comments,
//! without literals, without tests.
//!
//! This is no parser. It knows just enough of the lexical grammar not to take a
//! word in a comment or in a string for code, which is what a rule that looks for
//! words needs.

/// The code of `text`: every comment, string and character literal is replaced by
/// blanks. Lines keep their numbers.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (token, is_code) = first_token(rest);
        let (token, after) = rest.split_at(token);
        if is_code {
            code.push_str(token);
        } else {
            code.extend(token.chars().map(blank));
        }
        rest = after;
    }
    code
}

/// `code`, as [`code_only`] gives it, with every item under `#[cfg(test)]`
/// replaced by blanks.
pub(crate) fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((before, item)) = split_at_test(rest) {
        let (item, after) = item.split_at(item_length(item));
        kept.push_str(before);
        kept.extend(item.chars().map(blank));
        rest = after;
    }
    kept + rest
}

/// The names of the modules that `code` declares for tests only and that have a
/// file of their own, as in `#[cfg(test)] mod oracle;`.
pub(crate) fn test_modules(code: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = code;
    while let Some((_, item)) = split_at_test(rest) {
        let (item, after) = item.split_at(item_length(item));
        let declaration = item.trim_end_matches(';').rsplit_once("mod ");
        if let Some((_, name)) = declaration.filter(|_| item.ends_with(';')) {
            names.push(name.trim());
        }
        rest = after;
    }
    names
}

/// Whether `code` has `word` as a whole word.
pub(crate) fn has_word(code: &str, word: &str) -> bool {
    code.split(|character| !is_word(character)).any(|found| found == word)
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// What stands in place of a character that is no code.
fn blank(character: char) -> char {
    if character == '\n' { '\n' } else { ' ' }
}

/// Splits `code` before its first `#[cfg(test)]`.
fn split_at_test(code: &str) -> Option<(&str, &str)> {
    Some(code.split_at(code.find("#[cfg(test)]")?))
}

/// The length in bytes of the item that `code` opens with, attributes included:
/// up to the first `;` or closing brace outside of all brackets.
fn item_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, character) in code.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return at,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 && matches!(character, ';' | '}') {
            return at + 1;
        }
    }
    code.len()
}

/// The length in bytes of the first token of `text`, and whether it is code. A
/// token here is a comment, a literal, a word or any other single character.
fn first_token(text: &str) -> (usize, bool) {
    if text.starts_with("//") {
        return (text.find('\n').unwrap_or(text.len()), false);
    }
    if text.starts_with("/*") {
        return (block_comment(text), false);
    }
    if let Some(length) = literal(text) {
        return (length, false);
    }
    let word = text.find(|character| !is_word(character));
    match word.unwrap_or(text.len()) {
        0 => (text.chars().next().map_or(0, char::len_utf8), true),
        length => (length, true),
    }
}

/// The length of the comment that `text` opens with; such comments nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(step) = text[at..].find(['/', '*']) {
        at += step;
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += 1;
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The length of the string or character that `text` opens with, if it does.
fn literal(text: &str) -> Option<usize> {
    let bare = text.trim_start_matches(['b', 'c']);
    let prefix = text.len() - bare.len();
    if prefix > 1 {
        return None;
    }
    let length = match bare.chars().next()? {
        '"' => quoted(bare, '"'),
        'r' => raw_string(bare)?,
        '\'' => character(bare)?,
        _ => return None,
    };
    Some(prefix + length)
}

/// The length of the literal that `text` opens with, up to the next `quote` that
/// no backslash stands before.
fn quoted(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return at + 1;
        }
    }
    text.len()
}

/// The length of the raw string that `text` opens with, if it does.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.strip_prefix('r')?;
    let body = hashes.trim_start_matches('#');
    let count = hashes.len() - body.len();
    let body = body.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(count));
    let opening = text.len() - body.len();
    let length = body.find(&end).map(|at| opening + at + end.len());
    Some(length.unwrap_or(text.len()))
}

/// The length of the character literal that `text` opens with; `None` where the
/// quote belongs to a lifetime.
fn character(text: &str) -> Option<usize> {
    let mut characters = text.chars().skip(1);
    let first = characters.next()?;
    if first == '\\' {
        return Some(quoted(text, '\''));
    }
    (characters.next()? == '\'').then(|| first.len_utf8() + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanks() {
        for (text, expected) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            ("a /* b\nc */ d", "a     \n     d"),
            (r#"a "b" c"#, "a     c"),
            (r#"a "\"" c"#, "a      c"),
            (r##"a r#"b"c"# d"##, "a          d"),
            (r#"a b"b" c"c" br"b" d"#, "a                 d"),
            (r"a 'b' '\'' b'\\' d", "a                d"),
            ("<'a, 'static> &'a str", "<'a, 'static> &'a str"),
            ("r#type bar b c", "r#type bar b c"),
            ("('[')", "(   )"),
            ("a \"never closed", "a              "),
            ("a r#\"never closed\"", "a                 "),
            ("a /* never closed", "a                "),
            ("é 'é' 字", "é     字"),
            ("'", "'"),
            ("'\\", "  "),
            ("", ""),
        ] {
            assert_eq!(code_only(text), expected, "{text}");
        }
    }

    #[test]
    fn items_for_tests_are_blanks() {
        for (code, expected) in [
            ("a #[cfg(test)] mod t { b { c } } d", "a d"),
            ("a #[cfg(test)] mod t; d", "a d"),
            ("a #[cfg(test)] #[path = x] extern crate std; d", "a d"),
            ("#[cfg(test)] fn f(a: [u8; 2]) { b; } d", "d"),
            ("{ a, #[cfg(test)] b: C } d", "{ a, } d"),
            ("#[cfg(test)] a; b #[cfg(test)] c;", "b"),
            ("#[cfg(test)] mod t {", ""),
            ("a", "a"),
        ] {
            let kept = without_tests(code);
            assert_eq!(kept.len(), code.len(), "{code}");
            let words: Vec<_> = kept.split_whitespace().collect();
            assert_eq!(words.join(" "), expected, "{code}");
        }
    }

    #[test]
    fn modules_for_tests_are_named_where_they_have_a_file() {
        let code = "mod a; #[cfg(test)] mod b; #[cfg(test)] mod c { mod d; }
                    #[cfg(test)] pub(crate) mod e; #[cfg(test)] extern crate std;";
        assert_eq!(test_modules(code), ["b", "e"]);
    }

    #[test]
    fn a_word_is_found_only_as_a_whole() {
        for (code, found) in [
            ("use std::fmt;", true),
            ("std", true),
            ("#![no_std]", false),
            ("stdout", false),
            ("", false),
        ] {
            assert_eq!(has_word(code, "std"), found, "{code}");
        }
    }
}
