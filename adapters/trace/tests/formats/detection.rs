//! Recognition of formats: each input goes to its own format, and an ambiguous one to none.

use std::io::{BufReader, Error, Read};

use crate::reading::{cases, reading};
use unstuck_trace::{Format, Problem, ProblemKind, read};

const CALL: &str = r#"{"type":"call","tool":"x"}"#;
const CHAT: &str = r#"[{"role":"user","content":"x"}]"#;

/// A case a line: the format, the reason, and the input. `⏎` is a line break, and PADDING is longer
/// than what is looked at.
const RECOGNISED: &str = include_str!("recognised.txt");

/// A case a line: the format, and the input, with LONG-TEXT before what shows the format.
const BEHIND_LONG_TEXTS: &str = include_str!("behind_long_texts.txt");

/// A case a line: the beginning of the message, and the input.
const REFUSED: &str = include_str!("refused.txt");

/// The table by which formats are recognised.
const TABLE: &str = include_str!("../../src/formats.txt");

fn written(input: &str) -> String {
    let input = input.replace('⏎', "\n").replace('␍', "\r");
    input.replace("BYTE-ORDER-MARK", "\u{feff}").replace("PADDING", &" ".repeat(70_000))
}

#[test]
fn each_format_is_recognised_for_a_reason_and_may_be_named() {
    for (format, case) in cases(RECOGNISED) {
        let (reason, input) = case.split_once(" | ").expect("a reason");
        let input = written(input);
        let found = reading(input.as_bytes(), None).end.map(|trace| (trace.format, trace.reason));
        assert_eq!(found, Ok((format, reason)), "{case}");
        let named = reading(input.as_bytes(), Some(format)).end.map(|trace| trace.reason);
        assert_eq!(named, Ok("named by the caller"), "{case}");
    }
}

#[test]
fn every_row_of_the_table_has_a_case() {
    let clue = |row: &'static str| {
        let columns: [&str; 5] = row.split(" | ").collect::<Vec<_>>().try_into().ok()?;
        Some([columns[0], columns[4]]).filter(|_| !row.starts_with('#'))
    };
    let clues: Vec<[&str; 2]> = TABLE.lines().filter_map(clue).collect();
    for [format, reason] in &clues {
        // An archive is no text, and the messages behind a long `info` are found.
        if ["a `.eval` archive", "`info` of a run"].contains(reason) {
            continue;
        }
        let rows = clues.iter().filter(|clue| **clue == [*format, *reason]).count();
        let begin = format!("{format} | {reason} | ");
        let refused = |case: &&str| {
            let begin = case.strip_prefix("looks like ").and_then(|case| case.split(" | ").next());
            *format == "-" && begin.is_some_and(|begin| reason.starts_with(begin))
        };
        let cases = RECOGNISED.lines().filter(|case| case.starts_with(&begin)).count()
            + REFUSED.lines().filter(refused).count();
        assert!(cases >= rows, "{format}: {reason}: {cases} cases for {rows} rows");
    }
}

#[test]
fn a_format_is_recognised_behind_a_long_text() {
    for (format, input) in cases(BEHIND_LONG_TEXTS) {
        for length in [60_000, 70_000, 300_000, 5_000_000] {
            let text = "\\u00fc\\\\ ".repeat(length / 9);
            let whole = written(input).replace("LONG-TEXT", &text);
            for from in [None, Some(format)] {
                let found = reading(whole.as_bytes(), from).end.map(|trace| trace.format);
                assert_eq!(found, Ok(format), "{length} {input}");
            }
        }
    }
}

