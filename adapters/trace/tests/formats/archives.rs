//! Archives: every packing of every transcript, and how those that are broken are read.

use std::io::Write;

use crate::reading::{Reading, reading};
use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use unstuck_trace::Format;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// The ways in which an archive is written.
#[derive(Clone, Copy)]
enum Sizes {
    InHeader,
    Wide,
    Behind,
}

/// Returns a zip archive of members that are packed by a method.
fn zip(method: u16, sizes: Sizes, members: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in members {
        let packed = match method {
            8 => deflate(content.as_bytes()),
            93 => zstd(content.as_bytes()),
            _ => content.as_bytes().to_vec(),
        };
        let mut crc = Crc::new();
        crc.update(content.as_bytes());
        let size = |bytes: usize| u32::try_from(bytes).expect("small").to_le_bytes();
        let wide = |bytes: usize| u64::try_from(bytes).expect("small").to_le_bytes();
        let (flags, known): (u16, _) = match sizes {
            Sizes::Behind => (8, [[0; 4]; 3].concat()),
            Sizes::InHeader => {
                (0, [crc.sum().to_le_bytes(), size(packed.len()), size(content.len())].concat())
            }
            Sizes::Wide => (0, [crc.sum().to_le_bytes(), [255; 4], [255; 4]].concat()),
        };
        let extra = match sizes {
            Sizes::Wide => {
                [&[9, 9, 1, 0, 7, 1, 0, 16, 0][..], &wide(content.len()), &wide(packed.len())]
                    .concat()
            }
            Sizes::InHeader | Sizes::Behind => Vec::new(),
        };
        let short = |number: usize| u16::try_from(number).expect("small").to_le_bytes();
        archive.extend(b"PK\x03\x04\x14\0");
        archive.extend([flags.to_le_bytes(), method.to_le_bytes(), [0; 2], [0; 2]].concat());
        archive.extend(known);
        archive.extend([short(name.len()), short(extra.len())].concat());
        archive.extend([name.as_bytes(), &extra, &packed].concat());
        if matches!(sizes, Sizes::Behind) {
            archive.extend(b"PK\x07\x08");
            let descriptor = [crc.sum().to_le_bytes(), size(packed.len()), size(content.len())];
            archive.extend(descriptor.concat());
        }
    }
    archive.extend(b"PK\x01\x02 and what else a directory has");
    archive
}

const SAMPLE: &str = r#"{"id":"a","epoch":1,"events":[{"event":"tool","function":"ls","arguments":{"x":"attachment://h"},"result":"x"}],"attachments":{"h":"long"}}"#;

