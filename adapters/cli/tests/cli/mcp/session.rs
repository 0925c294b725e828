//! A test at both ends of the proxy: it is the client and, through two named pipes, the server.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Folder, program};

/// The command that the proxy runs as the server. It connects its input and output to two pipes,
/// and exits after both have ended.
const SERVER: &str = r#"cat "$1" & cat > "$0"; wait; echo over >&2; exit 7"#;

/// The proxy between the two ends.
pub(crate) struct Session {
    proxy: Child,
    to_proxy: Option<ChildStdin>,
    /// Read continuously, so that the proxy never waits for the client.
    from_proxy: Receiver<String>,
    heard: BufReader<File>,
    answers: Option<Arc<Mutex<File>>>,
    _folder: Folder,
}

/// The remaining output at the end of a session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    pub(crate) exit: Option<i32>,
    pub(crate) client: String,
    pub(crate) server: String,
    pub(crate) log: String,
}

impl Session {
    pub(crate) fn new(options: &[&str]) -> Self {
        Self::of(program().arg("mcp").args(options))
    }

    /// Starts a session with the server that `command` starts.
    pub(crate) fn of(command: &mut Command) -> Self {
        let folder = Folder::new();
        let pipes = ["requests", "answers"].map(|name| folder.path().join(name));
        let made = Command::new("mkfifo").args(&pipes).status().expect("a program that starts");
        assert!(made.success());
        let mut proxy = piped(command.args(["--", "sh", "-c", SERVER]).args(&pipes));
        // The pipes are opened in the server's order, because each open waits for the other end.
        let answers = OpenOptions::new().write(true).open(&pipes[1]).expect("a pipe");
        let heard = File::open(&pipes[0]).expect("a pipe");
        Self {
            to_proxy: proxy.stdin.take(),
            from_proxy: lines(proxy.stdout.take().expect("a pipe")),
            proxy,
            heard: BufReader::new(heard),
            answers: Some(Arc::new(Mutex::new(answers))),
            _folder: folder,
        }
    }

    pub(crate) fn client_says(&mut self, bytes: impl AsRef<[u8]>) {
        self.to_proxy.as_ref().expect("not closed").write_all(bytes.as_ref()).expect("a reader");
    }

    pub(crate) fn server_says(&mut self, bytes: impl AsRef<[u8]>) {
        self.voice()(bytes.as_ref());
    }

    /// Returns a function that writes as the server from another thread.
    pub(crate) fn voice(&self) -> impl Fn(&[u8]) + Send + use<> {
        let answers = Arc::clone(self.answers.as_ref().expect("not closed"));
        move |bytes| answers.lock().expect("no panic").write_all(bytes).expect("a reader")
    }

    /// The next line, with its end.
    pub(crate) fn client_hears(&mut self) -> String {
        self.from_proxy.recv().expect("a line")
    }

    /// The next line, with its end.
    pub(crate) fn server_hears(&mut self) -> String {
        let mut line = String::new();
        self.heard.read_line(&mut line).expect("a line");
        line
    }

    /// Sends a line from the client, which must reach the server unchanged.
    pub(crate) fn asked(&mut self, line: &str) {
        self.client_says(line);
        assert_eq!(self.server_hears(), line);
    }

    /// Sends a line from the server, which must reach the client unchanged.
    pub(crate) fn answered(&mut self, line: &str) {
        self.server_says(line);
        assert_eq!(self.client_hears(), line);
    }

    /// Returns whether a call with this id reaches the server.
    pub(crate) fn reaches(&mut self, id: u32) -> bool {
        self.client_says(call(id));
        // The next line at the server is either this or the call.
        self.client_says(PING);
        let heard = self.server_hears();
        assert!(heard == PING || (heard == call(id) && self.server_hears() == PING), "{heard}");
        heard != PING
    }

    /// Makes one call with this id and answers it. A call that does not reach the server is
    /// answered by the proxy.
    pub(crate) fn call(&mut self, id: u32, answer: &str) -> Outcome {
        if !self.reaches(id) {
            return Outcome::Refused(self.client_hears());
        }
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{answer}}}\n");
        self.server_says(&line);
        let heard = self.client_hears();
        if heard == line { Outcome::AsIs } else { Outcome::Noted(heard) }
    }

    /// Ends both sides, the client first.
    pub(crate) fn end(mut self) -> Rest {
        drop(self.to_proxy.take());
        let mut server = String::new();
        self.heard.read_to_string(&mut server).expect("UTF-8");
        drop(self.answers.take());
        let client = self.from_proxy.iter().collect();
        let mut log = String::new();
        let mut stderr = self.proxy.stderr.take().expect("a pipe");
        stderr.read_to_string(&mut log).expect("UTF-8");
        let exit = self.proxy.wait().expect("a program that ends").code();
        Rest { exit, client, server, log }
    }
}

/// Returns the lines with their line breaks, as they arrive.
fn lines(from: ChildStdout) -> Receiver<String> {
    let (say, lines) = mpsc::channel();
    thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = String::new();
        while from.read_line(&mut line).expect("UTF-8") > 0 && say.send(line).is_ok() {
            line = String::new();
        }
    });
    lines
}

/// The fate of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The client got the server's response.
    AsIs,
    /// The client got another response.
    Noted(String),
    /// The call did not reach the server.
    Refused(String),
}

/// A line that does not concern the proxy.
pub(crate) const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n";

/// Returns the same call each time.
pub(crate) fn call(id: u32) -> String {
    let params = json!({ "name": "lookup", "arguments": { "table": "users" } });
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
}

pub(crate) fn line(message: &Value) -> String {
    format!("{message}\n")
}

/// Starts a command with pipes for its input and output.
pub(crate) fn piped(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("a program that starts")
}
