//! The check of a document, without a digest.

use heapless::Vec;

use crate::cursor::Fault;
use crate::error::JsonError;
use crate::fingerprinter::DEPTH_MAX;
use crate::walk::{Container, Visitor, walk};

/// Checks that `json` is one JSON value, which may have white space around it.
///
/// It accepts what [`fingerprint`](crate::fingerprint) accepts, with numbers of any size. One pass, O(n) in the length
/// of `json`.
///
/// # Errors
///
/// Those of [`fingerprint`](crate::fingerprint).
///
/// ```
/// use unstuck_json::check;
///
/// assert!(check(br#"{"path": "src/lib.rs"}"#).is_ok());
/// assert_eq!(check(b"[1, 2").unwrap_err().offset, 5);
/// ```
pub fn check(json: &[u8]) -> Result<(), JsonError> {
    walk::<DEPTH_MAX>(json, &mut Check { outer: Vec::new() })
}

/// Remembers nothing but the containers around those that are open.
struct Check {
    outer: Vec<Option<Container>, DEPTH_MAX>,
}

impl Visitor<'_> for Check {
    #[inline]
    fn open(&mut self, outer: Option<Container>) -> Option<()> {
        self.outer.push(outer).ok()
    }

    #[inline]
    fn close(&mut self, _: Container) -> Result<Option<Container>, Fault> {
        Ok(self.outer.pop().flatten())
    }
}
