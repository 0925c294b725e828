//! Arguments and results, in any form in which a host has them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::prepared::PreparedResult;

/// Arguments or a result, as text. Arguments are mostly JSON.
///
/// It is made from text, from bytes, and with the feature `json` from values, too. Each byte that is not
/// UTF-8 becomes `\xNN`, so that two different results stay different.
///
/// ```
/// use unstuck::Payload;
///
/// assert_eq!(Payload::from(r#"{"path":"a.rs"}"#).as_str(), r#"{"path":"a.rs"}"#);
/// assert_eq!(Payload::from(&b"caf\xe9"[..]).as_str(), r"caf\xe9");
/// ```
#[derive(Clone, Debug)]
pub struct Payload<'a> {
    text: Cow<'a, str>,
    /// The digests, if the text was read ahead as a result.
    pub(crate) prepared: Option<Arc<PreparedResult>>,
}

impl Payload<'_> {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Serialises `value` as JSON.
    ///
    /// # Errors
    ///
    /// The error of the serialisation, for example if the keys of a map are no strings.
    #[cfg(feature = "json")]
    pub fn json<T: serde::Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self::from)
    }
}

impl PartialEq for Payload<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Payload<'_> {}

impl<'a> From<&'a str> for Payload<'a> {
    fn from(text: &'a str) -> Self {
        Cow::from(text).into()
    }
}

impl<'a> From<&'a String> for Payload<'a> {
    fn from(text: &'a String) -> Self {
        Cow::from(text).into()
    }
}

impl From<String> for Payload<'_> {
    fn from(text: String) -> Self {
        Cow::<str>::from(text).into()
    }
}

impl<'a> From<Cow<'a, str>> for Payload<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self { text, prepared: None }
    }
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        std::str::from_utf8(bytes).map_or_else(|_| escaped(bytes).into(), Self::from)
    }
}

impl<'a> From<&'a Vec<u8>> for Payload<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        bytes.as_slice().into()
    }
}

#[cfg(feature = "json")]
impl From<&serde_json::Value> for Payload<'_> {
    fn from(value: &serde_json::Value) -> Self {
        value.to_string().into()
    }
}

/// The output of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// The result, or the error message.
    pub text: String,
    /// Whether the call failed.
    pub failed: bool,
}

impl ToolOutput {
    /// Creates the output of a call that worked.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: false }
    }

    /// Creates the output of a call that failed.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: true }
    }
}

/// Returns the text of `bytes`. Bytes that are not UTF-8 become `\xNN`.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_stay_different() {
        let texts = [&b"a\xff"[..], b"a\xfe", b"\xe2\x82", b"\xe2", b"ok"].map(Payload::from);
        let texts = texts.each_ref().map(Payload::as_str);
        assert_eq!(texts, [r"a\xff", r"a\xfe", r"\xe2\x82", r"\xe2", "ok"]);
    }

    #[cfg(feature = "json")]
    #[test]
    fn a_value_is_its_json() {
        let value = serde_json::json!({"path": "a.rs", "limit": 10});
        assert_eq!(Payload::from(&value), Payload::json(&value).expect("a value"));
        assert!(Payload::json(&std::collections::HashMap::from([((1, 2), 3)])).is_err());
    }
}
