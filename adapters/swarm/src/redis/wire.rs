//! A connection to a server, with a limit on the time and on the length of its replies.

use core::time::Duration;
#[cfg(feature = "redis-tls")]
use std::boxed::Box;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::string::{String, ToString as _};
use std::time::Instant;
use std::vec::Vec;

use ::redis::{
    Cmd, ConnectionAddr, ConnectionInfo, Parser, ProtocolVersion, RedisConnectionInfo, Value,
};

use crate::redis::error::explained;
#[cfg(feature = "redis-tls")]
use crate::redis::tls::Session;

/// The most bytes of the replies to one pipeline. The longest valid ones have some ten thousand.
const BYTES_MAX: usize = 1 << 20;

/// The reason why a server was not asked.
pub(super) enum Fault {
    /// The reply is invalid, or too long.
    Nonsense,
    /// The server refuses the user, the password or the database.
    Refused(String),
    /// There is no connection, or no reply in time.
    Unreachable(String),
}

/// An open connection.
pub(super) struct Wire {
    stream: Stream,
    parser: Parser,
}

impl Wire {
    /// Connects and signs in, within `patience` for each of both.
    pub(super) fn open(
        node: &ConnectionInfo,
        is_encrypted: bool,
        patience: Duration,
    ) -> Result<Self, Fault> {
        let stream = Stream::open(node.addr(), is_encrypted, patience)
            .map_err(|error| unreachable(&error))?;
        let mut wire = Self { stream, parser: Parser::new() };
        for command in greeting(node.redis_settings()) {
            let reply = wire.exchange(&command.get_packed_command(), 1, patience)?;
            if let Some(Value::ServerError(error)) = reply.first() {
                return Err(Fault::Refused(explained(error)));
            }
        }
        Ok(wire)
    }

    /// Waits until the server replies to a command that changes nothing, whatever the reply is.
    pub(super) fn probed(mut self, patience: Duration) -> Result<Self, Fault> {
        self.exchange(&::redis::cmd("PING").get_packed_command(), 1, patience)?;
        Ok(self)
    }

    /// Sends a pipeline and reads the replies to its commands, all of them within `patience`.
    pub(super) fn exchange(
        &mut self,
        bytes: &[u8],
        replies: usize,
        patience: Duration,
    ) -> Result<Vec<Value>, Fault> {
        self.stream.socket().until = Instant::now() + patience;
        self.stream.write_all(bytes).map_err(|error| unreachable(&error))?;
        self.stream.flush().map_err(|error| unreachable(&error))?;
        let mut reader = Limited { stream: &mut self.stream, left: BYTES_MAX };
        let mut values = Vec::new();
        while values.len() < replies {
            let value =
                self.parser.parse_value(&mut reader).map_err(|error| match error.kind() {
                    ::redis::ErrorKind::Parse => Fault::Nonsense,
                    _ if reader.left == 0 => Fault::Nonsense,
                    _ if error.is_timeout() => Fault::Unreachable(LATE.to_string()),
                    _ => Fault::Unreachable(error.to_string()),
                })?;
            // The server may send news between the replies.
            if !matches!(value, Value::Push { .. }) {
                values.push(value);
            }
        }
        Ok(values)
    }
}

const LATE: &str = "it does not answer in time";

fn unreachable(error: &io::Error) -> Fault {
    Fault::Unreachable(match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => LATE.to_string(),
        _ => error.to_string(),
    })
}

/// Returns the commands before the first request.
fn greeting(settings: &RedisConnectionInfo) -> Vec<Cmd> {
    let mut commands = Vec::new();
    let command = |words: &[&str]| {
        let mut command = Cmd::new();
        for word in words {
            command.arg(*word);
        }
        command
    };
    match (settings.username(), settings.password()) {
        (Some(user), Some(password)) => commands.push(command(&["AUTH", user, password])),
        (None, Some(password)) => commands.push(command(&["AUTH", password])),
        (_, None) => {}
    }
    if settings.protocol() != ProtocolVersion::RESP2 {
        commands.push(command(&["HELLO", "3"]));
    }
    if settings.db() != 0 {
        commands.push(command(&["SELECT", &settings.db().to_string()]));
    }
    commands
}

/// A reader of at most `left` bytes.
struct Limited<'s> {
    stream: &'s mut Stream,
    left: usize,
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(ErrorKind::InvalidData.into());
        }
        let most = buffer.len().min(self.left);
        let read = self.stream.read(&mut buffer[..most])?;
        self.left -= read;
        Ok(read)
    }
}

/// A stream in clear or in TLS.
enum Stream {
    Clear(Socket),
    #[cfg(feature = "redis-tls")]
    Encrypted(Box<Session>),
}

impl Stream {
    fn open(address: &ConnectionAddr, is_encrypted: bool, patience: Duration) -> io::Result<Self> {
        let socket = Socket::open(address, patience)?;
        match address {
            #[cfg(feature = "redis-tls")]
            ConnectionAddr::Tcp(host, _) if is_encrypted => {
                Session::open(host, socket).map(|session| Self::Encrypted(Box::new(session)))
            }
            _ if is_encrypted => Err(ErrorKind::Unsupported.into()),
            _ => Ok(Self::Clear(socket)),
        }
    }

    fn socket(&mut self) -> &mut Socket {
        match self {
            Self::Clear(socket) => socket,
            #[cfg(feature = "redis-tls")]
            Self::Encrypted(session) => session.socket(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Clear(socket) => socket.read(buffer),
            #[cfg(feature = "redis-tls")]
            Self::Encrypted(session) => session.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Clear(socket) => socket.write(bytes),
            #[cfg(feature = "redis-tls")]
            Self::Encrypted(session) => session.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Clear(socket) => socket.flush(),
            #[cfg(feature = "redis-tls")]
            Self::Encrypted(session) => session.flush(),
        }
    }
}

/// A socket whose operations end at one point in time, however slowly the server sends.
pub(super) struct Socket {
    kind: Kind,
    until: Instant,
}

enum Kind {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Socket {
    fn open(address: &ConnectionAddr, patience: Duration) -> io::Result<Self> {
        let until = Instant::now() + patience;
        let kind = match address {
            ConnectionAddr::Tcp(host, port) => Kind::Tcp(tcp(host, *port, until)?),
            #[cfg(unix)]
            ConnectionAddr::Unix(path) => Kind::Unix(UnixStream::connect(path)?),
            _ => return Err(ErrorKind::Unsupported.into()),
        };
        Ok(Self { kind, until })
    }

    /// Returns the time that is left.
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

/// Connects to the first address of `host` that accepts.
fn tcp(host: &str, port: u16, until: Instant) -> io::Result<TcpStream> {
    let mut result = Err(ErrorKind::NotFound.into());
    for address in (host, port).to_socket_addrs()? {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        result = TcpStream::connect_timeout(&address, left);
        if result.is_ok() {
            break;
        }
    }
    let stream = result?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left()?;
        match &mut self.kind {
            Kind::Tcp(stream) => stream.set_read_timeout(left).and_then(|()| stream.read(buffer)),
            #[cfg(unix)]
            Kind::Unix(stream) => stream.set_read_timeout(left).and_then(|()| stream.read(buffer)),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left()?;
        match &mut self.kind {
            Kind::Tcp(stream) => stream.set_write_timeout(left).and_then(|()| stream.write(bytes)),
            #[cfg(unix)]
            Kind::Unix(stream) => stream.set_write_timeout(left).and_then(|()| stream.write(bytes)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
