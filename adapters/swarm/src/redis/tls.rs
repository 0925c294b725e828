//! An encrypted connection to a server.

use std::io::{self, Read, Write};
use std::string::{String, ToString as _};
use std::sync::{Arc, OnceLock};

use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::redis::wire::Socket;

/// A session of TLS with a server whose certificate is valid for its name.
pub(super) struct Session(StreamOwned<ClientConnection, Socket>);

impl Session {
    /// Begins a session with the server `host`. The handshake happens at the first request.
    pub(super) fn open(host: &str, socket: Socket) -> io::Result<Self> {
        let config = config().clone().map_err(io::Error::other)?;
        let name = ServerName::try_from(host.to_string()).map_err(io::Error::other)?;
        let connection = ClientConnection::new(config, name).map_err(io::Error::other)?;
        Ok(Self(StreamOwned::new(connection, socket)))
    }

    pub(super) fn socket(&mut self) -> &mut Socket {
        &mut self.0.sock
    }
}

/// Returns the configuration of all sessions. Reading the certificates that the machine trusts takes a while.
fn config() -> &'static Result<Arc<ClientConfig>, String> {
    static CONFIG: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    CONFIG.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(
                "this machine trusts no certificates: set SSL_CERT_FILE to a file with them".into(),
            );
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder =
            builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
        Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
    })
}

impl Read for Session {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Session {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
