//! Splits an input into documents: one, or one on each line.

use std::io::{self, BufRead, Read as _};

use unstuck_json::fingerprint;

/// One document of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document<'a> {
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    /// Its bytes, or `None` if there are more than the limit.
    pub(super) json: Option<&'a [u8]>,
}

/// Gives each document of `input` to `take`, from the beginning of its first line. Stops at the first
/// error.
///
/// There is one on each line that is not blank, if the first of these lines is a document, or if most
/// of them are an array or an object. Otherwise the whole input is one document. An input of more
/// than `bytes_max` bytes is judged by its beginning, and read line by line. Memory is O(`bytes_max`),
/// whatever the input.
pub(super) fn each_document<E: From<io::Error>>(
    mut input: impl BufRead,
    bytes_max: usize,
    mut take: impl FnMut(Document<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let limit = bytes_max as u64 + 1;
    let mut head = Vec::new();
    input.by_ref().take(limit).read_to_end(&mut head)?;
    if head.len() <= bytes_max {
        return match whole(&head) {
            Some(document) => take(document),
            None => lines(&head).try_for_each(|(_, document)| take(document)),
        };
    }
    let complete = head.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
    if let Some(Document { line, .. }) = whole(&head[..complete]) {
        return take(Document { line, json: None });
    }
    let mut input = head.chain(input);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        if input.by_ref().take(limit).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        if bytes.len() > bytes_max && !bytes.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            take(Document { line, json: None })?;
        } else if let Some((_, Document { json, .. })) = lines(&bytes).next() {
            take(Document { line, json })?;
        }
    }
    Ok(())
}

/// The lines of `bytes` that are not blank, each with the index at which it begins.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Document<'_>)> {
    let mut next = 0;
    let lines = bytes.split(|&byte| byte == b'\n').zip(1..).map(move |(json, line)| {
        let start = next;
        next += json.len() + 1;
        (start, line, json.strip_suffix(b"\r").unwrap_or(json))
    });
    let lines = lines.filter(|(_, _, json)| !is_blank(json));
    lines.map(|(start, line, json)| (start, Document { line, json: Some(json) }))
}

/// The document that is the whole of `bytes`, or `None` if there is one on each line.
fn whole(bytes: &[u8]) -> Option<Document<'_>> {
    let (start, first) = lines(bytes).next()?;
    let (all, containers) =
        lines(bytes).fold((0_usize, 0_usize), |(all, containers), (_, line)| {
            (all + 1, containers + usize::from(line.json.is_some_and(is_container)))
        });
    let whole = &bytes[start..];
    let a_line_each = first.json.is_some_and(is_document) || 2 * containers > all;
    let is_whole = all > 1 && (is_document(whole) || !a_line_each);
    is_whole.then_some(Document { line: first.line, json: Some(whole) })
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
    use std::io;

    use super::each_document;
    use crate::cases::cases;

    /// Returns the line and the text of each document. A document that is too long has no text.
    fn documents(text: &str, bytes_max: usize) -> Vec<(usize, Option<String>)> {
        let mut found = Vec::new();
        let read = each_document(text.as_bytes(), bytes_max, |document| {
            let json = document.json.map(|json| String::from_utf8(json.to_vec()).unwrap());
            found.push((document.line, json));
            Ok::<(), io::Error>(())
        });
        assert!(read.is_ok(), "{text:?}");
        found
    }

    /// Checks the cases of a section, in which a document has at most this many bytes.
    fn check(section: &str, bytes_max: usize) {
        for (text, expected) in cases(include_str!("documents.txt"), section) {
            let text: String = serde_json::from_str(text).expect("a string");
            let expected: Vec<_> = serde_json::from_str(expected).expect("lines and documents");
            assert_eq!(documents(&text, bytes_max), expected, "{text:?}");
            assert!(documents(&text, 64).iter().all(|(_, json)| json.is_some()));
        }
    }

    #[test]
    fn an_input_is_one_document_or_one_a_line() {
        check("inputs", 64);
    }

    #[test]
    fn a_longer_input_is_read_line_by_line() {
        check("long", 5);
    }

    #[test]
    fn a_failing_reader_or_taker_ends_the_documents() {
        let failing = io::BufReader::new(io::Read::chain(&b"[1]\n[2]\n"[..], Unplugged));
        let mut taken = 0;
        let read = each_document(failing, 4, |_| {
            taken += 1;
            Ok::<(), io::Error>(())
        });
        assert_eq!((taken, read.unwrap_err().to_string()), (2, "unplugged".to_owned()));
        let read = each_document(&b"[1]\n[2]\n"[..], 4, |_| Err(io::Error::other("full")));
        assert_eq!(read.unwrap_err().to_string(), "full");
    }

    /// A reader that fails.
    struct Unplugged;

    impl io::Read for Unplugged {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("unplugged"))
        }
    }
}
