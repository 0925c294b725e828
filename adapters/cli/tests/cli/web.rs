//! `unstuck view --web`: a page on the loopback interface that follows the recordings.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::harness::{Folder, program};

/// A page of `unstuck view --web`, and the program that serves it.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn of(folder: &Path) -> Self {
        let mut command = program();
        command.args(["view", "--web"]).arg(folder).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a program that starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("an address");
        let address = line.trim().strip_prefix("http://").expect("an address").to_owned();
        Self { child, address }
    }

    /// Returns the host with its port, and the random part of the address.
    fn parts(&self) -> (&str, &str) {
        self.address.trim_end_matches('/').split_once('/').expect("a host and a random part")
    }

    /// Sends a request.
    fn ask(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.parts().0).expect("a server");
        // A bound for a test that fails, not a measure.
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time");
        stream.write_all(request.as_bytes()).expect("a server that reads");
        stream
    }

    /// Returns the whole answer to a request for `path` at `host`.
    fn get(&self, path: &str, host: &str) -> String {
        let mut stream = self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        text
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The runs are those of the project; the second one is added while the page is served.
#[test]
fn the_page_follows_the_recordings_and_is_told_of_changes() {
    let folder = Folder::new();
    let runs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/runs/native"));
    let copy = |name: &str| fs::copy(runs.join(name), folder.path().join(name)).expect("a run");
    copy("stuck-edit.jsonl");
    let served = Served::of(folder.path());
    let (host, token) = served.parts();
    assert!(host.starts_with("127.0.0.1:") && token.len() == 32, "{}", served.address);
    let page = served.get(&format!("/{token}/"), host);
    assert!(
        page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("Loops in 1 of 1 run"),
        "{page}"
    );
    assert!(page.contains(r#"<body data-live="1">"#) && page.contains("connect-src 'self'"));
    assert!(
        !page.contains("http://") && !page.contains("https://"),
        "nothing comes from elsewhere"
    );

    let events = served.ask(&format!("GET /{token}/events HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    let mut lines = BufReader::new(events).lines().map(|line| line.expect("a line"));
    assert_eq!(lines.by_ref().find(|line| line.starts_with("data: ")).as_deref(), Some("data: 1"));
    copy("stuck-same-test.jsonl");
    assert_eq!(
        lines.by_ref().find(|line| line.starts_with("data: ") && line != "data: 1").as_deref(),
        Some("data: 2")
    );
    assert!(served.get(&format!("/{token}/"), host).contains("of 2 runs"));
}

#[test]
fn the_page_is_only_for_those_who_know_its_address() {
    let folder = Folder::new();
    let served = Served::of(folder.path());
    let (host, token) = served.parts();
    let page = format!("/{token}/");
    for (path, named, status) in [
        ("/", host, "404"),
        ("/00000000000000000000000000000000/", host, "404"),
        (&page[..page.len() - 1], host, "404"),
        (&format!("{page}other"), host, "404"),
        (&page, "example.com", "403"),
        (&page, "", "403"),
        (&page, host, "200"),
    ] {
        let answer = served.get(path, named);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path} {named}: {answer}");
    }
    let mut text = String::new();
    served.ask("POST / HTTP/1.1\r\n\r\n").read_to_string(&mut text).expect("an answer");
    assert!(text.starts_with("HTTP/1.1 405"), "{text}");
    // A head without an end is not read for ever, and the server goes on.
    let endless = format!("GET {page} HTTP/1.1\r\nX: {}", "x".repeat(10_000));
    let _ = served.ask(&endless).read_to_string(&mut text);
    assert!(served.get(&page, host).starts_with("HTTP/1.1 200"));
}
