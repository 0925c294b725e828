//! A shell command as simple commands: words, redirections and here-documents, in one pass.

use memchr::{memchr, memchr3};

/// The most words of a simple command that are kept; those behind them are files, nearly always.
const WORDS_MAX: usize = 16;

/// A simple command: a program with its words, between two signs such as `&&`, `|` or `;`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'c> {
    words: [&'c str; WORDS_MAX],
    count: usize,
    /// True if its output goes to a file.
    pub(super) writes: bool,
    /// The here-document that it is fed, if there is one; empty until the line ends.
    pub(super) document: Option<&'c str>,
}

impl<'c> Part<'c> {
    const NONE: Self = Self { words: [""; WORDS_MAX], count: 0, writes: false, document: None };

    /// Makes the part an empty one.
    fn clear(&mut self) {
        (self.count, self.writes, self.document) = (0, false, None);
    }

    fn push(&mut self, word: &'c str) {
        if let Some(place) = self.words.get_mut(self.count) {
            *place = word;
            self.count += 1;
        }
    }

    /// The words, as they are written, without the quotes around a whole one.
    pub(super) fn words(&self) -> &[&'c str] {
        self.words.get(..self.count).unwrap_or(&self.words)
    }

    fn is_empty(&self) -> bool {
        self.count == 0 && !self.writes && self.document.is_none()
    }
}

/// Passes every simple command in `command` to `each`, in order. The text of a substitution such as
/// `$(…)` is part of its word. O(length of `command`).
pub(super) fn parts<'c>(command: &'c str, mut each: impl FnMut(&Part<'c>)) {
    let mut reader = Reader { text: command, at: 0 };
    let (mut part, mut delimiter) = (Part::NONE, None);
    while let Some(token) = reader.next() {
        match token {
            Token::Word(word) => part.push(word),
            Token::Output(target) => part.writes |= is_file(target),
            Token::Input => {}
            Token::Document(word) => {
                part.document = Some("");
                delimiter = Some(word);
            }
            Token::End { is_line } => {
                if let Some(delimiter) = delimiter.take_if(|_| is_line) {
                    part.document = Some(reader.document(delimiter));
                }
                // The text of a here-document comes with the last command of its line.
                if !part.is_empty() {
                    each(&part);
                }
                part.clear();
            }
        }
    }
    if !part.is_empty() {
        each(&part);
    }
}

