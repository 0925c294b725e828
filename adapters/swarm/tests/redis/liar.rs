//! A fake server that sends invalid replies.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The behaviour of a fake server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lie {
    /// Replies to each request with these bytes.
    Says(&'static [u8]),
    /// Replies to each request with these bytes, and hangs up.
    HangsUp(&'static [u8]),
    /// Reads all requests and never replies.
    Nothing,
    /// Sends a byte now and then without an end.
    Drips,
}

/// A fake server that runs until it is dropped.
pub(crate) struct Liar {
    port: u16,
    ended: Arc<AtomicBool>,
}

impl Liar {
    pub(crate) fn start(lie: Lie) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if end.load(Ordering::Relaxed) {
                    return;
                }
                let end = Arc::clone(&end);
                thread::spawn(move || lie.talk(stream, &end));
            }
        });
        Self { port, ended }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/?swarm=s", self.port)
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

impl Lie {
    /// Talks to one client, until the client or the server closes the connection.
    fn talk(self, mut stream: TcpStream, end: &AtomicBool) {
        let mut buffer = vec![0; 65_536];
        let often = Duration::from_millis(20);
        if stream.set_read_timeout(Some(often)).is_err() {
            return;
        }
        while !end.load(Ordering::Relaxed) {
            let requests = match stream.read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => buffer[..read].split(|byte| *byte == b'*').count() - 1,
                Err(_) => 0,
            };
            let sent = match self {
                Self::Says(bytes) => stream.write_all(&bytes.repeat(requests)),
                Self::HangsUp(bytes) if requests > 0 => {
                    let _ = stream.write_all(bytes);
                    return;
                }
                Self::Drips => stream.write_all(b"+"),
                Self::HangsUp(_) | Self::Nothing => Ok(()),
            };
            if sent.is_err() {
                return;
            }
        }
    }
}
