//! JSON-RPC messages, as far as the proxy parses them.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A line of JSON-RPC. Other lines are forwarded unparsed.
pub(crate) enum Line<'l> {
    One(Message<'l>),
    /// Several messages in one array, which version 2025-03-26 of MCP allows.
    Batch(Vec<&'l RawValue>),
}

impl<'l> Line<'l> {
    pub(crate) fn read(line: &'l [u8]) -> Option<Self> {
        match line.trim_ascii_start().first()? {
            b'{' => serde_json::from_slice(line).ok().map(Self::One),
            b'[' => serde_json::from_slice(line).ok().map(Self::Batch),
            _ => None,
        }
    }
}

/// A request, a notification or a response.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'l"))]
pub(crate) struct Message<'l> {
    /// `None` for a notification.
    pub(crate) id: Option<&'l RawValue>,
    /// `None` for a response.
    #[serde(borrow)]
    pub(crate) method: Option<Cow<'l, str>>,
    pub(crate) params: Option<&'l RawValue>,
    pub(crate) result: Option<&'l RawValue>,
    pub(crate) error: Option<&'l RawValue>,
}

/// The `params` of `tools/call`.
#[derive(Deserialize)]
pub(crate) struct Call<'l> {
    #[serde(borrow)]
    pub(crate) name: Cow<'l, str>,
    #[serde(borrow)]
    arguments: Option<&'l RawValue>,
}

impl Call<'_> {
    /// Returns the arguments as JSON. Missing arguments are an empty object.
    pub(crate) fn arguments(&self) -> &str {
        self.arguments.map_or("{}", RawValue::get)
    }
}

/// The `params` of `notifications/cancelled`.
#[derive(Deserialize)]
pub(crate) struct Cancelled<'l> {
    #[serde(borrow, rename = "requestId")]
    pub(crate) request: Option<&'l RawValue>,
}

/// The `params` and the `result` of `initialize`.
#[derive(Deserialize)]
pub(crate) struct Greeting<'l> {
    /// The version of the protocol, a date. A later version compares as greater.
    #[serde(borrow, rename = "protocolVersion")]
    pub(crate) version: Cow<'l, str>,
}

/// The JSON-RPC id that links a response to its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Id {
    /// A number, as it is spelled.
    Number(Box<str>),
    /// A string, unescaped: a server may escape other characters than the client.
    Text(Box<str>),
}

impl Id {
    /// Reads an id. Returns `None` for other values.
    pub(crate) fn of(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        match text.as_bytes().first()? {
            b'"' => serde_json::from_str(text).ok().map(Self::Text),
            b'-' | b'0'..=b'9' => Some(Self::Number(text.into())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(line: &str) -> Option<Message<'_>> {
        match Line::read(line.as_bytes())? {
            Line::One(message) => Some(message),
            Line::Batch(_) => None,
        }
    }

    #[test]
    fn other_lines_are_not_messages() {
        for line in ["", "\n", " ", "{", "nonsense", "null", "\"a\"", "{\"id\":1", "{} {}"] {
            assert!(Line::read(line.as_bytes()).is_none(), "{line:?}");
        }
        // Client and server decide which one of two equal members counts.
        assert!(message(r#"{"method":"a","method":"b"}"#).is_none());
        assert!(Line::read(b"{\"method\":\"\xff\"}").is_none());
    }

    #[test]
    fn a_message_is_read_however_it_is_laid_out() {
        let text = " { \"params\" : [ 1 ] , \"id\" : null , \"method\" : \"tools\\/call\" } \r\n";
        let message = message(text).expect("a message");
        assert_eq!(message.method.as_deref(), Some("tools/call"));
        assert_eq!(message.params.map(RawValue::get), Some("[ 1 ]"));
        assert!(message.id.is_none() && message.result.is_none() && message.error.is_none());
    }

    #[test]
    fn ids_are_compared_by_their_values() {
        for (one, other, equal) in [
            ("1", "1", true),
            ("1", "2", false),
            ("1", "\"1\"", false),
            (r#""\u0061""#, "\"a\"", true),
            ("\"a\"", "\"b\"", false),
        ] {
            let (one, other): (&RawValue, &RawValue) = (
                serde_json::from_str(one).expect("JSON"),
                serde_json::from_str(other).expect("JSON"),
            );
            assert_eq!(Id::of(one) == Id::of(other), equal, "{one} {other}");
        }
        for none in ["true", "null", "[1]", "{}"] {
            assert_eq!(Id::of(serde_json::from_str(none).expect("JSON")), None);
        }
    }
}
