//! Digests of JSON: one meaning, one fingerprint.
//!
//! An agent that repeats itself seldom repeats its bytes: members change places, a `/` is
//! escaped or not, `1` turns into `1.0`. This crate reads JSON once, as raw bytes, and gives
//! equal documents equal 64-bit digests, without building a tree, copying a string or sorting
//! a key. It is `no_std`, allocates nothing and does not recurse.
//!
//! What is spelled differently and means the same has one fingerprint:
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
//! Some members say what a call is about, others only how; the former can be compared alone:
//!
//! ```
//! use unstuck_json::fingerprint_members;
//!
//! let keys = ["path", "command"];
//! let first = fingerprint_members(br#"{"path": "a.rs", "offset": 0}"#, &keys)?;
//! let second = fingerprint_members(br#"{"path": "a.rs", "offset": 200}"#, &keys)?;
//! assert!(first.is_some());
//! assert_eq!(first, second);
//! # Ok::<(), unstuck_json::JsonError>(())
//! ```
//!
//! What is not JSON is an error that says what would be right, and where:
//!
//! ```
//! use unstuck_json::fingerprint;
//!
//! let error = fingerprint(br#"{"command": "ls" "cwd": "/"}"#).unwrap_err();
//! assert_eq!(error.to_string(), "byte 17: expected ',' or '}' after an object member");
//! ```
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
//! # What is accepted
//!
//! RFC 8259, to the letter: no byte order mark, no comments, no trailing comma, nothing behind
//! the value, only valid UTF-8. Stricter than its grammar in three points: an escaped surrogate
//! without its other half is an error, as it is no character; so is nesting beyond [`DEPTH_MAX`],
//! and an exponent beyond [`EXPONENT_MAX`].
//!
//! # What this crate does not do
//!
//! - It does not parse: there is no value to look into afterwards.
//! - It does not compare numbers as IEEE doubles, as RFC 8785 does. Two ids beyond 2⁵³ are two,
//!   and `0.1` is not `0.1000000000000000055`, though a double holds them for the same.
//! - It does not resist an adversary. The bytes are hashed by 64-bit FNV-1a, which is small,
//!   fast on short input, and *not* collision-resistant; members are added up. Whoever writes
//!   the document can make two documents collide. Among documents that nobody crafted, two
//!   share a fingerprint with probability about 2⁻⁶⁴.
//! - It does not promise that fingerprints stay the same from one version to the next.
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

mod cursor;
mod error;
mod fold;
mod number;
mod string;
mod walk;

use unstuck_core::Digest;

pub use crate::error::{JsonError, JsonErrorKind};
pub use crate::number::EXPONENT_MAX;
use crate::string::unescape;
pub use crate::walk::DEPTH_MAX;
use crate::walk::{Members, walk};

/// The digest of one JSON value, which may have white space around it.
///
/// Two documents have the same fingerprint if they mean the same (see the
/// [table](crate#what-is-equal)), and otherwise differ but for a hash collision.
///
/// One pass, O(n) in the length of `json`; some 2 KiB of stack.
///
/// # Errors
///
/// The first byte that makes `json` something else than one JSON value, or that goes beyond
/// [`DEPTH_MAX`] or [`EXPONENT_MAX`]. A value cut short is an error at its end.
///
/// ```
/// use unstuck_json::fingerprint;
///
/// assert_eq!(fingerprint(b"[1, 2]")?, fingerprint(b" [ 1.0 , 20e-1 ] ")?);
/// assert_ne!(fingerprint(b"[1, 2]")?, fingerprint(b"[2, 1]")?);
/// # Ok::<(), unstuck_json::JsonError>(())
/// ```
pub fn fingerprint(json: &[u8]) -> Result<Digest, JsonError> {
    walk(json, Members::All).map(|root| root.digest)
}

/// The digest of those members of a top-level object whose name is in `keep`, in any order;
/// `None` if there are none, or if the value is no object.
///
/// It equals the [`fingerprint`] of the object with all other members taken away. Names are
/// compared unescaped; members of nested objects are kept or dropped with the member that
/// holds them. `None` lets the caller fall back to the whole value: else all calls that use
/// none of the names would be equal.
///
/// One pass, O(n) in the length of `json`, plus the top-level names times `keep`.
///
/// # Errors
///
/// Those of [`fingerprint`], also where the offence lies in a member that is not kept.
///
/// ```
/// use unstuck_json::{fingerprint, fingerprint_members};
///
/// let call = br#"{"url": "https://example.org", "timeout": 30}"#;
/// let expected = fingerprint(br#"{"url": "https://example.org"}"#)?;
/// assert_eq!(fingerprint_members(call, &["url", "query"])?, Some(expected));
/// assert_eq!(fingerprint_members(call, &["path"])?, None);
/// # Ok::<(), unstuck_json::JsonError>(())
/// ```
pub fn fingerprint_members(json: &[u8], keep: &[&str]) -> Result<Option<Digest>, JsonError> {
    let root = walk(json, Members::Named(keep))?;
    Ok((root.members > 0).then_some(root.digest))
}

/// The characters of the top-level member `name`, unescaped into `buffer`; `None` if there is
/// no such member, it is no string, or it is longer than `buffer`. Of several, the last.
///
/// For the few members whose text says what a call is about, like a shell's command. O(n).
///
/// # Errors
///
/// Those of [`fingerprint`].
///
/// ```
/// use unstuck_json::string_member;
///
/// let call = br#"{"command": "cat \u0022a b\u0022", "timeout": 30}"#;
/// let mut buffer = [0; 64];
/// assert_eq!(string_member(call, "command", &mut buffer)?, Some("cat \"a b\""));
/// assert_eq!(string_member(call, "timeout", &mut buffer)?, None);
/// assert_eq!(string_member(call, "command", &mut [0; 4])?, None);
/// # Ok::<(), unstuck_json::JsonError>(())
/// ```
pub fn string_member<'b>(
    json: &[u8],
    name: &str,
    buffer: &'b mut [u8],
) -> Result<Option<&'b str>, JsonError> {
    let root = walk(json, Members::Named(&[name]))?;
    Ok(root.named.and_then(|value| unescape(value, buffer)))
}