const MEMBERS: [(&str, &str); 6] = [
    ("_journal/start.json", r#"{"version":2,"eval":{},"plan":{}}"#),
    ("samples/a_epoch_1.json", SAMPLE),
    ("samples/b/c_epoch_2.json", SAMPLE),
    ("_journal/summaries/1.json", r#"[{"id":"a","epoch":1}]"#),
    ("summaries.json", "not JSON"),
    ("header.json", r#"{"version":2,"eval":{}}"#),
];

const EVENTS: [&str; 5] = [
    r#"#0 main/1 ls {"x":"long"}"#,
    "#0 main -> \"x\"",
    "begin b/c_epoch_2",
    r#"#1 main/2 ls {"x":"long"}"#,
    "#1 main -> \"x\"",
];

fn assert_is_log(reading: &Reading) {
    assert_eq!(reading.events, EVENTS);
    assert_eq!(reading.problems(), [""; 0]);
    let trace = reading.end.as_ref().expect("a trace");
    assert_eq!((trace.format, trace.runs), (Format::INSPECT, 2));
    assert_eq!(trace.session.as_deref(), Some("a_epoch_1"));
}

#[test]
fn a_log_is_read_from_every_kind_of_zip() {
    for method in [0, 8, 93] {
        for sizes in [Sizes::InHeader, Sizes::Wide, Sizes::Behind] {
            if method == 0 && matches!(sizes, Sizes::Behind) {
                continue;
            }
            let archive = zip(method, sizes, &MEMBERS);
            assert_is_log(&reading(&archive, None));
            assert_is_log(&reading(&archive, Some(Format::INSPECT)));
            assert_is_log(&reading(&gzip(&archive), None));
            assert_is_log(&reading(&zstd(&archive), None));
        }
    }
}

#[test]
fn a_large_sample_is_read_from_its_parts() {
    let event = r#"[{"event":"tool","function":"ls","result":"x"}]"#;
    let members = [
        ("samples/a_epoch_1/sample.json", "{}"),
        ("samples/a_epoch_1/messages/0.json", "[1]"),
        ("samples/a_epoch_1/events/0.json", event),
        ("samples/a_epoch_1/events/1000.json", event),
        ("samples/a_epoch_1/events/stats.json", "{}"),
        ("samples/a_epoch_1/attachments/0.json", "[]"),
        ("samples/b_epoch_1/events/0.json", event),
    ];
    let reading = reading(&zip(8, Sizes::InHeader, &members), None);
    let calls = reading.events.iter().filter(|event| !event.contains("->"));
    let calls: Vec<&str> = calls.map(String::as_str).collect();
    assert_eq!(
        calls,
        ["#0 main/1 ls null", "#1 main/2 ls null", "begin b_epoch_1", "#2 main/3 ls null"]
    );
    assert_eq!(reading.problems(), [""; 0]);
}

#[test]
fn a_log_that_breaks_off_delivers_the_samples_before() {
    let archive = zip(93, Sizes::InHeader, &MEMBERS[..4]);
    let place = |text: &[u8]| archive.windows(text.len()).position(|window| window == text);
    let second = place(b"samples/b/c").expect("a member");
    for cut in [second - 30, second - 10, second + 3] {
        let reading = reading(&archive[..cut], None);
        assert_eq!(reading.events, EVENTS[..2]);
        let expected = format!("reading failed: the zip archive breaks off at byte {cut}");
        assert_eq!(reading.problems(), [expected]);
    }
    let within = reading(&archive[..second + 60], None);
    assert_eq!(within.events[..2], EVENTS[..2]);
    assert!(within.problems().iter().any(|problem| problem.contains("breaks off at byte")));
}

#[test]
fn a_broken_member_costs_no_other() {
    let mut archive = zip(0, Sizes::InHeader, &MEMBERS);
    let place = |archive: &[u8], text: &[u8]| {
        archive.windows(text.len()).position(|window| window == text).expect("a place")
    };
    let at = place(&archive, b"\"function\"");
    archive[at] = b'?';
    let broken = reading(&archive, None);
    assert_eq!(
        broken.events,
        EVENTS.map(|event| event.replace('1', "0"))[3..]
            .to_vec()
            .iter()
            .map(|event| event.replace("/2", "/1"))
            .collect::<Vec<_>>()
    );
    let problems = broken.problems();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].starts_with("samples/a_epoch_1.json in the archive: line 1: "),
        "{problems:?}"
    );
    // Only the checksum tells that a letter is another one.
    let mut archive = zip(0, Sizes::InHeader, &MEMBERS);
    let at = place(&archive, b"long");
    archive[at] = b'L';
    let expected = "samples/a_epoch_1.json in the archive: line 1: reading failed: the checksum of the member does not \
                    match its content";
    assert_eq!(reading(&archive, None).problems(), [expected]);
}

#[test]
fn a_member_that_cannot_be_unpacked_is_named() {
    let mut archive = zip(0, Sizes::InHeader, &MEMBERS[1..3]);
    archive[8] = 12;
    let found = reading(&archive, None);
    let expected = "samples/a_epoch_1.json in the archive: reading failed: packed by an unknown method: expected \
                    deflate or zstd";
    assert_eq!(found.problems(), [expected]);
    assert_eq!(found.end.map(|trace| trace.calls), Ok(1));
    archive[8] = 0;
    archive[6] = 1;
    let expected = "samples/a_epoch_1.json in the archive: reading failed: encrypted: expected a member without a \
                    password";
    assert_eq!(reading(&archive, None).problems(), [expected]);
}

/// Returns a session of as many calls, each with its own argument.
fn session(calls: usize) -> String {
    let line = |n| {
        format!("{{\"type\":\"call\",\"tool\":\"bash\",\"args\":{{\"n\":{n}}},\"result\":\"x\"}}\n")
    };
    (0..calls).map(line).collect()
}

#[test]
fn packed_transcripts_are_read_like_others() {
    let chat = r#"[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]"#;
    for text in [session(5), session(5000), chat.to_owned(), String::new()] {
        let expected = reading(text.as_bytes(), None);
        for packed in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
            let found = reading(&packed, None);
            assert_eq!((found.events, found.end), (expected.events.clone(), expected.end.clone()));
        }
    }
}

#[test]
fn packed_lines_before_a_break_are_delivered() {
    let text = session(20_000);
    for (packed, name) in [(gzip(text.as_bytes()), "gzip"), (zstd(text.as_bytes()), "zstd")] {
        let cut = packed.len() * 9 / 10;
        let found = reading(&packed[..cut], None);
        let trace = found.end.expect("a trace");
        assert!(trace.calls > 14_000, "{name}: {}", trace.calls);
        let line = trace.calls + 1;
        let expected =
            format!("line {line}: reading failed: the {name} archive breaks off at byte {cut}");
        assert_eq!(trace.problems.first().map(ToString::to_string), Some(expected));
        let begin = reading(&packed[..7], None).problems();
        assert_eq!(begin, [format!("reading failed: the {name} archive breaks off at byte 7")]);
    }
}

#[test]
fn archives_that_hold_no_transcript_are_named() {
    let mut tar = vec![0; 512];
    tar[..5].copy_from_slice(b"a.txt");
    tar[257..262].copy_from_slice(b"ustar");
    let table = [
        (gzip(&tar), "looks like a tar archive"),
        (gzip(&zstd(b"x")), "looks like a zstd archive in an archive"),
        (zstd(&gzip(b"x")), "looks like a gzip archive in an archive"),
        (
            zip(8, Sizes::InHeader, &[("a.txt", "x")]),
            "looks like a zip archive that is not an Inspect log",
        ),
        (gzip(b"notes"), "not recognised as a trace"),
        (gzip(b" \n"), "the input is empty"),
    ];
    for (archive, begin) in table {
        let problem = reading(&archive, None).problems().concat();
        assert!(problem.starts_with(begin), "{problem}");
    }
    let named = reading(&zip(8, Sizes::InHeader, &MEMBERS), Some(Format::NATIVE));
    assert!(named.end.is_err() && named.events.is_empty());
}
