//! Starts the receiver, and sends it spans as a collector does.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// The beginning of the traffic, in seconds since 1970.
const BEGIN: u64 = 1_780_000_000;

/// A running receiver.
pub(super) struct Watching {
    child: Child,
    port: u16,
}

/// A connection to it.
pub(super) struct Connection(BufReader<TcpStream>);

impl Watching {
    pub(super) fn start(unstuck: &Path, options: &[OsString]) -> Result<Self, String> {
        let mut command = Command::new(unstuck);
        command.args(["watch", "--otlp", "127.0.0.1:0"]).args(options);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("unstuck: {error}"))?;
        let mut errors = BufReader::new(child.stderr.take().ok_or("no standard error")?);
        let mut seen = String::new();
        let port = loop {
            let begin = seen.len();
            if errors.read_line(&mut seen).map_err(|error| error.to_string())? == 0 {
                return Err(format!("unstuck watch ended: {seen}"));
            }
            if let Some((_, rest)) = seen[begin..].split_once("http://127.0.0.1:") {
                break rest
                    .split('/')
                    .next()
                    .and_then(|port| port.parse().ok())
                    .ok_or("no port")?;
            }
        };
        // Later messages are shown, and the pipe never fills.
        thread::spawn(move || {
            errors.lines().map_while(Result::ok).for_each(|line| println!("{line}"));
        });
        Ok(Self { child, port })
    }

    pub(super) fn connection(&self) -> Result<Connection, String> {
        let stream =
            TcpStream::connect(("127.0.0.1", self.port)).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        Ok(Connection(BufReader::new(stream)))
    }

    /// Opens connections that send one byte of a request, and then nothing.
    pub(super) fn slow_clients(&self, count: usize) -> Result<Vec<Connection>, String> {
        let open = |_| {
            let mut connection = self.connection()?;
            connection.0.get_mut().write_all(b"P").map_err(|error| error.to_string())?;
            Ok(connection)
        };
        (0..count).map(open).collect()
    }

    /// Returns the time that the process had on a processor.
    pub(super) fn processor_time(&self) -> Result<Duration, String> {
        let text = self.proc("stat")?;
        let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split(' ').collect();
        let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
        let (user, system) = ticks(12).zip(ticks(13)).ok_or("no times of the process")?;
        // A tick is a hundredth of a second on every Linux of today.
        Ok(Duration::from_millis((user + system) * 10))
    }

    /// Returns a figure of the memory in KiB.
    pub(super) fn memory(&self, name: &str) -> Result<u64, String> {
        let text = self.proc("status")?;
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.trim_start_matches(':').split_whitespace().next());
        number.and_then(|number| number.parse().ok()).ok_or_else(|| format!("no {name}"))
    }

    fn proc(&self, file: &str) -> Result<String, String> {
        let path = format!("/proc/{}/{file}", self.child.id());
        fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))
    }

    /// Sends a request, and kills the program after this time, whether or not it has answered.
    pub(super) fn kill_during(mut self, request: &[u8], after: Duration) -> Result<(), String> {
        let mut connection = self.connection()?;
        let sent = connection.send("", request);
        thread::sleep(after);
        self.child.kill().and_then(|()| self.child.wait()).map_err(|error| error.to_string())?;
        // It may have been answered or not. Both cases have to work.
        sent.or(Ok(()))
    }

    /// Ends the program by a signal.
    pub(super) fn end(mut self) -> Result<(), String> {
        let mut kill = Command::new("kill");
        let sent = kill.args(["-TERM", &self.child.id().to_string()]).status();
        let ended = sent.and_then(|_| self.child.wait()).map_err(|error| error.to_string())?;
        if ended.success() { Ok(()) } else { Err(format!("unstuck watch ended with {ended}")) }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // After a failure, it is still running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Connection {
    /// Sends spans, which have to be taken in. A busy receiver is asked again.
    pub(super) fn export(&mut self, request: &[u8]) -> Result<(), String> {
        match self.post("", request)? {
            200 => Ok(()),
            status => Err(format!("spans were refused with {status}")),
        }
    }

    /// Sends a body and returns the status.
    pub(super) fn post(&mut self, headers: &str, body: &[u8]) -> Result<u16, String> {
        // The server may answer before it has read everything.
        let _ = self.send(headers, body);
        self.answer().map(|(status, _)| status)
    }

    fn send(&mut self, headers: &str, body: &[u8]) -> Result<(), String> {
        let head = format!(
            "POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-protobuf\r\n{headers}\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        let stream = self.0.get_mut();
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body))
            .map_err(|error| error.to_string())
    }

    /// Returns the metrics as text.
    pub(super) fn metrics(&mut self) -> Result<String, String> {
        let stream = self.0.get_mut();
        stream
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            .map_err(|error| error.to_string())?;
        self.answer().map(|(_, body)| String::from_utf8_lossy(&body).into_owned())
    }

    fn answer(&mut self) -> Result<(u16, Vec<u8>), String> {
        let (mut status, mut length, mut line) = (None, 0, String::new());
        loop {
            line.clear();
            if self.0.read_line(&mut line).map_err(|error| error.to_string())? == 0 {
                return Err("no answer".to_owned());
            }
            let text = line.trim_end().to_ascii_lowercase();
            if status.is_none() {
                status = text.split(' ').nth(1).and_then(|word| word.parse().ok());
            } else if let Some(value) = text.strip_prefix("content-length: ") {
                length = value.parse().map_err(|_| "no length")?;
            } else if text.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).map_err(|error| error.to_string())?;
        Ok((status.ok_or("no status")?, body))
    }
}

