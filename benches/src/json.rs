//! The benchmark `json`: the fingerprint beside canonical text with a hash, and beside parsers.

use std::hint::black_box;
use std::io;

use clap::ValueEnum;
use rapidhash::v3::rapidhash_v3;
use serde::Serialize;
use serde_json::Value;
use unstuck_core::Digest;
use unstuck_json::{Fingerprinter, Rfc8785};

use crate::documents::{Document, bytes, respelled};
use crate::instructions::{NOT_COUNTED, can_be_counted, per_turn, word};
use crate::report::{Measurement, Report, rounded};
use crate::rounds::{Case, Timing, take_turns};

/// The number of rounds.
const ROUNDS: usize = 51;

/// A function that reads the bytes of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Reader {
    /// The canonical text of the crate `serde_jcs`, hashed.
    SerdeJcs,
    /// `unstuck_json::fingerprint`.
    Fingerprint,
    /// A `Fingerprinter<Rfc8785>`, which regards the same documents as equal as `serde_jcs` does.
    Rfc8785,
    /// The canonical text of the crate `serde_json_canonicalizer`, hashed.
    Canonicalizer,
    /// The canonical text of the crate `json-canon`, hashed.
    JsonCanon,
    /// The text of `serde_json`, which sorts maps, hashed.
    Sorted,
    /// The crate `simd-json`, up to its borrowed value.
    SimdJson,
    /// The crate `sonic-rs`, up to its value.
    SonicRs,
    /// The canonical text of the crate `serde_jcs`.
    SerdeJcsText,
    /// `unstuck_json::canonicalize`.
    Canonicalize,
    /// The canonical text of the crate `serde_json_canonicalizer`.
    CanonicalizerText,
    /// The canonical text of the crate `json-canon`.
    JsonCanonText,
}

/// The result of reading a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// 64 bits that are equal for documents of equal meaning.
    Digest,
    /// A value in memory, from which the other crates start.
    Value,
    /// Canonical text.
    Text,
}

impl Reader {
    /// Returns the name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SerdeJcs => "serde_jcs + hash",
            Self::Fingerprint => "unstuck, exact",
            Self::Rfc8785 => "unstuck, rfc8785",
            Self::Canonicalizer => "serde_json_canonicalizer + hash",
            Self::JsonCanon => "json-canon + hash",
            Self::Sorted => "serde_json, sorted + hash",
            Self::SimdJson => "simd-json, parsed only",
            Self::SonicRs => "sonic-rs, parsed only",
            Self::SerdeJcsText => "serde_jcs, text",
            Self::Canonicalize => "unstuck, text",
            Self::CanonicalizerText => "serde_json_canonicalizer, text",
            Self::JsonCanonText => "json-canon, text",
        }
    }

    /// Returns the kind of the result.
    pub const fn aim(self) -> Aim {
        match self {
            Self::SerdeJcs
            | Self::Fingerprint
            | Self::Rfc8785
            | Self::Canonicalizer
            | Self::JsonCanon
            | Self::Sorted => Aim::Digest,
            Self::SimdJson | Self::SonicRs => Aim::Value,
            Self::SerdeJcsText
            | Self::Canonicalize
            | Self::CanonicalizerText
            | Self::JsonCanonText => Aim::Text,
        }
    }

    /// Reads each of `texts`, and returns the sum of the results, which is the same every time.
    pub fn read<T: AsRef<[u8]>>(self, texts: &[T]) -> u32 {
        match self {
            Self::SerdeJcs => sum(texts, |json| hash(&serde_jcs(json))),
            Self::Fingerprint => sum(texts, fingerprint),
            Self::Rfc8785 => sum(texts, rfc8785),
            Self::Canonicalizer => sum(texts, |json| hash(&canonicalizer(json))),
            Self::JsonCanon => sum(texts, |json| hash(&json_canon(json))),
            Self::Sorted => sum(texts, |json| hash(&sorted(json))),
            Self::SimdJson => sum(texts, simd_json),
            Self::SonicRs => sum(texts, sonic_rs),
            Self::SerdeJcsText => sum(texts, |json| length(&serde_jcs(json))),
            Self::Canonicalize => sum(texts, |json| length(&canonicalize(json))),
            Self::CanonicalizerText => sum(texts, |json| length(&canonicalizer(json))),
            Self::JsonCanonText => sum(texts, |json| length(&json_canon(json))),
        }
    }
}

