//! A server that is none.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// What a liar does when it is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lie {
    /// Answers each request with these bytes.
    Says(&'static [u8]),
    /// Answers each request with these bytes, and hangs up.
    HangsUp(&'static [u8]),
    /// Takes all and answers nothing.
    Nothing,
    /// Answers a byte now and then, and never comes to an end.
    Drips,
}

/// A server that lies until it is dropped.
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
                thread::spawn(move || lie.tell(stream, &end));
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
    /// Talks to one client, until that or the liar has enough.
    fn tell(self, mut stream: TcpStream, end: &AtomicBool) {
        let mut told = vec![0; 65_536];
        let often = Duration::from_millis(20);
        if stream.set_read_timeout(Some(often)).is_err() {
            return;
        }
        while !end.load(Ordering::Relaxed) {
            let heard = match stream.read(&mut told) {
                Ok(0) => return,
                Ok(read) => told[..read].split(|byte| *byte == b'*').count() - 1,
                Err(_) => 0,
            };
            let told = match self {
                Self::Says(bytes) => stream.write_all(&bytes.repeat(heard)),
                Self::HangsUp(bytes) if heard > 0 => {
                    let _ = stream.write_all(bytes);
                    return;
                }
                Self::Drips => stream.write_all(b"+"),
                Self::HangsUp(_) | Self::Nothing => Ok(()),
            };
            if told.is_err() {
                return;
            }
        }
    }
}
