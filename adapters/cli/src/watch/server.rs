//! The HTTP server: connections, paths and answers.
//!
//! `hyper` speaks HTTP. A framework such as `axum` would route the six paths, which is one `match`, and no
//! layer of `tower-http` bounds the memory of all bodies together, drops the rest of a body that is too long, or
//! limits the time of a client to read its answer.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{spawn_local, yield_now};
use tokio::time::{sleep, timeout};

use super::body::{self, Unread};
use super::clock::Moment;
use super::journal::Encoding;
use super::protobuf::Message;
use super::receiver::{Accepted, Receiver, Refused};
use super::stream::Timed;

/// The most connections. A collector has some ten.
const CONNECTIONS_MAX: usize = 256;

/// The memory for bodies that have arrived, or a part of them, at the same time, in bodies of the largest length.
const BODIES_MAX: usize = 8;

/// The time in which the head of a request has to arrive, also of the next one on a connection.
const HEAD_TIME: Duration = Duration::from_secs(60);

/// The time that a client has to take an answer which does not fit into the buffers of the network.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// The bytes that the system keeps for a client which does not read. By default, they grow to some MB.
const SEND_BUFFER: u32 = 64 << 10;

/// The most connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// The time that open requests have at the end.
const END_TIME: Duration = Duration::from_secs(5);

/// The pause after a failed accept, for example because there are too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The seconds after which a refused client sends its spans again.
const RETRY_SECONDS: &str = "2";

/// The state that all connections share.
pub(super) struct Shared {
    pub(super) receiver: RefCell<Receiver>,
    pub(super) body_max: usize,
    hosts: Hosts,
    /// A permit for each byte that bodies may still take, and for each connection that may still be opened.
    room: Semaphore,
    places: Arc<Semaphore>,
    start: Instant,
}

impl Shared {
    pub(super) fn new(receiver: Receiver, body_max: usize, hosts: Hosts) -> Self {
        let room = Semaphore::new(BODIES_MAX * body_max);
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let start = Instant::now();
        Self { receiver: RefCell::new(receiver), body_max, hosts, room, places, start }
    }

    /// Returns the metrics as text.
    pub(super) fn metrics(&self) -> String {
        self.receiver.borrow().metrics(CONNECTIONS_MAX - self.places.available_permits())
    }

    /// Looks at the clocks.
    pub(super) fn moment(&self) -> Moment {
        Moment::since(self.start)
    }

    /// Advances the time to now. Others get their turn between its parts.
    pub(super) async fn advance(&self) {
        while self.receiver.borrow_mut().advance(self.moment()) {
            yield_now().await;
        }
    }
}

/// Listens at an address, with a small buffer for each connection.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Elsewhere, it would allow a second program at the same address.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections. Does not return.
pub(super) async fn serve(listener: TcpListener, shared: &Rc<Shared>, end: &GracefulShutdown) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        match Arc::clone(&shared.places).try_acquire_owned() {
            Ok(place) => {
                spawn_local(connection(stream, place, Rc::clone(shared), end.watcher()));
            }
            Err(_) => refuse(stream, shared),
        }
    }
}

/// Waits until open requests are answered, for a while. A client that does not read its answer is left.
pub(super) async fn shut_down(end: GracefulShutdown) {
    let _ = timeout(END_TIME, end.shutdown()).await;
}

/// Answers without reading the request. The kernel's buffer has room for it.
fn refuse(stream: TcpStream, shared: &Shared) {
    shared.receiver.borrow_mut().refused();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: {RETRY_SECONDS}\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n"
    );
    // If it does not go out, the client sees a closed connection and tries again as well.
    // The runtime does not know yet that the stream can be written, so the system is asked.
    let _ = stream.into_std().and_then(|mut stream| stream.write_all(answer.as_bytes()));
}

