//! A client for webhooks: signed requests with one POST each, over TLS or without.

mod client;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;

pub(crate) use client::{Target, headers};

use crate::output::remark;

/// The environment variable with the secret of a webhook.
pub(crate) const SECRET: &str = "UNSTUCK_WEBHOOK_SECRET";

/// Reads the URL that an option names; `path` replaces an empty path. Warns if the way to it is not encrypted.
///
/// # Errors
///
/// One sentence that does not repeat the URL, because it may contain a secret.
pub(crate) fn target(option: &str, url: &str, path: &str) -> Result<Target, String> {
    let target = Target::parse(url, path)?;
    if !target.is_private() {
        remark(option, "findings leave this machine without encryption: use https");
    }
    Ok(target)
}

/// The key that signs the requests to a webhook.
pub(crate) struct Secret(Vec<u8>);

impl Secret {
    /// The fewest bytes of a secret, by the Standard Webhooks.
    const BYTES_MIN: usize = 24;

    /// Reads a secret: the text itself, or base64 behind `whsec_`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let bytes = match text.strip_prefix("whsec_") {
            Some(encoded) => {
                STANDARD.decode(encoded).map_err(|_| "has no base64 behind whsec_".to_owned())?
            }
            None => text.as_bytes().to_vec(),
        };
        if bytes.len() < Self::BYTES_MIN {
            let least = Self::BYTES_MIN;
            return Err(format!(
                "has {} bytes, and {least} are needed: for example openssl rand -hex 16",
                bytes.len()
            ));
        }
        Ok(Self(bytes))
    }

    /// Returns the value of `webhook-signature`.
    fn signature(&self, id: &str, seconds: u64, body: &str) -> Option<HeaderValue> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(format!("{id}.{seconds}.{body}").as_bytes());
        let code = STANDARD.encode(mac.finalize().into_bytes());
        HeaderValue::try_from(format!("v1,{code}")).ok()
    }
}

/// Adds the headers of the Standard Webhooks for `body`, and the id as the key of the request. Without a secret there
/// is no signature.
pub(crate) fn sign(
    headers: &mut HeaderMap,
    id: &str,
    body: &str,
    seconds: u64,
    secret: Option<&Secret>,
) {
    let named = |name, value: &str| Some((HeaderName::from_static(name), value.parse().ok()?));
    headers.extend(named("webhook-id", id));
    headers.extend(named("idempotency-key", id));
    headers.extend(named("webhook-timestamp", &seconds.to_string()));
    if let Some(signature) = secret.and_then(|secret| secret.signature(id, seconds, body)) {
        headers.insert(HeaderName::from_static("webhook-signature"), signature);
    }
}

/// The answer of a server to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Taken,
    /// The server does not want it. Sending it again would not help.
    Refused(StatusCode),
    /// Later, perhaps not before this time.
    Later(StatusCode, Option<Duration>),
    /// There was none, for this reason. Later, too.
    Missing(String),
}

impl Answer {
    /// Returns what a status says about a request. `retry_after` is the time after which the server wants to be asked
    /// again.
    fn of(status: StatusCode, retry_after: Option<Duration>) -> Self {
        match status {
            _ if status.is_success() => Self::Taken,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS | StatusCode::TOO_EARLY => {
                Self::Later(status, retry_after)
            }
            _ if status.is_server_error() => Self::Later(status, retry_after),
            _ => Self::Refused(status),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_standard() {
        // The example of the Standard Webhooks.
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a secret");
        let body = "{\"test\": 2432232314}";
        let signature = secret.signature("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(signature.expect("a header"), expected);
    }

    #[test]
    fn short_secrets_are_refused() {
        for (text, is_read) in [
            ("0123456789abcdef01234567", true),
            (" 0123456789abcdef01234567\n", true),
            ("0123456789abcdef", false),
            ("whsec_AAAA", false),
            ("whsec_not base64", false),
            ("", false),
        ] {
            assert_eq!(Secret::parse(text).is_ok(), is_read, "{text}");
        }
    }

    #[test]
    fn an_answer_decides_what_happens_next() {
        let retry_after = Some(Duration::from_secs(7));
        for (status, is_later) in [
            (200, None),
            (204, None),
            (301, Some(false)),
            (400, Some(false)),
            (401, Some(false)),
            (408, Some(true)),
            (429, Some(true)),
            (500, Some(true)),
            (503, Some(true)),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            let expected = match is_later {
                None => Answer::Taken,
                Some(false) => Answer::Refused(status),
                Some(true) => Answer::Later(status, retry_after),
            };
            assert_eq!(Answer::of(status, retry_after), expected, "{status}");
        }
    }
}
