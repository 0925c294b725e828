//! Which documents an input holds: one, or one a line.

use unstuck_json::fingerprint;

/// One document of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document<'a> {
    /// The line that it begins on, from 1.
    pub(super) line: usize,
    pub(super) json: &'a [u8],
}

/// The documents in `bytes`: if these are no single document, but at least half of their lines
/// are, then each line that is not blank.
pub(super) fn documents(bytes: &[u8]) -> Vec<Document<'_>> {
    let lines = bytes.split(|&byte| byte == b'\n').zip(1..);
    let lines: Vec<_> = lines
        .map(|(json, line)| Document { line, json: json.strip_suffix(b"\r").unwrap_or(json) })
        .filter(|document| !document.json.trim_ascii().is_empty())
        .collect();
    let Some(first) = lines.first() else {
        return Vec::new();
    };
    let is_document = |json: &[u8]| fingerprint(json).is_ok();
    let whole = Document { line: first.line, json: bytes.trim_ascii() };
    let valid = || lines.iter().filter(|document| is_document(document.json)).count();
    if lines.len() > 1 && (is_document(whole.json) || 2 * valid() < lines.len()) {
        return vec![whole];
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::documents;

    #[test]
    fn an_input_is_one_document_or_one_a_line() {
        let cases: [(&str, &[(usize, &str)]); 9] = [
            ("", &[]),
            (" \n\r\n", &[]),
            ("{}", &[(1, "{}")]),
            ("\n [1] \n", &[(2, " [1] ")]),
            ("[\n1\n]\n", &[(1, "[\n1\n]")]),
            ("{}\r\n\r\n[]\n", &[(1, "{}"), (3, "[]")]),
            ("{}\n{\"a\":}\n", &[(1, "{}"), (2, "{\"a\":}")]),
            ("{\n  \"a\": 1,\n  \"b\"\n}\n", &[(1, "{\n  \"a\": 1,\n  \"b\"\n}")]),
            ("{\"a\": 01}", &[(1, "{\"a\": 01}")]),
        ];
        for (text, expected) in cases {
            let found = documents(text.as_bytes());
            let found: Vec<_> = found
                .iter()
                .map(|document| (document.line, str::from_utf8(document.json).unwrap()))
                .collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
