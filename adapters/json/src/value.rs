//! Fingerprints of values that were parsed, or never were text: by `serde`, without making the
//! text.

mod contents;
mod serializer;
mod text;

use core::fmt;

use serde::Serialize;
use unstuck_core::Digest;

use crate::error::JsonError;
use crate::fingerprinter::{Exact, Fingerprinter, Numbers, Printer};
use crate::hash::Hash64;
use crate::value::serializer::Values;

/// The digest of a value: the [`fingerprint`](crate::fingerprint) of the text that
/// `serde_json::to_string` writes of it, without that text.
///
/// For arguments that the host has parsed already, or a result that is a structure of its own: a
/// call is the same call whether it came as text or as a value. It is that of
/// `Fingerprinter::<Exact>::new(0)`.
///
/// O(n) in the size of the value, and nothing is allocated. Implementations of [`Serialize`]
/// recurse, so that stack is taken for each container that is open.
///
/// # Errors
///
/// See [`ValueError`]. There is no limit but that of depth.
///
/// ```
/// use serde::Serialize;
/// use unstuck_json::{fingerprint, fingerprint_value};
///
/// #[derive(Serialize)]
/// struct Read<'a> {
///     path: &'a str,
///     limit: Option<u32>,
/// }
///
/// let parsed = serde_json::json!({"path": "src/lib.rs", "limit": 100.0});
/// let built = Read { path: "src/lib.rs", limit: Some(100) };
/// let text = fingerprint(br#"{"limit": 1e2, "path": "src\/lib.rs"}"#)?;
/// assert_eq!(fingerprint_value(&parsed)?, text);
/// assert_eq!(fingerprint_value(&built)?, text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fingerprint_value<T: Serialize + ?Sized>(value: &T) -> Result<Digest, ValueError> {
    static DEFAULT: Fingerprinter<Exact> = Fingerprinter::new(0);
    DEFAULT.value(value)
}

impl<N: Numbers, H: Hash64, const DEPTH: usize> Fingerprinter<N, H, DEPTH> {
    /// The digest of a value: that of [`Fingerprinter::fingerprint`] of the text that
    /// `serde_json::to_string` writes of it; as [`fingerprint_value`].
    ///
    /// # Errors
    ///
    /// See [`ValueError`].
    pub fn value<T: Serialize + ?Sized>(&self, value: &T) -> Result<Digest, ValueError> {
        let mut printer = Printer::new(self);
        value.serialize(Values(&mut printer))?;
        Ok(printer.digest())
    }
}

/// Why no fingerprint can be taken of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueError {
    /// The value has no JSON text: its own [`Serialize`] (or [`Display`](fmt::Display)) refused.
    ///
    /// What it said is lost, since nothing is allocated to keep it in; `serde_json::to_string`
    /// fails with that message.
    Refused,
    /// The key of a map is no string, and nothing that JSON writes as one: a character, an integer,
    /// a boolean, a variant without contents, or one of them in a newtype or in `Some`.
    ///
    /// Floats are refused, too: `1e16` as a key is another text from one version of `serde_json`
    /// to the next.
    Key,
    /// Arrays and objects nest deeper than so many.
    DepthLimit(u16),
    /// A `serde_json::value::RawValue`, or a number of arbitrary precision, that is not JSON, or
    /// goes beyond a limit. The offset is that in its own text.
    Raw(JsonError),
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => f.write_str(
                "expected a value that can be serialized; serde_json::to_string says why it cannot",
            ),
            Self::Key => f.write_str(
                "expected the key of a map to be a string, a char, an integer, a bool or a unit \
                 variant",
            ),
            Self::DepthLimit(depth_max) => {
                write!(f, "expected arrays and objects to nest at most {depth_max} deep")
            }
            Self::Raw(error) => write!(f, "raw JSON within the value, {error}"),
        }
    }
}

/// What was wrong with raw text is in the message, and so no source.
impl core::error::Error for ValueError {}

impl serde::ser::Error for ValueError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Refused
    }
}
