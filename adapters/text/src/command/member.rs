//! The command among the arguments of a shell: its text, as far as a buffer holds it.

use core::str::from_utf8;

use memchr::memchr2;

use crate::find;
use crate::lexer::{Lexer, Token};

/// The members that hold a shell's command, by agent: most call it `command`, Codex `cmd`.
const KEYS: [&str; 3] = ["command", "cmd", "script"];

/// The command that `args` holds, which is JSON. Of a list of words, as `["bash", "-lc", "…"]`, it is
/// what the shell is given, or all words. A longer command than `buffer` is cut, and only one with
/// escapes is copied. O(length of `args`), and no more than leads to the command.
pub(crate) fn command<'b>(args: &'b str, buffer: &'b mut [u8]) -> Option<&'b str> {
    let value = value(args)?;
    let mut reader = Reader { text: value.as_bytes(), at: 0 };
    let first = reader.byte();
    if first == b'"'
        && let Some(length) = reader.length_without_escapes()
    {
        return value.get(1..=length).map(|command| find::head(command, buffer.len()));
    }
    let mut writer = Writer { buffer, length: 0 };
    match first {
        b'"' => reader.string(&mut writer),
        b'[' => reader.words(&mut writer),
        _ => return None,
    }
    let Writer { buffer, length } = writer;
    let written = buffer.get(..length)?;
    match from_utf8(written) {
        Ok(text) => Some(text),
        // The last character was cut in two.
        Err(error) => from_utf8(written.get(..error.valid_up_to())?).ok(),
    }
}

/// Returns the rest of `args` from the value of the command's member in the outermost object on.
fn value(args: &str) -> Option<&str> {
    let (mut lexer, mut depth) = (Lexer::json(args), 0_usize);
    loop {
        match lexer.next()?.1 {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.saturating_sub(1),
            Token::Text(name) if lexer.skip_colon() && depth == 1 && KEYS.contains(&name) => {
                return Some(lexer.rest().trim_ascii_start());
            }
            _ => {}
        }
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

struct Writer<'b> {
    buffer: &'b mut [u8],
    length: usize,
}

impl Writer<'_> {
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.buffer.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    /// Writes as much of `bytes` as there is room for.
    fn append(&mut self, bytes: &[u8]) {
        let room = self.buffer.get_mut(self.length..).unwrap_or_default();
        let length = bytes.len().min(room.len());
        if let (Some(room), Some(bytes)) = (room.get_mut(..length), bytes.get(..length)) {
            room.copy_from_slice(bytes);
            self.length += length;
        }
    }
}

impl Reader<'_> {
    fn byte(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// Returns the bytes before the next quote or backslash, and goes to it.
    fn run(&mut self) -> &[u8] {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let run = rest.get(..memchr2(b'"', b'\\', rest).unwrap_or(rest.len()));
        self.at += run.map_or(0, <[u8]>::len);
        run.unwrap_or_default()
    }

    /// Returns the length of the string that begins here, if it has no escapes.
    fn length_without_escapes(&self) -> Option<usize> {
        let mut ahead = Reader { text: self.text, at: self.at + 1 };
        let length = ahead.run().len();
        (ahead.byte() != b'\\').then_some(length)
    }

    /// Writes the string that begins here, and goes behind it.
    fn string(&mut self, writer: &mut Writer<'_>) {
        self.at += 1;
        loop {
            writer.append(self.run());
            let is_escape = self.byte() == b'\\';
            self.at += 1;
            if !is_escape {
                return;
            }
            self.escape(writer);
        }
    }

    fn escape(&mut self, writer: &mut Writer<'_>) {
        let byte = self.byte();
        self.at += 1;
        match byte {
            b'n' => writer.push(b'\n'),
            b't' => writer.push(b'\t'),
            b'r' => writer.push(b'\r'),
            b'u' => {
                let digits =
                    self.text.get(self.at..self.at + 4).and_then(|hex| from_utf8(hex).ok());
                let code = digits.and_then(|hex| u32::from_str_radix(hex, 16).ok());
                self.at += 4;
                let c = code.and_then(char::from_u32).unwrap_or('?');
                let mut utf8 = [0; 4];
                c.encode_utf8(&mut utf8).bytes().for_each(|byte| writer.push(byte));
            }
            other => writer.push(other),
        }
    }

    /// Writes the words of the list that begins here.
    fn words(&mut self, writer: &mut Writer<'_>) {
        self.at += 1;
        let mut is_script = false;
        for place in 0_usize.. {
            while matches!(self.byte(), b',' | b' ' | b'\n' | b'\t' | b'\r') {
                self.at += 1;
            }
            if self.byte() != b'"' {
                return;
            }
            if is_script {
                // The words before it say how it is run.
                writer.length = 0;
                return self.string(writer);
            }
            if place > 0 {
                writer.push(b' ');
            }
            let start = writer.length;
            self.string(writer);
            let word = writer.buffer.get(start..writer.length).unwrap_or_default();
            is_script = place == 1 && word.starts_with(b"-") && word.ends_with(b"c");
        }
    }
}

#[cfg(test)]
mod tests {
    use core::str::from_utf8;

    use proptest::prelude::*;
    use serde_json::json;

    use super::command;
    use crate::tables::check;

    fn found(args: &str) -> Option<String> {
        let mut buffer = [0; 64];
        command(args, &mut buffer).map(Into::into)
    }

    #[test]
    fn the_command_is_found_under_any_of_its_names() {
        check("the command", |args| format!("{:?}", found(args)));
    }

    /// The string that `text` begins with, in at most `max` bytes.
    fn slow(text: &str, max: usize) -> Option<String> {
        let (mut bytes, mut written) = (text.bytes(), Vec::new());
        while let Some(byte) = bytes.next().filter(|byte| *byte != b'"') {
            if byte != b'\\' {
                written.push(byte);
                continue;
            }
            match bytes.next() {
                None => written.push(0),
                Some(b'n') => written.push(b'\n'),
                Some(b't') => written.push(b'\t'),
                Some(b'r') => written.push(b'\r'),
                Some(b'u') => {
                    let hex: Vec<u8> = bytes.by_ref().take(4).collect();
                    let hex = from_utf8(&hex).ok().filter(|hex| hex.len() == 4);
                    let code = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok());
                    let c = code.and_then(char::from_u32).unwrap_or('?');
                    written.extend(c.to_string().bytes());
                }
                Some(other) => written.push(other),
            }
        }
        written.truncate(max);
        let valid = from_utf8(&written).map_or_else(|error| error.valid_up_to(), str::len);
        from_utf8(&written[..valid]).ok().map(Into::into)
    }

    proptest! {
        #[test]
        fn a_reader_of_json_agrees(text in "\\PC{0,80}", before in "[a-z]{0,4}") {
            let args = json!({ "a": before, "command": text, "z": 1 }).to_string();
            let cut = found(&args).expect("a command");
            prop_assert!(text.starts_with(&cut));
            prop_assert!(cut == text || cut.len() > 60);
        }

        #[test]
        fn a_string_is_read_as_it_was_byte_by_byte(text in "([a-cü]|[\"\\\\]|\\\\u00(fc|\"|ü)){0,40}", max in 0..40_usize) {
            let args = format!("{{\"cmd\":\"{text}");
            let mut buffer = vec![0; max];
            prop_assert_eq!(command(&args, &mut buffer).map(Into::into), slow(&text, max));
        }

        #[test]
        fn anything_may_be_read(args in "\\PC{0,60}|[\\[\\]{}\":,\\\\ a-z]{0,40}") {
            let _ = found(&args);
        }
    }
}
