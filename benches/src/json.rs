//! Who reads JSON: the fingerprint, what canonicalises and hashes, and what only parses.

use std::hint::black_box;

use clap::ValueEnum;
use rapidhash::v3::rapidhash_v3;
use serde::Serialize;
use serde_json::Value;
use unstuck_core::Digest;
use unstuck_json::{Fingerprinter, Rfc8785};

/// One that takes the bytes of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Reader {
    /// The canonical text of the crate `serde_jcs`, hashed.
    SerdeJcs,
    /// `unstuck_json::fingerprint`.
    Fingerprint,
    /// A `Fingerprinter<Rfc8785>`, for which the same documents are equal as for `serde_jcs`.
    Rfc8785,
    /// The canonical text of the crate `serde_json_canonicalizer`, hashed.
    Canonicalizer,
    /// The canonical text of the crate `json-canon`, hashed.
    JsonCanon,
    /// The text of `serde_json`, whose maps are sorted, hashed.
    Sorted,
    /// The crate `simd-json`, to its borrowed value and no further.
    SimdJson,
    /// The crate `sonic-rs`, to its value and no further.
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

/// What is made of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// 64 bits that are equal for documents of one meaning.
    Digest,
    /// A value in memory: what others begin with.
    Value,
    /// Canonical text.
    Text,
}

impl Reader {
    /// What the tables call it.
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

    /// What it makes of a document.
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

    /// Reads every one of `texts`; the sum of what it answers to each, the same every time.
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

/// It unescapes in place, and so takes a copy.
fn simd_json(json: &[u8]) -> u64 {
    let mut copy = json.to_vec();
    black_box(&simd_json::to_borrowed_value(&mut copy)).is_ok().into()
}

fn sonic_rs(json: &[u8]) -> u64 {
    black_box(&sonic_rs::from_slice::<sonic_rs::Value>(json)).is_ok().into()
}

/// What the others begin with.
fn value(json: &[u8]) -> Value {
    serde_json::from_slice(json).unwrap_or_default()
}

/// A fast hash for all who need one, so that what is measured is not the hash.
fn hash(text: &[u8]) -> u64 {
    rapidhash_v3(text)
}

fn length(text: &[u8]) -> u64 {
    black_box(text).len() as u64
}

/// The sum of the lower halves of what `answer` gives for each of `texts`.
fn sum<T: AsRef<[u8]>>(texts: &[T], answer: impl Fn(&[u8]) -> u64) -> u32 {
    texts.iter().fold(0, |sum, text| {
        let [a, b, c, d, ..] = answer(black_box(text.as_ref())).to_le_bytes();
        u32::from_le_bytes([a, b, c, d]).wrapping_add(sum)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{Document, respelled};

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
