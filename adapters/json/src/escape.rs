//! The escapes of RFC 8785: one spelling for each character.

/// Returns the form of `character` within a string. A character that must be escaped gets its shortest
/// escape, with hexadecimal digits in lower case.
pub(crate) fn escape(character: char, buffer: &mut [u8; 6]) -> &[u8] {
    let short = match character {
        '"' => b'"',
        '\\' => b'\\',
        '\u{8}' => b'b',
        '\u{C}' => b'f',
        '\n' => b'n',
        '\r' => b'r',
        '\t' => b't',
        '\0'..='\u{1F}' => return control(character, buffer),
        _ => return character.encode_utf8(buffer).as_bytes(),
    };
    let [backslash, letter, ..] = buffer;
    (*backslash, *letter) = (b'\\', short);
    buffer.first_chunk::<2>().map_or(&[], |escape| escape)
}

/// The `\u` escape of a control character that has no short one.
fn control(character: char, buffer: &mut [u8; 6]) -> &[u8] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let high = if character < '\u{10}' { b'0' } else { b'1' };
    let low = usize::try_from(u32::from(character) & 0xF).unwrap_or(0);
    *buffer = [b'\\', b'u', b'0', b'0', high, DIGITS.get(low).copied().unwrap_or(b'0')];
    buffer
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::String;

    use super::escape;

    fn escaped(character: char) -> String {
        String::from_utf8(escape(character, &mut [0; 6]).to_vec()).unwrap()
    }

    #[test]
    fn each_character_has_the_form_that_rfc_8785_asks_for() {
        for (character, expected) in [
            ('"', "\\\""),
            ('\\', "\\\\"),
            ('\u{8}', "\\b"),
            ('\t', "\\t"),
            ('\n', "\\n"),
            ('\u{C}', "\\f"),
            ('\r', "\\r"),
            ('\0', "\\u0000"),
            ('\u{F}', "\\u000f"),
            ('\u{10}', "\\u0010"),
            ('\u{1B}', "\\u001b"),
            ('\u{1F}', "\\u001f"),
            (' ', " "),
            ('/', "/"),
            ('\u{7F}', "\u{7F}"),
            ('é', "é"),
            ('\u{2028}', "\u{2028}"),
            ('😂', "😂"),
        ] {
            assert_eq!(escaped(character), expected);
        }
    }

    #[test]
    fn what_serde_json_writes_is_the_same() {
        for character in (0..0x300_u32).filter_map(char::from_u32) {
            let quoted = serde_json::to_string(&character).unwrap();
            assert_eq!(std::format!("\"{}\"", escaped(character)), quoted);
        }
    }
}