async fn connection(
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
    shared: Rc<Shared>,
    end: Watcher,
) {
    let service = service_fn(|request| async {
        let path = known(request.uri().path());
        let answer = answer(request, &shared).await;
        shared.receiver.borrow_mut().answered(path, answer.status().as_u16());
        Ok::<_, Infallible>(answer)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(64 << 10);
    let stream = TokioIo::new(Timed::new(stream, ANSWER_TIME));
    // The client caused the error: it went away, did not send HTTP, or did not read the answer.
    let _ = end.watch(builder.serve_connection(stream, service)).await;
}

/// Returns the label of a path in the metrics. Unknown paths share the label `other`.
fn known(path: &str) -> &'static str {
    const PATHS: [&str; 6] =
        ["/v1/traces", "/v1/logs", "/v1/metrics", "/metrics", "/healthz", "/readyz"];
    PATHS.into_iter().find(|known| *known == path).unwrap_or("other")
}

type Answer = Response<Full<Bytes>>;

async fn answer(request: Request<Incoming>, shared: &Shared) -> Answer {
    if !shared.hosts.allow(request.uri(), request.headers()) {
        return misdirected(request).await;
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    match (request.uri().path(), is_read) {
        ("/v1/traces" | "/v1/logs" | "/v1/metrics", false) if request.method() == Method::POST => {
            export(request, shared).await
        }
        ("/v1/traces" | "/v1/logs" | "/v1/metrics", _) => not_allowed("POST"),
        ("/metrics", true) => {
            with_type(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", shared.metrics())
        }
        ("/healthz", true) => plain(StatusCode::OK, "ok\n"),
        ("/readyz", true) if shared.receiver.borrow().is_ready() => {
            plain(StatusCode::OK, "ready\n")
        }
        ("/readyz", true) => plain(StatusCode::SERVICE_UNAVAILABLE, "not ready: see the log\n"),
        ("/metrics" | "/healthz" | "/readyz", _) => not_allowed("GET, HEAD"),
        _ => plain(
            StatusCode::NOT_FOUND,
            "there are /v1/traces, /v1/logs, /v1/metrics, /metrics, /healthz and /readyz\n",
        ),
    }
}

/// Takes in the signals that a client exports.
async fn export(request: Request<Incoming>, shared: &Shared) -> Answer {
    let Some(encoding) = body::encoding(request.headers()) else {
        let why = "the Content-Type has to be application/x-protobuf or application/json\n";
        return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    };
    let Some(compression) = body::compression(request.headers()) else {
        let why = "the Content-Encoding has to be gzip or identity";
        return failure(StatusCode::UNSUPPORTED_MEDIA_TYPE, encoding, why);
    };
    let is_traces = request.uri().path() == "/v1/traces";
    let most = shared.body_max;
    let bad = |why| failure(StatusCode::BAD_REQUEST, encoding, why);
    match body::read(request.into_body(), compression, most, &shared.room).await {
        // Logs and metrics contain no calls.
        Ok(_) if !is_traces => success(encoding, &Accepted::default()),
        Ok((bytes, _room)) => take(encoding, &bytes, shared).await,
        Err(Unread::TooLong) => too_long(encoding, most),
        Err(Unread::TooSlow) => {
            let code = StatusCode::REQUEST_TIMEOUT;
            closing(failure(code, encoding, "the body did not arrive in time"))
        }
        Err(Unread::BrokenOff) => closing(bad("the body broke off")),
        Err(Unread::NotGzip) => bad("the body is not gzip"),
        Err(Unread::TooManyParts) => bad("the body consists of too many parts in gzip"),
        Err(Unread::NoRoom) => later(encoding, "too many requests at a time"),
    }
}

/// Takes in a body, once all is judged that is due before.
async fn take(encoding: Encoding, body: &[u8], shared: &Shared) -> Answer {
    shared.advance().await;
    match shared.receiver.borrow_mut().take(encoding, body, shared.moment()) {
        Ok(accepted) => success(encoding, &accepted),
        Err(Refused::Malformed(why)) => failure(StatusCode::BAD_REQUEST, encoding, &why),
        Err(Refused::Unready(why)) => later(encoding, why),
    }
}

/// Refuses a request that names another host.
async fn misdirected(request: Request<Incoming>) -> Answer {
    let encoding = body::encoding(request.headers());
    body::discard(request.into_body()).await;
    let code = StatusCode::MISDIRECTED_REQUEST;
    closing(match encoding {
        Some(encoding) => failure(code, encoding, WRONG_HOST),
        None => with_type(code, "text/plain; charset=utf-8", format!("{WRONG_HOST}\n")),
    })
}

/// An `ExportTraceServiceResponse`. The responses of the other signals have the same fields.
fn success(encoding: Encoding, accepted: &Accepted) -> Answer {
    let Accepted { rejected, why } = accepted;
    match encoding {
        Encoding::Protobuf => {
            let mut response = Message::default();
            if *rejected > 0 {
                let partial = Message::default().number(1, *rejected as u64).bytes(2, why);
                response = response.message(1, &partial);
            }
            with_type(StatusCode::OK, "application/x-protobuf", response.into_bytes())
        }
        Encoding::Json => {
            let partial = serde_json::json!({
                // Numbers of 64 bits are texts in protobuf's JSON.
                "partialSuccess": {"rejectedSpans": rejected.to_string(), "errorMessage": why}
            });
            let text = if *rejected > 0 { partial.to_string() } else { "{}".to_owned() };
            with_type(StatusCode::OK, "application/json", text)
        }
    }
}

/// An error with a `google.rpc.Status`, as the protocol asks for.
fn failure(code: StatusCode, encoding: Encoding, why: &str) -> Answer {
    const INVALID_ARGUMENT: u8 = 3;
    const UNAVAILABLE: u8 = 14;
    let status = if code.is_server_error() { UNAVAILABLE } else { INVALID_ARGUMENT };
    match encoding {
        Encoding::Protobuf => {
            let status = Message::default().number(1, status.into()).bytes(2, why);
            with_type(code, "application/x-protobuf", status.into_bytes())
        }
        Encoding::Json => {
            let status = serde_json::json!({"code": status, "message": why});
            with_type(code, "application/json", status.to_string())
        }
    }
}

fn too_long(encoding: Encoding, most: usize) -> Answer {
    let why = format!(
        "the body has more than {} MiB, also after decompression: send smaller batches, or raise --max-body",
        most >> 20
    );
    closing(failure(StatusCode::PAYLOAD_TOO_LARGE, encoding, &why))
}

/// An answer after which the client sends the same again, later.
fn later(encoding: Encoding, why: &str) -> Answer {
    let mut answer = failure(StatusCode::SERVICE_UNAVAILABLE, encoding, why);
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(RETRY_SECONDS));
    closing(answer)
}

/// Ends the connection, because the rest of the body is not read.
fn closing(mut answer: Answer) -> Answer {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

fn not_allowed(methods: &'static str) -> Answer {
    let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "");
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    answer
}

fn plain(code: StatusCode, text: &'static str) -> Answer {
    with_type(code, "text/plain; charset=utf-8", text)
}

fn with_type(code: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = code;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// The names of this machine, for itself and for its containers. A web page cannot have one of them.
const NAMES: [&str; 3] = ["localhost", "host.docker.internal", "host.containers.internal"];

/// The answer to a request that names another host.
const WRONG_HOST: &str = "the Host has to be localhost or an IP address, because web pages could reach a \
                                     loopback address under their own names: change the URL, or add --allow-remote \
                                     if a proxy passes another name on";

/// The hosts that a request may name. A web page may let its own name point to this machine, and so read the answers of a
/// server on a loopback address. The `Host` of its requests is the name of the page, by which they are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hosts {
    /// This machine, by one of its names or any address.
    Own,
    /// Any name: the receiver is in a network whose names only its users know.
    Any,
}

impl Hosts {
    /// Returns the hosts for a receiver at this address.
    pub(super) const fn at(address: SocketAddr, allow_remote: bool) -> Self {
        if address.ip().is_loopback() && !allow_remote { Self::Own } else { Self::Any }
    }

    /// Returns whether a request with this target and these headers is for the receiver. The host of an absolute
    /// target counts as well. A request without a host comes from no web page.
    fn allow(self, target: &Uri, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).iter();
        let named = target.authority().is_none_or(|authority| is_own(authority.as_str()));
        self == Self::Any || named && hosts.all(|host| host.to_str().is_ok_and(is_own))
    }
}

/// Returns whether a host, with or without a port, is a name of this machine or an IP address.
fn is_own(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(host) => host.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_name = |own: &&str| name.trim_end_matches('.').eq_ignore_ascii_case(own);
    name.parse::<IpAddr>().is_ok() || NAMES.iter().any(is_name)
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn the_system_keeps_little_for_a_client_that_does_not_read() {
        let runtime = Builder::new_current_thread().enable_io().build().expect("a runtime");
        runtime.block_on(async {
            let address = "127.0.0.1:0".parse().expect("an address");
            let listener = listen(address).expect("a free port");
            let address = listener.local_addr().expect("an address");
            let client = std::net::TcpStream::connect(address).expect("a connection");
            let (stream, _) = listener.accept().await.expect("a connection");
            stream.writable().await.expect("a connection");
            let mut count = 0;
            while let Ok(more) = stream.try_write(&[0; 4096]) {
                count += more;
            }
            assert!((1..1 << 20).contains(&count), "{count}");
            drop(client);
        });
    }

    #[test]
    fn only_names_of_this_machine_and_addresses_are_its_own() {
        let own = "localhost LocalHost:4318 localhost. 127.0.0.1:4318 127.0.0.1 192.168.0.7:80 [::1]:4318 [::1] \
                   host.docker.internal:4318 host.containers.internal";
        let others = "a attacker.example:4318 localhost.attacker.example 127.0.0.1.attacker.example notlocalhost \
                      [attacker.example]:4318 localhost@attacker.example :4318";
        assert!(own.split(' ').all(is_own));
        for other in others.split(' ').chain([""]) {
            assert!(!is_own(other), "{other}");
        }
    }

    #[test]
    fn only_a_loopback_address_asks_for_the_host() {
        let at = |address: &str, remote| Hosts::at(address.parse().expect("an address"), remote);
        assert_eq!(at("127.0.0.1:4318", false), Hosts::Own);
        assert_eq!(at("[::1]:4318", false), Hosts::Own);
        assert_eq!(at("127.0.0.1:4318", true), Hosts::Any);
        assert_eq!(at("0.0.0.0:4318", true), Hosts::Any);
        let with = |hosts: &[&'static str]| {
            hosts.iter().map(|host| (HOST, HeaderValue::from_static(host))).collect::<HeaderMap>()
        };
        let path = Uri::from_static("/metrics");
        assert!(Hosts::Own.allow(&path, &with(&[])));
        assert!(Hosts::Own.allow(&path, &with(&["localhost:4318"])));
        assert!(!Hosts::Own.allow(&path, &with(&["unstuck:4318"])));
        assert!(Hosts::Any.allow(&path, &with(&["unstuck:4318"])));
        let mut two = with(&["localhost"]);
        two.append(HOST, HeaderValue::from_static("attacker.example"));
        assert!(!Hosts::Own.allow(&path, &two));
        for (target, is_own) in [
            ("http://localhost:4318/metrics", true),
            ("http://127.0.0.1/metrics", true),
            ("http://attacker.example:4318/metrics", false),
            ("http://localhost@attacker.example/metrics", false),
            ("attacker.example:4318", false),
        ] {
            let target = target.parse().expect("a target");
            assert_eq!(Hosts::Own.allow(&target, &with(&["localhost"])), is_own, "{target}");
            assert!(Hosts::Any.allow(&target, &with(&["localhost"])));
        }
    }
}
