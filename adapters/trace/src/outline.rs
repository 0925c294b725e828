//! The outline of a JSON text: its long strings are cut, so that more of its structure fits into a bound.

use memchr::{memchr, memchr3};

/// The bytes of a string that stay.
const STRING_BYTES_MAX: usize = 4 * 1024;

/// Returns a JSON text with its long strings cut. Escapes by `\u` are left out. A text that breaks off has the
/// outline of its part.
pub(crate) fn outline(mut json: &[u8]) -> Vec<u8> {
    let mut outline = Vec::new();
    while let Some(quote) = memchr(b'"', json) {
        let (before, string) = json.split_at(quote + 1);
        outline.extend_from_slice(before);
        json = cut_string(string, &mut outline);
    }
    outline.extend_from_slice(json);
    outline
}

/// Adds the string that goes on here to an outline, and returns the text behind it. A line break ends a string,
/// which is broken then.
fn cut_string<'j>(mut json: &'j [u8], outline: &mut Vec<u8>) -> &'j [u8] {
    let mut room = STRING_BYTES_MAX;
    loop {
        let special = memchr3(b'"', b'\\', b'\n', json).unwrap_or(json.len());
        let (plain, rest) = json.split_at(special);
        let kept = beginning(plain, room);
        outline.extend_from_slice(kept);
        room = if kept.len() < plain.len() { 0 } else { room.saturating_sub(kept.len()) };
        match rest {
            [] => return rest,
            [b'\\', b'u', ..] => json = rest.get(6..).unwrap_or_default(),
            [b'\\', behind @ ..] => {
                let escape = &rest[..rest.len().min(2)];
                if room >= escape.len() {
                    outline.extend_from_slice(escape);
                    room -= escape.len();
                }
                json = behind.get(1..).unwrap_or_default();
            }
            [end, behind @ ..] => {
                outline.push(*end);
                return behind;
            }
        }
    }
}

/// Returns the first `count` bytes of a text, and the rest of the character that they end in.
fn beginning(text: &[u8], count: usize) -> &[u8] {
    let Some(rest) = text.get(count..).filter(|_| count > 0) else {
        return if count > 0 { text } else { &[] };
    };
    let of_character = rest.iter().take_while(|byte| matches!(byte, 0x80..0xC0)).count();
    &text[..count + of_character]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::stream::samples::damaged_json;

    fn text_of(json: &str) -> String {
        String::from_utf8(outline(json.as_bytes())).expect("UTF-8")
    }

    #[test]
    fn long_strings_are_cut_and_all_else_stays() {
        let short = r#"{"a":[1,"b\n\"",{"c":null}],"d":"ü"}"#;
        assert_eq!(text_of(short), short);
        for filling in ["x", "ü", "漢", r"\n", r"\u00fc", r"\ud83d\ude00", r#"\""#, r"a\\"] {
            for before in ["", "a", "ab", "abc"] {
                let long =
                    format!(r#"{{"a":"{before}{}","b":[2]}}"#, filling.repeat(STRING_BYTES_MAX));
                let cut = text_of(&long);
                assert!(cut.len() < STRING_BYTES_MAX + 40, "{filling}");
                let value: Value = serde_json::from_str(&cut).expect("JSON");
                assert_eq!(value["b"], serde_json::json!([2]), "{filling}");
            }
        }
        let broken = format!("{{\"a\":\"{}\n{{\"b\":1}}\n", "x".repeat(STRING_BYTES_MAX + 9));
        assert!(text_of(&broken).ends_with("x\n{\"b\":1}\n"));
    }

    proptest! {
        #[test]
        fn a_text_of_short_strings_is_its_own_outline(bytes in damaged_json()) {
            let found = outline(&bytes);
            if !bytes.windows(2).any(|pair| pair == b"\\u") {
                prop_assert_eq!(&found, &bytes);
            }
            if serde_json::from_slice::<Value>(&bytes).is_ok() {
                prop_assert!(serde_json::from_slice::<Value>(&found).is_ok());
            }
        }
    }
}
