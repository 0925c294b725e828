//! A client for webhooks: signed requests with one POST each, over TLS or without.
//!
//! The protocols are those of `hyper` and `rustls`. A client such as `reqwest` or that of `hyper-util` adds a pool of
//! connections, redirects and proxies, which a signed request must not follow, and it would replace forty lines.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{
    CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use sha2::Sha256;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::spawn_local;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

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

/// The time for a request and its answer.
const TIME: Duration = Duration::from_secs(10);

/// The most bytes of an answer that are read. Its content is not used.
const ANSWER_MAX: usize = 64 << 10;

/// A server and a path on it.
pub(crate) struct Target {
    uri: Uri,
    host: String,
    port: u16,
    tls: Option<TlsConnector>,
}

impl Target {
    /// Reads a URL. `path` replaces an empty path.
    ///
    /// # Errors
    ///
    /// One sentence that does not repeat the URL, because it may contain a secret.
    pub(crate) fn parse(url: &str, path: &str) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|_| "is no URL".to_owned())?;
        let is_https = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err("has to begin with http:// or https://".to_owned()),
        };
        let authority = uri.authority().ok_or("has no host")?;
        if authority.as_str().contains('@') {
            return Err("must not contain a user and a password".to_owned());
        }
        let host = authority.host().to_owned();
        // The type of URLs accepts a port that does not exist, and an empty one.
        let port = authority.as_str().strip_prefix(&host).and_then(|port| port.strip_prefix(':'));
        let port = match port {
            None => {
                if is_https {
                    443
                } else {
                    80
                }
            }
            Some(port) => {
                port.parse().ok().filter(|port| *port > 0).ok_or("has no port from 1 to 65535")?
            }
        };
        let tls = is_https.then(connector).transpose()?;
        let uri = if uri.path() == "/" && uri.query().is_none() {
            let scheme = if is_https { "https" } else { "http" };
            format!("{scheme}://{authority}{path}").parse().map_err(|_| "is no URL".to_owned())?
        } else {
            uri
        };
        Ok(Self { uri, host, port, tls })
    }

    /// Returns whether the way to the server is encrypted, or does not leave this machine.
    pub(crate) fn is_private(&self) -> bool {
        let host = self.host();
        let is_loopback = host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
        self.tls.is_some() || is_loopback || host == "localhost"
    }

    /// Returns the host without the brackets of an IPv6 address.
    pub(crate) fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Sends `body`, and waits for the answer.
    pub(crate) async fn post(&self, headers: &HeaderMap, body: Bytes) -> Answer {
        let answer = timeout(TIME, self.exchange(headers, body)).await;
        answer
            .unwrap_or_else(|_| Err("no answer in time".to_owned()))
            .unwrap_or_else(Answer::Missing)
    }

    /// Connects and sends `body`. Returns the answer, or the reason why there is none.
    async fn exchange(&self, headers: &HeaderMap, body: Bytes) -> Result<Answer, String> {
        let stream = TcpStream::connect((self.host(), self.port)).await;
        let stream = stream.map_err(|error| error.to_string())?;
        let Some(tls) = &self.tls else { return self.send(stream, headers, body).await };
        let name = ServerName::try_from(self.host().to_owned())
            .map_err(|_| "the host is no name for TLS")?;
        let stream = tls.connect(name, stream).await;
        self.send(stream.map_err(|error| format!("TLS: {error}"))?, headers, body).await
    }

    async fn send(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Answer, String> {
        let failed = |error: hyper::Error| error.to_string();
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
        let driver = spawn_local(connection);
        let request = self.request(headers, body).map_err(|error| error.to_string())?;
        let response = sender.send_request(request).await.map_err(failed)?;
        let retry_after = response.headers().get(RETRY_AFTER).and_then(seconds);
        let answer = Answer::of(response.status(), retry_after);
        // The server has decided, so an answer that breaks off changes nothing.
        let _ = Limited::new(response.into_body(), ANSWER_MAX).collect().await;
        driver.abort();
        Ok(answer)
    }

    fn request(
        &self,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
        let path = self.uri.path_and_query().map_or("/", |path| path.as_str());
        let host = self.uri.authority().map_or("", |authority| authority.as_str());
        let mut request = Request::post(path).header(HOST, host).body(Full::new(body))?;
        let own = request.headers_mut();
        own.insert(CONNECTION, HeaderValue::from_static("close"));
        let agent = concat!("unstuck/", env!("CARGO_PKG_VERSION"));
        own.insert(USER_AGENT, HeaderValue::from_static(agent));
        own.extend(headers.clone());
        Ok(request)
    }
}

/// Returns a delay in seconds, or `None` for a date.
fn seconds(value: &HeaderValue) -> Option<Duration> {
    value.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

/// Returns a client for TLS that trusts the certificates of this machine.
fn connector() -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map_or_else(String::new, |error| format!(": {error}"));
        return Err(format!("needs TLS, and this machine has no root certificates{why}"));
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Reads headers from a text such as `a=b,c=d`, as `OTEL_EXPORTER_OTLP_HEADERS` has them.
pub(crate) fn headers(text: &str) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
        let wrong = || "has to be a list such as name=value,name=value".to_owned();
        let (name, value) = pair.split_once('=').ok_or_else(wrong)?;
        let name: HeaderName = name.trim().parse().map_err(|_| wrong())?;
        let mut value: HeaderValue =
            percent_decode_str(value.trim()).decode_utf8_lossy().parse().map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
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

    #[test]
    fn a_url_names_a_server_and_a_path() {
        for (url, expected) in [
            ("http://127.0.0.1:4319", Ok(("127.0.0.1", 4319, "/v1/logs", true))),
            ("http://[::1]:4319/", Ok(("[::1]", 4319, "/v1/logs", true))),
            ("http://collector/own/path?a=b", Ok(("collector", 80, "/own/path?a=b", false))),
            ("ftp://a", Err("has to begin with http:// or https://")),
            ("collector:4318", Err("has to begin with http:// or https://")),
            ("http://u:p@a", Err("must not contain a user and a password")),
            ("http://", Err("is no URL")),
            ("http://a:99999", Err("has no port from 1 to 65535")),
            ("http://[::1]:65536/x", Err("has no port from 1 to 65535")),
            ("http://a:0", Err("has no port from 1 to 65535")),
            ("http://a:", Err("has no port from 1 to 65535")),
            ("http://[::1]:65535", Ok(("[::1]", 65535, "/v1/logs", true))),
        ] {
            let target = Target::parse(url, "/v1/logs");
            let target = target.as_ref().map_err(String::as_str).map(|target| {
                let path = target.uri.path_and_query().map_or("", |path| path.as_str());
                (target.host.as_str(), target.port, path, target.is_private())
            });
            assert_eq!(target, expected, "{url}");
        }
    }

    #[test]
    fn headers_are_read_from_one_text() {
        let read = headers("authorization=Bearer%20x%zz, X-A=1,").expect("headers");
        let value = |name| read.get(name).map(|value| value.to_str().expect("a text"));
        assert_eq!((value("authorization"), value("x-a")), (Some("Bearer x%zz"), Some("1")));
        for wrong in ["a", "a b=c", "a=\u{7}"] {
            assert!(headers(wrong).is_err(), "{wrong}");
        }
    }
}
