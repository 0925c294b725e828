//! `unstuck view --web`: the page of `unstuck scan --format html`, served on the loopback interface, and anew when a
//! recording changes.
//!
//! The server answers two requests, each on a connection of its own: the page, and the events that tell of a new one. No
//! library is needed for that, and those that serve HTTP come with a runtime for thousands of clients. The address has a
//! random part that other users of the machine do not know, and the `Host` of a request has to be this server's, so that
//! no web page can read it under its own name.

use std::cmp::Reverse;
use std::convert::Infallible;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use unstuck_report::Settings;
use unstuck_report::baseline::Tally;
use unstuck_report::html::IncludeArgs;
use unstuck_report::parts::FullReport;
use unstuck_report::writer::Writer as _;
use unstuck_report::writer::html::WholePage;

use super::load::Watch;
use super::state::{News, Order};
use crate::exit::Exit;
use crate::output::{Output, Reader, fail};
use crate::read::inputs::Input;
use crate::read::jobs::{in_order, one_for_each_core};
use crate::read::progress::Progress;
use crate::scan::judge;

/// The most connections. A browser opens some six, and each page that is open keeps one.
const CONNECTIONS_MAX: usize = 32;

/// The longest head of a request, in bytes, and the time in which it has to arrive, or an answer has to be taken.
const HEAD_MAX: u64 = 8 * 1024;
const TIME: Duration = Duration::from_secs(10);

/// The time between two events, which show that the server is there.
const EVENT_TIME: Duration = Duration::from_secs(10);

/// The most sessions of the agents on this machine that the page shows.
const SESSIONS_MAX: usize = 100;

/// Returns the runs of the page: all that were given, or the newest sessions, the newest first.
pub(super) fn shown(mut found: Vec<Input>, order: Order) -> Vec<Input> {
    if order == Order::Newest {
        found.sort_by_cached_key(|input| Reverse(input.modified()));
        found.truncate(SESSIONS_MAX);
    }
    found
}

/// The page, and its number.
#[derive(Default)]
struct Page {
    number: u64,
    text: Arc<[u8]>,
}

/// The page that all connections share.
#[derive(Default)]
struct Shared {
    page: Mutex<Page>,
    has_changed: Condvar,
    connections: AtomicUsize,
}