/// Makes requests of agents' sessions: each has spans of its agent, its model and its tools. Every tenth session
/// repeats one call.
pub(super) struct Traffic {
    sessions: u64,
    /// The number of the first session, and of the next span.
    first: u64,
    next: u64,
    /// The time in seconds since the beginning.
    now: u64,
}

impl Traffic {
    pub(super) const fn new(sessions: u64) -> Self {
        Self { sessions, first: 0, next: 0, now: 0 }
    }

    /// Returns whether the span of each session in this round is a call. The others are answers of models.
    pub(super) const fn is_call(round: u64) -> bool {
        !round.is_multiple_of(3)
    }

    /// Ends all sessions and begins others.
    pub(super) const fn begin_sessions(&mut self, hour: u64) {
        self.first = hour * self.sessions;
    }

    pub(super) const fn at(&mut self, seconds: u64) {
        self.now = seconds;
    }

    /// Returns a request with so many spans, one of each session in turn.
    pub(super) fn request(&mut self, spans: u64) -> Vec<u8> {
        let mut of_scope = Message::default().message(1, &Message::default().bytes(1, "agents"));
        for _ in 0..spans {
            of_scope = of_scope.message(2, &self.span(None));
        }
        whole(&of_scope)
    }

    /// Returns a request with one span that has this result.
    pub(super) fn with_result(&mut self, result: &str) -> Vec<u8> {
        whole(&Message::default().message(2, &self.span(Some(result))))
    }

    fn span(&mut self, result: Option<&str>) -> Message {
        let number = self.next;
        self.next += 1;
        let session = self.first + number % self.sessions;
        let round = number / self.sessions;
        let is_stuck = session.is_multiple_of(10);
        let begin = (BEGIN + self.now) * 1_000_000_000 + number * 1000;
        let id = (number + 1).to_be_bytes();
        let mut trace = [0x5b; 16];
        trace[8..].copy_from_slice(&session.to_be_bytes());
        let parent = (u64::MAX - session).to_be_bytes();
        let span = Message::default().bytes(1, trace).bytes(2, id).bytes(4, parent).number(6, 1);
        let span = span.eight(7, begin).eight(8, begin + 500).text("gen_ai.agent.name", "coder");
        let span = span.text("gen_ai.conversation.id", &format!("session-{session}"));
        if !Self::is_call(round) && result.is_none() {
            let span = span.bytes(5, "chat model-x").text("gen_ai.operation.name", "chat");
            let span =
                span.text("gen_ai.request.model", "model-x").text("gen_ai.provider.name", "vendor");
            let span = span.text("gen_ai.response.id", &format!("answer-{number}"));
            return span
                .integer("gen_ai.usage.input_tokens", 9000 + round)
                .integer("gen_ai.usage.output_tokens", 120);
        }
        let call = if is_stuck { 0 } else { round };
        let command = format!(
            "{{\"command\":\"cargo test --package part-{call} --lib -- --nocapture\",\"timeout\":120}}"
        );
        let output = format!(
            "running 1 test\ntest part_{call}::works ... FAILED\n{}",
            "a line of the log\n".repeat(30)
        );
        span.bytes(5, "execute_tool bash")
            .text("gen_ai.operation.name", "execute_tool")
            .text("gen_ai.tool.name", "bash")
            .text("gen_ai.tool.type", "function")
            .text("gen_ai.tool.call.id", &format!("call_{number:016x}"))
            .text("gen_ai.tool.call.arguments", &command)
            .text("gen_ai.tool.call.result", result.unwrap_or(&output))
    }
}

/// Returns a request with the spans of one scope.
fn whole(of_scope: &Message) -> Vec<u8> {
    let resource =
        Message::default().message(1, &Message::default().attribute("service.name", "agents"));
    let of_resource = Message::default().message(1, &resource).message(2, of_scope);
    Message::default().message(1, &of_resource).0
}

/// A message of protobuf that is written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number > 0x7f {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    fn number(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn eight(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3 | 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(mut self, field: u64, value: impl AsRef<[u8]>) -> Self {
        self.varint(field << 3 | 2);
        self.varint(value.as_ref().len() as u64);
        self.0.extend(value.as_ref());
        self
    }

    fn message(self, field: u64, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    /// Adds the fields of an attribute with a text.
    fn attribute(self, key: &str, value: &str) -> Self {
        self.bytes(1, key).message(2, &Self::default().bytes(1, value))
    }

    /// Adds an attribute of a span.
    fn text(self, key: &str, value: &str) -> Self {
        self.message(9, &Self::default().attribute(key, value))
    }

    fn integer(self, key: &str, value: u64) -> Self {
        let value = Self::default().number(3, value);
        self.message(9, &Self::default().bytes(1, key).message(2, &value))
    }
}

/// Returns 1 GiB of zeros, compressed.
pub(super) fn gzip_bomb(path: &Path) -> Result<Vec<u8>, String> {
    let file = fs::File::create(path).map_err(|error| error.to_string())?;
    let mut shell = Command::new("sh");
    shell.args(["-c", "head -c 1073741824 /dev/zero | gzip"]).stdout(file);
    let status = shell.status().map_err(|error| error.to_string())?;
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    if status.success() { Ok(bytes) } else { Err(format!("gzip ended with {status}")) }
}

/// Returns bytes without any meaning, the same for the same seed.
pub(super) fn noise(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    })
}
