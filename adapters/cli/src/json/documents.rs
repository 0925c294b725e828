//! Splits an input into documents: one, or one on each line.

use unstuck_json::fingerprint;

/// One document of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document<'a> {
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    pub(super) json: &'a [u8],
}

/// Returns the documents in `bytes`, each from the beginning of its first line. There is one on
/// each line that is not blank, if the first of these lines is a document, or if most of them are
/// an array or an object. Otherwise the whole input is one document.
pub(super) fn documents(bytes: &[u8]) -> Vec<Document<'_>> {
    let mut begin = 0;
    let lines = bytes.split(|&byte| byte == b'\n').zip(1..).map(|(json, line)| {
        let start = begin;
        begin += json.len() + 1;
        (start, Document { line, json: json.strip_suffix(b"\r").unwrap_or(json) })
    });
    let lines: Vec<_> = lines.filter(|(_, line)| !is_blank(line.json)).collect();
    let Some(&(start, first)) = lines.first() else {
        return Vec::new();
    };
    let whole = Document { line: first.line, json: &bytes[start..] };
    let containers = || lines.iter().filter(|(_, line)| is_container(line.json)).count();
    let a_line_each = is_document(first.json) || 2 * containers() > lines.len();
    if lines.len() > 1 && (is_document(whole.json) || !a_line_each) {
        return vec![whole];
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

fn is_document(json: &[u8]) -> bool {
    fingerprint(json).is_ok()
}

fn is_container(json: &[u8]) -> bool {
    let first = json.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'[' | b'{')) && is_document(json)
}

/// Returns whether the line has only JSON white space.
fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::documents;

    #[test]
    fn an_input_is_one_document_or_one_a_line() {
        let cases: [(&str, &[(usize, &str)]); 14] = [
            ("", &[]),
            (" \n\r\n", &[]),
            ("{}", &[(1, "{}")]),
            ("\n [1] \n", &[(2, " [1] ")]),
            ("[\n1\n]\n", &[(1, "[\n1\n]\n")]),
            ("\n  [1,\n 2]", &[(2, "  [1,\n 2]")]),
            ("[\n1\n2\n]", &[(1, "[\n1\n2\n]")]),
            ("{}\n{\"a\":}\n{\"b\":}", &[(1, "{}"), (2, "{\"a\":}"), (3, "{\"b\":}")]),
            ("{\"a\":}\n{}\n{}", &[(1, "{\"a\":}"), (2, "{}"), (3, "{}")]),
            ("\u{c}[1,\n2]", &[(1, "\u{c}[1,\n2]")]),
            ("{}\r\n\r\n[]\n", &[(1, "{}"), (3, "[]")]),
            ("{}\n{\"a\":}\n", &[(1, "{}"), (2, "{\"a\":}")]),
            ("{\n  \"a\": 1,\n  \"b\"\n}\n", &[(1, "{\n  \"a\": 1,\n  \"b\"\n}\n")]),
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
