//! Digests of JSON: one meaning, one fingerprint.
//!
//! An agent that repeats itself seldom repeats its bytes: members change places, a `/` is escaped
//! or not, `1` becomes `1.0`. This crate reads raw JSON in one pass and returns equal 64-bit
//! digests for equal documents. It builds no tree, copies no string and sorts no key. It is
//! `no_std`, allocates nothing and does not recurse.
//!
//! Different spellings of the same document have one fingerprint:
//!
//! ```
//! use unstuck_json::fingerprint;
//!
//! let sent = fingerprint(br#"{"path": "src/lib.rs", "limit": 100}"#)?;
//! let again = fingerprint(br#"{"limit":1e2,"path":"src\/lib\u002ers"}"#)?;
//! assert_eq!(sent, again);
//!
//! let other = fingerprint(br#"{"path": "src/lib.rs", "limit": 101}"#)?;
//! assert_ne!(sent, other);
//! # Ok::<(), unstuck_json::JsonError>(())
//! ```
//!
//! The members that say what a call is about can be compared alone, in the same pass:
//!
//! ```
//! use unstuck_json::{Exact, Fingerprinter};
//!
//! static PRINT: Fingerprinter<Exact> = Fingerprinter::new(0);
//! let primary = ["path", "command"];
//!
//! let first = PRINT.shape(br#"{"path": "a.rs", "offset": 0}"#, &primary)?;
//! let further = PRINT.shape(br#"{"path": "a.rs", "offset": 200}"#, &primary)?;
//! assert_ne!(first.whole, further.whole);
//! assert_eq!(first.primary, further.primary);
//! # Ok::<(), unstuck_json::JsonError>(())
//! ```
//!
//! The error for invalid JSON names the position and the expected input:
//!
//! ```
//! use unstuck_json::fingerprint;
//!
//! let error = fingerprint(br#"{"command": "ls" "cwd": "/"}"#).unwrap_err();
//! assert_eq!(error.to_string(), "byte 17: expected ',' or '}' after an object member");
//! ```
//!
//! With the feature `alloc`, and for memory, `canonicalize` writes the RFC 8785 text of a document:
//! to sign, to show, or to hash by a cryptographic hash.
//!
//! # What is equal
//!
//! | value | equal when |
//! |---|---|
//! | object | same members in any order; a name that occurs twice counts twice |
//! | array | same elements in the same order |
//! | string | same characters, however they are escaped; no Unicode normalisation |
//! | number | same exact decimal value: `1` = `1.0` = `10e-1`, `-0` = `0`, 2⁵³ + 1 ≠ 2⁵³ |
//! | `null`, `true`, `false` | same word |
//!
//! Values of different types are never equal: `"1"`, `1` and `[1]` are three things.
//!
//! That is [`Exact`]; by [`Rfc8785`], numbers are equal if the nearest IEEE doubles are, and
//! documents are equal exactly when their RFC 8785 texts are.
//!
//! # What is accepted
//!
//! RFC 8259, to the letter: no byte order mark, no comments, no trailing comma, no text behind the
//! value, only valid UTF-8. A few points are stricter than its grammar. An escaped surrogate
//! without its other half is an error, because it is not a character. So are nesting beyond
//! [`DEPTH_MAX`], a document beyond [`LENGTH_MAX`], an exponent beyond [`EXPONENT_MAX`] for
//! [`Exact`], and a number beyond the doubles for [`Rfc8785`].
//!
//! # Features
//!
//! | feature | for | needs |
//! |---|---|---|
//! | `alloc` | `canonicalize` | `alloc` |
//! | `simd` | strings that are not ASCII, some four times as fast | `std` |
//!
//! None of them changes a digest.
//!
//! # What this crate does not do
//!
//! - It does not parse: there is no value to look into afterwards.
//! - A fingerprint does not find names that occur twice, which would take memory: they count twice.
//!   `canonicalize` has the memory, and refuses them, as RFC 8785 asks.
//! - It does not resist an adversary by default. The default hash, [`Rapid`], is fast and good, but
//!   *not* collision-resistant: an author of documents who knows the seed can make two of them
//!   collide. A secret seed helps as long as digests stay secret, too. A keyed hash ([`Hash64`])
//!   also protects the texts. Among documents that were not crafted, two share a fingerprint with a
//!   probability of about 2⁻⁶⁴.
//! - It does not promise that fingerprints stay the same from one version to the next, though they
//!   are the same on every machine.
#![no_std]
#![forbid(unsafe_code)]
// No input may panic: what could is named by a lint, wherever it is not a test's own.
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::as_conversions,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

mod blocks;
#[cfg(feature = "alloc")]
mod canonical;
mod check;
mod cursor;
mod error;
mod escape;
mod fingerprinter;
mod hash;
mod mix;
#[cfg(feature = "alloc")]
mod name;
mod number;
mod scan;
mod shape;
mod string;
mod utf8;
mod walk;

use unstuck_core::Digest;

pub use crate::blocks::BLOCK;
#[cfg(feature = "alloc")]
pub use crate::canonical::{CanonicalError, canonicalize};
pub use crate::check::check;
pub use crate::error::{JsonError, JsonErrorKind};
pub use crate::fingerprinter::{DEPTH_MAX, Exact, Fingerprinter, Mode, Numbers, Rfc8785};
pub use crate::hash::{Fnv, Hash64, Rapid};
pub use crate::number::EXPONENT_MAX;
pub use crate::shape::Shape;
pub use crate::walk::LENGTH_MAX;

/// The digest of one JSON value, which may have white space around it.
///
/// Two documents have the same fingerprint if they mean the same (see the
/// [table](crate#what-is-equal)). Otherwise they differ, apart from hash collisions. The digest
/// equals the one of `Fingerprinter::<Exact>::new(0)`.
///
/// One pass, O(n) in the length of `json`; some 2 KiB of stack.
///
/// # Errors
///
/// The first byte that makes `json` something else than one JSON value, or that goes beyond
/// [`DEPTH_MAX`], [`EXPONENT_MAX`] or [`LENGTH_MAX`]. A value cut short is an error at its end.
///
/// ```
/// use unstuck_json::fingerprint;
///
/// assert_eq!(fingerprint(b"[1, 2]")?, fingerprint(b" [ 1.0 , 20e-1 ] ")?);
/// assert_ne!(fingerprint(b"[1, 2]")?, fingerprint(b"[2, 1]")?);
/// # Ok::<(), unstuck_json::JsonError>(())
/// ```
pub fn fingerprint(json: &[u8]) -> Result<Digest, JsonError> {
    static DEFAULT: Fingerprinter<Exact> = Fingerprinter::new(0);
    DEFAULT.fingerprint(json)
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
