//! An encrypted connection to a server.

use std::boxed::Box;
use std::io;
use std::string::{String, ToString as _};
use std::sync::{Arc, OnceLock};

use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::redis::wire::{Socket, Stream};

impl Stream for StreamOwned<ClientConnection, Socket> {
    fn socket(&mut self) -> &mut Socket {
        &mut self.sock
    }
}

/// Begins a session of TLS with the server `host`, whose certificate must be valid for its name. The handshake happens
/// at the first request.
pub(super) fn session(host: &str, socket: Socket) -> io::Result<Box<dyn Stream>> {
    let config = config().clone().map_err(io::Error::other)?;
    let name = ServerName::try_from(host.to_string()).map_err(io::Error::other)?;
    let connection = ClientConnection::new(config, name).map_err(io::Error::other)?;
    Ok(Box::new(StreamOwned::new(connection, socket)))
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
