//! A client for one POST at a time, over TLS or without.
//!
//! The protocols are those of `hyper` and `rustls`. A client such as `reqwest` or that of `hyper-util` adds a pool of
//! connections, redirects and proxies, which a signed request must not follow, and it would replace forty lines.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{
    CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::spawn_local;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::Answer;

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