fn fingerprint(json: &[u8]) -> u64 {
    unstuck_json::fingerprint(json).map_or(0, Digest::bits)
}

fn rfc8785(json: &[u8]) -> u64 {
    static DOUBLES: Fingerprinter<Rfc8785> = Fingerprinter::new(0);
    DOUBLES.fingerprint(json).map_or(0, Digest::bits)
}

fn serde_jcs(json: &[u8]) -> Vec<u8> {
    serde_jcs::to_vec(&value(json)).unwrap_or_default()
}

fn canonicalize(json: &[u8]) -> Vec<u8> {
    let mut text = String::new();
    unstuck_json::canonicalize(json, &mut text).map_or_else(|_| Vec::new(), |()| text.into_bytes())
}

fn canonicalizer(json: &[u8]) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(&value(json)).unwrap_or_default()
}

fn json_canon(json: &[u8]) -> Vec<u8> {
    json_canon::to_vec(&value(json)).unwrap_or_default()
}

fn sorted(json: &[u8]) -> Vec<u8> {
    value(json).to_string().into_bytes()
}

/// Parses a copy, because `simd-json` unescapes in place.
fn simd_json(json: &[u8]) -> u64 {
    let mut copy = json.to_vec();
    black_box(&simd_json::to_borrowed_value(&mut copy)).is_ok().into()
}

fn sonic_rs(json: &[u8]) -> u64 {
    black_box(&sonic_rs::from_slice::<sonic_rs::Value>(json)).is_ok().into()
}

/// Parses `json` for the crates that start from a value.
fn value(json: &[u8]) -> Value {
    serde_json::from_slice(json).unwrap_or_default()
}

/// A fast hash, so that the hash does not dominate the measurement.
fn hash(text: &[u8]) -> u64 {
    rapidhash_v3(text)
}

fn length(text: &[u8]) -> u64 {
    black_box(text).len() as u64
}

/// Returns the sum of the lower halves of `answer` for each of `texts`.
fn sum<T: AsRef<[u8]>>(texts: &[T], answer: impl Fn(&[u8]) -> u64) -> u32 {
    texts.iter().fold(0, |sum, text| {
        let [a, b, c, d, ..] = answer(black_box(text.as_ref())).to_le_bytes();
        u32::from_le_bytes([a, b, c, d]).wrapping_add(sum)
    })
}

/// One reader on one document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reading {
    /// The document.
    pub document: Document,
    /// The reader.
    pub reader: Reader,
    /// The median time for a document, in nanoseconds.
    pub ns: f64,
    /// The speed in millions of bytes a second.
    pub megabytes_per_second: f64,
    /// The speed relative to `serde_jcs` with a hash. A reader that makes text is compared with
    /// `serde_jcs` without the hash.
    pub times_as_fast: f64,
    /// The instructions for a byte, if they were counted.
    pub instructions_per_byte: Option<f64>,
}

impl Measurement for Reading {
    const HEADINGS: &'static [&'static str] =
        &["document", "read by", "ns", "MB/s", "x serde_jcs", "instructions/byte"];
    const WORDS: usize = 2;

    fn cells(&self) -> Vec<String> {
        vec![
            self.document.name().to_owned(),
            self.reader.name().to_owned(),
            format!("{:.0}", self.ns),
            format!("{:.0}", self.megabytes_per_second),
            format!("{:.1}", self.times_as_fast),
            rounded(self.instructions_per_byte, 1),
        ]
    }
}

/// Measures every reader on every document.
///
/// # Errors
///
/// If valgrind fails.
pub fn measure() -> io::Result<Report> {
    let documents =
        Document::value_variants().iter().filter(|document| !document.texts().is_empty());
    let mut readings: Vec<_> = documents.flat_map(|&document| readings(document)).collect();
    let can_be_counted = can_be_counted();
    for row in readings.iter_mut().filter(|_| can_be_counted) {
        // The heap takes a few turns to settle, but valgrind is slow on large documents.
        let bytes = bytes(&row.document.texts());
        let turns = if bytes > 500_000.0 { 1 } else { 8 };
        let counted = per_turn("json", &[word(&row.reader), word(&row.document)], turns)?;
        row.instructions_per_byte = Some(counted / bytes);
    }
    report(&readings, can_be_counted)
}

