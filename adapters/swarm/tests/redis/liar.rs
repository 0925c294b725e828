//! A fake server that sends invalid replies.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
    /// Sends the first bytes, and then the others again and again.
    Floods(&'static [u8], &'static [u8]),
    /// Sends a byte now and then without an end.
    Drips,
}

/// A fake server that runs until it is dropped.
pub(crate) struct Liar {
    port: u16,
    ended: Arc<AtomicBool>,
    most: Arc<AtomicUsize>,
}

impl Liar {
    pub(crate) fn start(lie: Lie) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        let most = Arc::new(AtomicUsize::new(0));
        let sent = Arc::clone(&most);
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if end.load(Ordering::Relaxed) {
                    return;
                }
                let (end, sent) = (Arc::clone(&end), Arc::clone(&sent));
                thread::spawn(move || lie.talk(stream, &end, &sent));
            }
        });
        Self { port, ended, most }
    }

    /// Returns the most bytes that a client has taken from a flood.
    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
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
    fn talk(self, mut stream: TcpStream, end: &AtomicBool, most: &AtomicUsize) {
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
                Self::Floods(begin, rest) if requests > 0 => {
                    flood(&mut stream, begin, rest, end, most)
                }
                Self::Drips => stream.write_all(b"+"),
                Self::HangsUp(_) | Self::Nothing | Self::Floods(..) => Ok(()),
            };
            if sent.is_err() {
                return;
            }
        }
    }
}

/// Sends `rest` until the client hangs up, and notes how many bytes it took.
fn flood(
    stream: &mut TcpStream,
    begin: &[u8],
    rest: &[u8],
    end: &AtomicBool,
    most: &AtomicUsize,
) -> io::Result<()> {
    let piece = rest.repeat(4096);
    stream.set_write_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(begin)?;
    let mut sent = 0;
    // Far more than a client should take, and little enough for a machine.
    while sent < 1 << 28 && !end.load(Ordering::Relaxed) {
        stream.write_all(&piece)?;
        sent += piece.len();
        most.fetch_max(sent, Ordering::Relaxed);
    }
    Ok(())
}