/// Returns whether output to `target` changes a file.
fn is_file(target: &str) -> bool {
    !matches!(target, "" | "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
        && !target.starts_with('&')
}

/// Whether a byte outside of quotes may end a word, or opens a quote, an escape or a substitution.
static IS_SPECIAL: [bool; 256] = {
    const SPECIAL: &[u8] = b" \t\r\n;&|<>()\\'\"$";
    let (mut is_special, mut n) = ([false; 256], 0);
    while n < SPECIAL.len() {
        is_special[SPECIAL[n] as usize] = true;
        n += 1;
    }
    is_special
};

enum Token<'c> {
    Word(&'c str),
    /// Output goes to this file, or to `&1`.
    Output(&'c str),
    /// Input comes from a file, or from a word.
    Input,
    /// A here-document up to this word follows with the next line.
    Document(&'c str),
    /// The simple command ends, perhaps with its line.
    End {
        is_line: bool,
    },
}

struct Reader<'c> {
    text: &'c str,
    at: usize,
}

impl<'c> Reader<'c> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Option<Token<'c>> {
        self.skip_blanks();
        if self.at >= self.text.len() {
            return None;
        }
        let (first, second) = (self.byte(0), self.byte(1));
        let end = |is_line| Some(Token::End { is_line });
        match (first, second) {
            (b'\n', _) => {
                self.at += 1;
                end(true)
            }
            (b'#', _) => {
                self.skip_line();
                self.next_after_comment()
            }
            (b'&', b'>') => {
                self.at += 1;
                Some(self.output())
            }
            (b'>', _) => Some(self.output()),
            (b'<', _) => Some(self.input()),
            (b'&' | b'|', next) => {
                self.at += if next == first { 2 } else { 1 };
                end(false)
            }
            (b';' | b'(' | b')', _) => {
                self.at += 1;
                end(false)
            }
            _ => {
                let word = self.word();
                // The number of a file: `2>&1`.
                let is_number =
                    || !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
                if matches!(self.byte(0), b'>' | b'<') && is_number() {
                    return self.next();
                }
                Some(Token::Word(unquoted(word)))
            }
        }
    }

    fn next_after_comment(&mut self) -> Option<Token<'c>> {
        if self.at >= self.text.len() { None } else { self.next() }
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.byte(0) {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.byte(1) == b'\n' => self.at += 2,
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        while self.at < self.text.len() && self.byte(0) != b'\n' {
            self.at += 1;
        }
    }

    fn output(&mut self) -> Token<'c> {
        self.at += 1;
        if matches!(self.byte(0), b'>' | b'|') {
            self.at += 1;
        }
        if self.byte(0) == b'&' {
            let start = self.at;
            self.at += 1;
            self.word();
            return Token::Output(self.text.get(start..self.at).unwrap_or_default());
        }
        self.skip_blanks();
        Token::Output(unquoted(self.word()))
    }

    fn input(&mut self) -> Token<'c> {
        // `<` is followed by a file, `<<` by the end of a here-document, and `<<<` by a word.
        let signs = (0..3).take_while(|ahead| self.byte(*ahead) == b'<').count();
        let is_document = signs == 2;
        self.at += signs + usize::from(is_document && self.byte(2) == b'-');
        self.skip_blanks();
        let word = self.word();
        if is_document { Token::Document(unquoted(word)) } else { Token::Input }
    }

    /// Returns the word that starts here, with its quotes, or an empty one.
    fn word(&mut self) -> &'c str {
        let start = self.at;
        self.skip_plain(0, 0);
        // Most words end here.
        if matches!(self.byte(0), b'\'' | b'"' | b'\\' | b'$') {
            self.skip_word();
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Goes to the end of the word, outside of quotes at first.
    fn skip_word(&mut self) {
        let (mut quote, mut depth) = (0, 0_usize);
        loop {
            self.skip_plain(quote, depth);
            if self.at >= self.text.len() {
                break;
            }
            let byte = self.byte(0);
            match (quote, byte) {
                (b'\'', b'\'') => quote = 0,
                (b'\'', _) => {}
                (_, b'\\') => self.at += 1,
                (b'"', b'"') if depth == 0 => quote = 0,
                (_, b'$') if self.byte(1) == b'(' => {
                    depth += 1;
                    self.at += 1;
                }
                (_, b')') if depth > 0 => depth -= 1,
                (_, b'(') if depth > 0 => depth += 1,
                (0, b'\'' | b'"') if depth == 0 => quote = byte,
                (
                    0,
                    b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')',
                ) if depth == 0 => {
                    break;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.text.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    /// Skips the bytes of a word that mean nothing else, inside this quote or outside of quotes.
    fn skip_plain(&mut self, quote: u8, depth: usize) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let plain = match quote {
            b'\'' => memchr(quote, rest),
            _ if depth > 0 => Some(0),
            0 => rest.iter().position(|byte| IS_SPECIAL[usize::from(*byte)]),
            _ => memchr3(quote, b'\\', b'$', rest),
        };
        self.at += plain.unwrap_or(rest.len());
    }

    /// The text up to the line that is `delimiter`, from here on.
    fn document(&mut self, delimiter: &str) -> &'c str {
        let start = self.at;
        loop {
            let line = self.at;
            self.skip_line();
            let text = self.text.get(line..self.at).unwrap_or_default();
            let is_end = text.trim() == delimiter;
            if self.at < self.text.len() {
                self.at += 1;
            }
            if is_end || self.at >= self.text.len() {
                let end = if is_end { line } else { self.at };
                return self.text.get(start..end).unwrap_or_default();
            }
        }
    }
}

/// A word without the quotes around it, if they are around all of it.
pub(super) fn unquoted(word: &str) -> &str {
    if !matches!(word.as_bytes().first(), Some(b'"' | b'\'')) {
        return word;
    }
    let inner = ['"', '\''].into_iter().find_map(|quote| {
        let inner = word.strip_prefix(quote)?.strip_suffix(quote)?;
        inner.chars().all(|c| c != quote).then_some(inner)
    });
    inner.unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Reader, parts};
    use crate::tables::cases::spelled;

    /// The simple commands: their words, `>` behind one that writes, `<<` and the length of a text.
    fn split(command: &str) -> Vec<String> {
        let mut all = Vec::new();
        parts(command, |part| {
            let mut text = part.words().join(" ");
            if part.writes {
                text += " >";
            }
            if let Some(document) = part.document {
                text += " <<";
                text += &document.len().to_string();
            }
            all.push(text);
        });
        all
    }

    /// In the file, the simple commands stand behind the arrow.
    #[test]
    fn a_command_is_split_where_a_shell_would() {
        for line in include_str!("split.txt").lines() {
            let (command, expected) = line.split_once(" → ").expect("a command and its parts");
            let command = spelled(command);
            assert_eq!(split(&command).join(" │ "), expected, "{command:?}");
        }
        assert!(split("").is_empty() && split(" ;; ").is_empty());
    }

    /// Splits by the definition: reads a character at a time, and knows no word.
    fn separators(command: &str) -> usize {
        let (mut quote, mut count, mut is_escaped) = (None, 0, false);
        for c in command.chars() {
            match (quote, c) {
                _ if is_escaped => is_escaped = false,
                (Some('\''), '\'') | (Some('"'), '"') => quote = None,
                (quote, '\\') if quote != Some('\'') => is_escaped = true,
                (None, '\'' | '"') => quote = Some(c),
                (None, ';' | '|' | '&') => count += 1,
                _ => {}
            }
        }
        count
    }

    #[test]
    fn short_commands_have_no_more_parts_than_signs_between() {
        let alphabet = ['a', ' ', '\'', '"', '\\', ';', '|'];
        for length in 0..=6_u32 {
            for code in 0..7_u32.pow(length) {
                let command: String =
                    (0..length).map(|n| alphabet[(code / 7_u32.pow(n) % 7) as usize]).collect();
                let parts = split(&command);
                assert!(parts.len() <= separators(&command) + 1, "{command:?} {parts:?}");
                let is_blank = command.chars().all(|c| matches!(c, ' ' | ';' | '|'));
                assert_eq!(parts.is_empty(), is_blank, "{command:?} {parts:?}");
            }
        }
    }

    /// The first word of `text`, read a character at a time.
    fn first_word(text: &str) -> &str {
        let (mut quote, mut depth, mut chars) = (None, 0, text.char_indices().peekable());
        while let Some((at, c)) = chars.next() {
            match (quote, c) {
                (Some('\''), '\'') => quote = None,
                (Some('\''), _) => {}
                (_, '\\') => _ = chars.next(),
                (Some('"'), '"') if depth == 0 => quote = None,
                (_, '$') if chars.next_if(|(_, next)| *next == '(').is_some() => depth += 1,
                (_, ')') if depth > 0 => depth -= 1,
                (_, '(') if depth > 0 => depth += 1,
                (None, '\'' | '"') if depth == 0 => quote = Some(c),
                (None, ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
                    if depth == 0 =>
                {
                    return &text[..at];
                }
                _ => {}
            }
        }
        text
    }

    proptest! {
        #[test]
        fn a_word_ends_where_it_does_character_by_character(text in "[a-cü'\"\\\\$()>; \n]{0,30}") {
            prop_assert_eq!(Reader { text: &text, at: 0 }.word(), first_word(&text));
        }

        #[test]
        fn any_text_is_split(command in "[ -~\\n]{0,40}|\\PC{0,20}") {
            let parts = split(&command);
            prop_assert!(parts.len() <= command.len() + 1);
            // The text before it is another command.
            let behind = split(&("cd x && ".to_string() + &command));
            prop_assert_eq!(behind.first().map(String::as_str), Some("cd x"));
        }
    }
}