/// Reads the documents of a round `times` times, for valgrind to count. Returns the sum of the
/// results.
pub fn count(reader: Reader, document: Document, times: u16) -> u32 {
    let texts = document.texts();
    (0..times).map(|_| reader.read(&texts)).fold(0, u32::wrapping_add)
}

fn report(readings: &[Reading], is_counted: bool) -> io::Result<Report> {
    let mut report = Report::default();
    report.table("rows", readings)?;
    report.remark(
        "From raw bytes to 64 bits; rows that say `text` stop at canonical text, and `parsed only` at a \
         value.\n`x serde_jcs` is the relative speed; a `text` is compared with the text of \
         `serde_jcs`.\nThe hash is always rapidhash v3. `serde_json` has its feature \
         `float_roundtrip`, which correct canonical\ntext needs.",
    );
    if !is_counted {
        report.leave_out(NOT_COUNTED);
    }
    Ok(report)
}

/// Times all readers on `document` in turns. Readers that make text have rounds of their own.
fn readings(document: Document) -> Vec<Reading> {
    let texts = document.texts();
    let readers = Reader::value_variants().iter().copied();
    let (to_text, to_bits) = readers.partition(|reader| reader.aim() == Aim::Text);
    let mut readings = timed(document, &texts, to_bits);
    readings.extend(timed(document, &texts, to_text));
    readings
}

/// Times `readers` in turns, and compares them with the first.
fn timed(document: Document, texts: &[String], readers: Vec<Reader>) -> Vec<Reading> {
    let again: Vec<String> = texts.iter().map(|text| respelled(text)).collect();
    let case = |reader: &Reader| {
        let reader = *reader;
        assert_eq!(reader.read(texts), reader.read(&again), "{reader:?} on {document:?}");
        let calls = u16::try_from(texts.len()).unwrap_or(u16::MAX);
        Case { calls, run: Box::new(move || reader.read(texts)) }
    };
    let cases: Vec<Case<'_>> = readers.iter().map(case).collect();
    let timings = take_turns(&cases, ROUNDS);
    let bytes_per_text = bytes(texts) / f64::from(cases[0].calls);
    let reading = |(reader, Timing { ns_per_call, ratio, .. })| Reading {
        document,
        reader,
        ns: ns_per_call,
        megabytes_per_second: bytes_per_text * 1e3 / ns_per_call,
        times_as_fast: 1.0 / ratio,
        instructions_per_byte: None,
    };
    readers.into_iter().zip(timings).map(reading).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_one_table_and_a_line_for_all_else() {
        let reading = |document, reader, ns: f64, instructions_per_byte| Reading {
            document,
            reader,
            ns,
            megabytes_per_second: 60_000.0 / ns,
            times_as_fast: 1000.0 / ns,
            instructions_per_byte,
        };
        let readings = [
            reading(Document::Args60, Reader::SerdeJcs, 1000.0, Some(160.04)),
            reading(Document::Args60, Reader::Fingerprint, 60.5, Some(9.76)),
            reading(Document::File, Reader::SerdeJcs, 1000.0, None),
        ];
        insta::assert_snapshot!(report(&readings, false).unwrap());
    }

    #[test]
    fn digests_are_those_of_the_meaning() {
        for document in Document::value_variants() {
            let texts = document.texts();
            let again: Vec<_> = texts.iter().map(|text| respelled(text)).collect();
            for reader in Reader::value_variants() {
                assert_eq!(reader.read(&texts), reader.read(&again), "{reader:?}, {document:?}");
                if reader.aim() == Aim::Digest && texts.len() > 1 {
                    let (one, other) = (reader.read(&texts[..1]), reader.read(&texts[1..2]));
                    assert_ne!(one, other, "{reader:?}, {document:?}");
                }
            }
        }
    }

    #[test]
    fn canonical_texts_are_equal() {
        for document in Document::value_variants() {
            for json in document.texts() {
                let text = serde_jcs(json.as_bytes());
                assert!(text.starts_with(if json.starts_with('[') { b"[" } else { b"{" }));
                for other in [canonicalize, canonicalizer, json_canon].map(|of| of(json.as_bytes()))
                {
                    assert_eq!(other, text, "{document:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_json_has_another_answer() {
        for reader in Reader::value_variants() {
            let (broken, whole) = (reader.read(&[r#"{"a":1"#]), reader.read(&[r#"{"a":1}"#]));
            assert_ne!(broken, whole, "{reader:?}");
        }
    }
}