#[test]
fn what_is_no_trace_is_refused_by_name() {
    let names = Format::ALL.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let written =
        REFUSED.lines().map(|line| line.split_once(" | ").expect("a message and an input"));
    let no_text = [
        ("the input is empty", ""),
        ("the input is empty", "\u{feff} \r\n\n"),
        ("not recognised as a trace", "\0\u{1}"),
        ("looks like a zip archive that is not an Inspect log", "PK\u{3}\u{4}"),
    ];
    for (begin, input) in written.chain(no_text) {
        let found = reading(self::written(input).as_bytes(), None);
        assert!(found.events.is_empty() && found.end.is_err(), "{input}");
        let problem = found.problems().concat();
        assert!(problem.starts_with(begin), "{input}: {problem}");
        let end = match begin.split(' ').next() {
            Some("looks") => format!("read are: {names}"),
            Some("not") => format!("read are: {names}; `--from` names one of these"),
            _ => "expected a trace".to_owned(),
        };
        assert!(problem.ends_with(&end), "{input}: {problem}");
    }
    let empty = reading(b"", Some(Format::NATIVE)).end;
    assert_eq!(empty, Err(Problem { line: None, kind: ProblemKind::Empty }));
}

/// A reader that counts what was taken from it.
struct Counted<R>(R, usize);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let count = self.0.read(buffer)?;
        self.1 += count;
        Ok(count)
    }
}

#[test]
fn a_text_without_end_is_not_read_to_its_end() {
    for begin in ["{\"a\":\"", "{\"a\":1,", "no JSON "] {
        let mut input = Counted(begin.as_bytes().chain(std::io::repeat(b'x')), 0);
        let end = read(BufReader::new(&mut input), None, &mut |_| {});
        assert_eq!(end.map_err(|problem| problem.kind), Err(ProblemKind::Unrecognized));
        assert!(input.1 <= (16 << 20) + 10_000, "{begin}: {}", input.1);
    }
}

#[test]
fn a_native_trace_is_of_no_other_format() {
    let message = r#"{"type":"message","role":"assistant","text":"I look."}"#;
    let native = format!("{{\"session\":\"s\"}}\n{message}\n{CALL}\n{message}\n");
    for format in Format::ALL.iter().copied().filter(|format| *format != Format::NATIVE) {
        let reading = reading(native.as_bytes(), Some(format));
        assert!(reading.end.is_err(), "{format}");
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let call = format!("{{\"type\":\"call\",\"tool\":\"x\",\"args\":{deep}}}\n{CALL}\n");
    let table = [
        (deep.clone(), None),
        (format!("{CALL}\n{deep}\n"), None),
        (call, Some(Format::NATIVE)),
        (format!("{{\"messages\":{deep}}}"), Some(Format::OPENAI)),
        (format!("{{\"loglines\":{deep}}}"), Some(Format::CLAUDE_CODE)),
        (format!(r#"[{{"role":"tool","content":{deep}}}]"#), Some(Format::OPENAI)),
        (format!("[{{\"role\":{deep}"), Some(Format::OPENAI)),
    ];
    let every = Format::ALL
        .iter()
        .map(|&format| (format!(r#"{{"type":"user","payload":{deep}}}"#), Some(format)));
    for (input, from) in table.into_iter().chain(every) {
        let calls = reading(input.as_bytes(), from).end.map_or(0, |trace| trace.calls);
        assert!(calls <= 2);
    }
}

/// A reader that delivers its bytes and then fails.
struct Unplugged<'a>(&'a [u8]);

impl Read for Unplugged<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        match self.0.read(buffer)? {
            0 => Err(Error::other("unplugged")),
            count => Ok(count),
        }
    }
}

#[test]
fn a_failing_reader_ends_the_trace_where_it_fails() {
    let far = format!("{CALL}\n").repeat(5_000);
    let chat = CHAT.replace(']', ",");
    let table = [
        (String::new(), None, Err("reading failed: unplugged")),
        ("{".to_owned(), None, Err("reading failed: unplugged")),
        (format!("{CALL}\n"), None, Ok("line 2: reading failed: unplugged")),
        (far, None, Ok("line 5001: reading failed: unplugged")),
        (chat, Some(Format::OPENAI), Ok("line 1: reading failed: unplugged")),
    ];
    for (given, from, expected) in table {
        let input = BufReader::new(Unplugged(given.as_bytes()));
        let end = read(input, from, &mut |_| {});
        let problems = end.map(|trace| trace.problems.iter().map(Problem::to_string).collect());
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(problems.map_err(|problem| problem.to_string()), expected);
    }
}
