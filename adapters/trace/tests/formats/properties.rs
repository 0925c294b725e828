//! Properties for any bytes: nothing panics, and no line costs another one.

use crate::reading::{cases, reading};
use proptest::collection::vec;
use proptest::prelude::*;
use unstuck_trace::Format;

/// Some lines of each line format. Each of them is recognised alone.
const LINES: &str = include_str!("lines.txt");

/// A document of each format that has one.
const DOCUMENTS: &str = include_str!("documents.txt");

/// Reads bytes as every format, and by recognition.
fn read_all_ways(input: &[u8]) {
    let ways = Format::ALL.iter().copied().map(Some).chain([None]);
    for from in ways {
        let reading = reading(input, from);
        let delivered = reading.events.iter().filter(|event| event.starts_with('#')).count();
        if let Ok(trace) = reading.end {
            assert!(trace.calls <= delivered);
            assert!(trace.problems.len() <= trace.skipped);
        }
    }
}

/// Whole lines of one of the line formats.
fn lines() -> impl Strategy<Value = Vec<&'static str>> {
    let lines = cases(LINES);
    let of_one = lines.chunk_by(|(format, _), (next, _)| format == next);
    let of_one = of_one.map(|lines| lines.iter().map(|(_, line)| *line).collect::<Vec<_>>());
    prop::sample::select(of_one.collect::<Vec<_>>())
        .prop_flat_map(|lines| vec(prop::sample::select(lines), 1..8))
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..300)) {
        read_all_ways(&bytes);
    }

    #[test]
    fn damaged_transcripts_are_read_or_refused(
        mut lines in lines(),
        document in prop::option::of(prop::sample::select(cases(DOCUMENTS))),
        cuts in vec((any::<prop::sample::Index>(), 0_usize..9, vec(any::<u8>(), 0..5)), 1..6),
    ) {
        if let Some((_, document)) = document {
            lines = vec![document];
        }
        let mut input = lines.join("\n").into_bytes();
        for (at, length, put) in cuts {
            let at = at.index(input.len() + 1);
            let end = input.len().min(at + length);
            input.splice(at..end, put);
        }
        read_all_ways(&input);
    }

    #[test]
    fn a_bad_line_loses_no_other_event(
        lines in lines(),
        at in any::<prop::sample::Index>(),
        bad in prop::sample::select(vec![
            &br#"{"type":"call","tool""#[..],
            b"{\"type\":\"user\",\"message\":{\"content\":\"\xff\"}}",
            b"[1,2]",
            b"\"text\"",
            b"42",
            b"\x00\x00\x00",
            b"{} {}",
        ]),
    ) {
        let whole = lines.join("\n");
        let expected = reading(whole.as_bytes(), None);
        let format = expected.end.as_ref().expect("a trace").format;
        let mut records: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let at = at.index(records.len() + 1);
        records.insert(at, bad);
        let found = reading(&records.join(&b'\n'), Some(format));
        prop_assert_eq!(&found.events, &expected.events);
        let problems = found.problems();
        prop_assert_eq!(problems.len(), 1);
        let place = format!("line {}: ", at + 1);
        prop_assert!(problems.iter().all(|problem| problem.starts_with(&place)));
    }

    #[test]
    fn a_document_cut_anywhere_delivers_a_beginning(
        (format, document) in prop::sample::select(cases(DOCUMENTS)),
        at in any::<prop::sample::Index>(),
    ) {
        let read = reading(document.as_bytes(), None);
        prop_assert_eq!(read.end.map(|trace| trace.format), Ok(format));
        let whole = reading(document.as_bytes(), Some(format)).events;
        prop_assert_eq!(&read.events, &whole);
        let begin = document.as_bytes().get(..at.index(document.len())).unwrap_or_default();
        let cut = reading(begin, Some(format));
        prop_assert_eq!(&cut.events[..], &whole[..cut.events.len()]);
    }
}
