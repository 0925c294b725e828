//! A client for webhooks: signed requests with one POST each, over TLS or without.

mod client;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;

pub(crate) use client::{Answered, NoAnswer, Target, headers};

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

/// The result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    Taken,
    /// The server does not want it. Sending it again would not help.
    Refused,
    /// Later, perhaps not before this time.
    Later(Option<Duration>),
}

impl Attempt {
    /// Returns what an answer, or its absence, says about a request.
    pub(crate) fn of(answered: &Result<Answered, NoAnswer>) -> Self {
        match answered {
            Err(_) => Self::Later(None),
            Ok(Answered { status, .. }) if status.is_success() => Self::Taken,
            Ok(Answered { status, retry_after }) => {
                let is_temporary = status.is_server_error()
                    || matches!(
                        *status,
                        StatusCode::REQUEST_TIMEOUT
                            | StatusCode::TOO_MANY_REQUESTS
                            | StatusCode::TOO_EARLY
                    );
                if is_temporary { Self::Later(*retry_after) } else { Self::Refused }
            }
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
        for (status, expected) in [
            (200, Attempt::Taken),
            (204, Attempt::Taken),
            (301, Attempt::Refused),
            (400, Attempt::Refused),
            (401, Attempt::Refused),
            (408, Attempt::Later(retry_after)),
            (429, Attempt::Later(retry_after)),
            (500, Attempt::Later(retry_after)),
            (503, Attempt::Later(retry_after)),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            assert_eq!(Attempt::of(&Ok(Answered { status, retry_after })), expected, "{status}");
        }
    }
}