impl Shared {
    fn page(&self) -> MutexGuard<'_, Page> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves the page about `inputs` on this port, or on any free one if it is 0, until a signal ends the program. `find`
/// returns the inputs that there are later.
pub(super) fn serve(
    port: u16,
    settings: Settings,
    inputs: &[Input],
    find: impl Fn() -> Vec<Input> + Send + 'static,
) -> Result<(), Exit> {
    let failed = |error: io::Error| {
        fail(Exit::Setup, &format!("127.0.0.1:{port}"), &format!("cannot be served: {error}"))
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
    let own = listener.local_addr().map_err(failed)?;
    let token = token();
    let shared = Arc::new(Shared::default());
    let mut watch = Watch::default();
    let mut runs = Runs { settings, rows: Vec::new() };
    runs.take(watch.look(inputs));
    runs.publish(&shared);
    let (to, news) = mpsc::channel();
    watch.start(find, to);
    let follower = Arc::clone(&shared);
    thread::spawn(move || runs.follow(&news, &follower));
    let address = format!("http://{own}/{token}/\n");
    Output::stdout(Reader::Program).write(&address).map_err(|closed| closed.exit(Exit::Clean))?;
    let site = Arc::new(Site { host: own.to_string(), token });
    for stream in listener.incoming().flatten() {
        let (shared, site) = (Arc::clone(&shared), Arc::clone(&site));
        if shared.connections.fetch_add(1, Ordering::SeqCst) < CONNECTIONS_MAX {
            // A client that has gone needs no answer.
            thread::spawn(move || {
                let _ = answer(stream, &site, &shared);
                shared.connections.fetch_sub(1, Ordering::SeqCst);
            });
        } else {
            shared.connections.fetch_sub(1, Ordering::SeqCst);
        }
    }
    Ok(())
}

/// Returns 128 random bits as digits. The keys of a `RandomState` come from the system's source of random numbers.
fn token() -> String {
    let state = RandomState::new();
    format!("{:016x}{:016x}", state.hash_one(0), state.hash_one(1))
}

/// The runs that the page shows, in the order of their rows.
struct Runs {
    settings: Settings,
    rows: Vec<(Input, Result<FullReport, String>)>,
}

impl Runs {
    /// Reads the recordings that are new or have changed.
    fn take(&mut self, news: Vec<News>) {
        let mut changed = Vec::new();
        for news in news {
            match news {
                News::Found(path, _) => {
                    changed.push((self.rows.len(), Input::File(path.clone())));
                    self.rows.push((Input::File(path), Err(String::new())));
                }
                News::Changed(row, _) => changed.push((row, self.rows[row].0.clone())),
                _ => {}
            }
        }
        let settings = self.settings;
        let read = move |(row, input): (usize, Input)| {
            (row, judge::read(&input, &settings, &Progress::hidden()))
        };
        let rows = &mut self.rows;
        let taken: Result<(), Infallible> =
            in_order(changed, one_for_each_core(), read, |(row, report)| {
                rows[row].1 = report;
                Ok(())
            });
        match taken {
            Ok(()) => {}
        }
    }

    /// Takes in the changes that come together, and makes a new page of them, again and again.
    fn follow(mut self, news: &Receiver<News>, shared: &Shared) {
        while let Ok(first) = news.recv() {
            self.take(std::iter::once(first).chain(news.try_iter()).collect());
            self.publish(shared);
        }
    }

    /// Writes the page, and wakes those who wait for it.
    fn publish(&mut self, shared: &Shared) {
        let number = shared.page().number + 1;
        let policy = self.settings.preset.policy;
        let mut page = WholePage::new(IncludeArgs::Short, policy, None).live(number);
        let mut text = Vec::new();
        for (input, report) in &mut self.rows {
            // Writing to memory does not fail.
            match report {
                Ok(report) => page.report(report, &mut text).unwrap_or_default(),
                Err(why) => page.unread(&input.name(), why),
            }
        }
        page.finish(&Tally::default(), &mut text).unwrap_or_default();
        *shared.page() = Page { number, text: text.into() };
        shared.has_changed.notify_all();
    }
}

/// The host of the server as requests name it, and the random part of its addresses.
struct Site {
    host: String,
    token: String,
}

/// Answers the request of a connection.
fn answer(mut stream: TcpStream, site: &Site, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(TIME))?;
    stream.set_write_timeout(Some(TIME))?;
    let head = head(&mut stream)?;
    match path(&head, site) {
        Err(status) => stream.write_all(reply(status, "text/plain", status.as_bytes()).as_slice()),
        Ok("") => {
            let text = Arc::clone(&shared.page().text);
            stream.write_all(&reply("200 OK", "text/html; charset=utf-8", &text))
        }
        Ok("events") => tell(&mut stream, shared),
        Ok(_) => stream.write_all(&reply(ABSENT, "text/plain", ABSENT.as_bytes())),
    }
}

const ABSENT: &str = "404 Not Found";

/// Reads the head of a request.
fn head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut bytes = BufReader::new(stream.take(HEAD_MAX)).bytes();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(bytes.next().ok_or(io::ErrorKind::UnexpectedEof)??);
    }
    String::from_utf8(head).map_err(io::Error::other)
}

/// Returns the path that a request asks for, behind the random part, or the status of the refusal.
fn path<'h>(head: &'h str, site: &Site) -> Result<&'h str, &'static str> {
    let mut lines = head.lines();
    let target = lines.next().and_then(|line| line.strip_prefix("GET "));
    let target = target.and_then(|line| line.split(' ').next()).ok_or("405 Method Not Allowed")?;
    let hosts: Vec<&str> = lines
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, host)| host.trim())
        .collect();
    if hosts != [site.host.as_str()] {
        return Err("403 Forbidden");
    }
    let within = target.strip_prefix('/').and_then(|path| path.strip_prefix(site.token.as_str()));
    within.and_then(|path| path.strip_prefix('/')).ok_or(ABSENT)
}

/// Returns an answer as its bytes.
fn reply(status: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Tells the number of the page now, at each change, and from time to time, until the client has gone.
fn tell(stream: &mut TcpStream, shared: &Shared) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\
          Connection: close\r\n\r\n",
    )?;
    let mut told = shared.page().number;
    loop {
        stream.write_all(format!("data: {told}\n\n").as_bytes())?;
        let is_old = |page: &mut Page| page.number == told;
        let waited = shared.has_changed.wait_timeout_while(shared.page(), EVENT_TIME, is_old);
        told = waited.unwrap_or_else(PoisonError::into_inner).0.number;
    }
}
