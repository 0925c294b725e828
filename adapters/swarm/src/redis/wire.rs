//! A connection to a server, with a limit on the time and on the length of its replies.

use core::time::Duration;
use std::boxed::Box;
use std::format;
use std::io::{self, ErrorKind, Read, Write};
use std::net::ToSocketAddrs as _;
use std::string::{String, ToString as _};
use std::time::Instant;
use std::vec::Vec;

use ::redis::io::tcp::socket2::{self, SockAddr, Type};
use ::redis::{
    Cmd, ConnectionAddr, ConnectionInfo, Parser, Pipeline, ProtocolVersion, RedisConnectionInfo,
    RedisResult, Value,
};

use crate::redis::error::RedisError;
#[cfg(feature = "redis-tls")]
use crate::redis::tls;

/// The time-out of a connection, and of all replies to a pipeline. No worker waits so long.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most bytes of the replies to one pipeline. The longest valid ones have some ten thousand.
const BYTES_MAX: usize = 1 << 20;

/// An open connection.
pub(super) struct Wire {
    server: String,
    stream: Box<dyn Stream>,
    parser: Parser,
}

impl Wire {
    /// Connects and signs in.
    pub(super) fn open(node: &ConnectionInfo, is_encrypted: bool) -> Result<Self, RedisError> {
        let server = node.addr().to_string();
        let stream = stream(node.addr(), is_encrypted)
            .map_err(|error| unreachable(&server, &error.into()))?;
        let mut wire = Self { server, stream, parser: Parser::new() };
        for reply in wire.exchange(greeting(node.redis_settings()).cmd_iter())? {
            if let Value::ServerError(error) = reply {
                return Err(RedisError::refused(&wire.server, &error));
            }
        }
        Ok(wire)
    }

    /// Waits until the server replies to a command that changes nothing, whatever the reply is.
    pub(super) fn probe(&mut self) -> Result<(), RedisError> {
        self.exchange(core::iter::once(&::redis::cmd("PING"))).map(drop)
    }

    /// Sends a pipeline and reads the replies to its commands.
    pub(super) fn exchange<'c>(
        &mut self,
        commands: impl Iterator<Item = &'c Cmd>,
    ) -> Result<Vec<Value>, RedisError> {
        let (mut bytes, mut count) = (Vec::new(), 0);
        for command in commands {
            command.write_packed_command(&mut bytes);
            count += 1;
        }
        self.stream.socket().begin();
        self.replies(&bytes, count).map_err(|error| {
            let is_nonsense = error.kind() == ::redis::ErrorKind::Parse;
            if is_nonsense || self.stream.socket().bytes_left == 0 {
                return RedisError::nonsense(&self.server);
            }
            unreachable(&self.server, &error)
        })
    }

    fn replies(&mut self, bytes: &[u8], count: usize) -> RedisResult<Vec<Value>> {
        self.stream.write_all(bytes)?;
        self.stream.flush()?;
        let mut replies = Vec::new();
        while replies.len() < count {
            match self.parser.parse_value(&mut self.stream)? {
                // The server may send news between the replies.
                Value::Push { .. } => {}
                reply => replies.push(reply),
            }
        }
        Ok(replies)
    }
}

/// The advice if nothing answers.
const CHECK: &str = "check that it runs there";

fn unreachable(server: &str, error: &::redis::RedisError) -> RedisError {
    // If TLS fails, something has answered.
    let why = match error {
        _ if error.is_timeout() => format!("it does not answer in time; {CHECK}"),
        _ if error.is_connection_refusal() => format!("{error}; {CHECK}"),
        _ => error.to_string(),
    };
    RedisError::Unreachable { server: server.into(), why }
}

/// Returns the commands before the first request.
fn greeting(settings: &RedisConnectionInfo) -> Pipeline {
    let mut commands = Pipeline::new();
    if let Some(password) = settings.password() {
        commands.cmd("AUTH").arg(settings.username()).arg(password);
    }
    if settings.protocol() != ProtocolVersion::RESP2 {
        commands.cmd("HELLO").arg(3);
    }
    if settings.db() != 0 {
        commands.cmd("SELECT").arg(settings.db());
    }
    commands
}

/// A stream in clear or in TLS.
pub(super) trait Stream: Read + Write + Send {
    /// Returns the socket below, which has the limits.
    fn socket(&mut self) -> &mut Socket;
}

impl Stream for Socket {
    fn socket(&mut self) -> &mut Socket {
        self
    }
}

fn stream(address: &ConnectionAddr, is_encrypted: bool) -> io::Result<Box<dyn Stream>> {
    let socket = Socket::open(address)?;
    match address {
        #[cfg(feature = "redis-tls")]
        ConnectionAddr::Tcp(host, _) if is_encrypted => tls::session(host, socket),
        _ if is_encrypted => Err(ErrorKind::Unsupported.into()),
        _ => Ok(Box::new(socket)),
    }
}

/// A socket whose exchange ends at one point in time, however slowly the server sends, and after [`BYTES_MAX`] bytes.
pub(super) struct Socket {
    inner: socket2::Socket,
    until: Instant,
    bytes_left: usize,
}

impl Socket {
    /// Connects to the first address that accepts.
    fn open(address: &ConnectionAddr) -> io::Result<Self> {
        let until = Instant::now() + PATIENCE;
        let addresses: Vec<SockAddr> = match address {
            ConnectionAddr::Tcp(host, port) => {
                (host.as_str(), *port).to_socket_addrs()?.map(SockAddr::from).collect()
            }
            ConnectionAddr::Unix(path) => Vec::from([SockAddr::unix(path)?]),
            _ => return Err(ErrorKind::Unsupported.into()),
        };
        let connect = |address: &SockAddr| {
            let socket = socket2::Socket::new(address.domain(), Type::STREAM, None)?;
            socket.connect_timeout(address, time_left(until)?)?;
            if !address.is_unix() {
                socket.set_tcp_nodelay(true)?;
            }
            Ok(Self { inner: socket, until, bytes_left: BYTES_MAX })
        };
        let mut result = Err(ErrorKind::NotFound.into());
        for address in &addresses {
            result = connect(address);
            if result.is_ok() {
                break;
            }
        }
        result
    }

    /// Begins an exchange.
    fn begin(&mut self) {
        (self.until, self.bytes_left) = (Instant::now() + PATIENCE, BYTES_MAX);
    }
}

fn time_left(until: Instant) -> io::Result<Duration> {
    match until.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(ErrorKind::TimedOut.into()),
        left => Ok(left),
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes_left == 0 {
            return Err(ErrorKind::InvalidData.into());
        }
        self.inner.set_read_timeout(Some(time_left(self.until)?))?;
        let most = buffer.len().min(self.bytes_left);
        let read = self.inner.read(&mut buffer[..most])?;
        self.bytes_left -= read;
        Ok(read)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.set_write_timeout(Some(time_left(self.until)?))?;
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_that_does_not_answer_is_to_be_checked() {
        for (kind, is_checked) in [
            (ErrorKind::ConnectionRefused, true),
            (ErrorKind::TimedOut, true),
            (ErrorKind::InvalidData, false),
            (ErrorKind::UnexpectedEof, false),
        ] {
            let error = io::Error::new(kind, "invalid peer certificate: UnknownIssuer").into();
            let shown = unreachable("a:1", &error).to_string();
            assert_eq!(shown.ends_with(CHECK), is_checked, "{shown}");
        }
    }
}
