//! The command among the arguments of a shell: its text, as far as a buffer holds it.

use core::str::from_utf8;

/// The members that hold a shell's command, by agent: most call it `command`, Codex `cmd`.
const KEYS: [&[u8]; 3] = [b"command", b"cmd", b"script"];

/// The command that `args` holds, which is JSON. Of a list of words, as `["bash", "-lc", "…"]`, it is
/// what the shell is given, or all words. A longer command than `buffer` is cut. O(length of `args`),
/// and no more than leads to the command.
pub(crate) fn command<'b>(args: &str, buffer: &'b mut [u8]) -> Option<&'b str> {
    let mut reader = Reader { text: args.as_bytes(), at: 0 };
    reader.find()?;
    let mut writer = Writer { buffer, length: 0 };
    match reader.byte() {
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
}

impl Reader<'_> {
    fn byte(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// Goes to the value of the command's member in the outermost object.
    fn find(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        while self.at < self.text.len() {
            match self.byte() {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                b'"' => {
                    let start = self.at + 1;
                    self.skip_string();
                    let name = self.text.get(start..self.at).unwrap_or_default();
                    self.at += 1;
                    self.skip_spaces();
                    if depth == 1 && self.byte() == b':' {
                        self.at += 1;
                        self.skip_spaces();
                        if KEYS.contains(&name) {
                            return Some(());
                        }
                    }
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        None
    }

    fn skip_spaces(&mut self) {
        while self.byte().is_ascii_whitespace() {
            self.at += 1;
        }
    }

    /// Goes from the quote at the start of a string to the one at its end.
    fn skip_string(&mut self) {
        self.at += 1;
        while self.at < self.text.len() && self.byte() != b'"' {
            self.at += if self.byte() == b'\\' { 2 } else { 1 };
        }
    }

    /// Writes the string that begins here, and goes behind it.
    fn string(&mut self, writer: &mut Writer<'_>) {
        self.at += 1;
        while self.at < self.text.len() && self.byte() != b'"' {
            let byte = self.byte();
            self.at += 1;
            if byte == b'\\' {
                self.escape(writer);
            } else {
                writer.push(byte);
            }
        }
        self.at += 1;
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
    extern crate std;

    use std::string::ToString as _;

    use proptest::prelude::*;
    use serde_json::json;

    use super::command;

    fn found(args: &str) -> Option<std::string::String> {
        let mut buffer = [0; 64];
        command(args, &mut buffer).map(Into::into)
    }

    #[test]
    fn the_command_is_found_under_any_of_its_names() {
        for (args, expected) in [
            (r#"{"command":"ls"}"#, Some("ls")),
            (r#" { "cmd" : "ls -l" } "#, Some("ls -l")),
            (r#"{"a":{"command":"no"},"command":"ls"}"#, Some("ls")),
            (r#"{"a":"\"command\":","command":"a\n\"b\"\u00fc"}"#, Some("a\n\"b\"ü")),
            (r#"{"command":["bash","-lc","ls | wc"]}"#, Some("ls | wc")),
            (r#"{"command":["git","status"]}"#, Some("git status")),
            (r#"{"command":[]}"#, Some("")),
            (r#"{"command":7}"#, None),
            (r#"{"comand":"ls"}"#, None),
            (r#"["command","ls"]"#, None),
            (r#"{"command":"ls"#, Some("ls")),
            ("", None),
            ("ls", None),
        ] {
            assert_eq!(found(args).as_deref(), expected, "{args}");
        }
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
        fn anything_may_be_read(args in "\\PC{0,60}|[\\[\\]{}\":,\\\\ a-z]{0,40}") {
            let _ = found(&args);
        }
    }
}
