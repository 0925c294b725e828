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
