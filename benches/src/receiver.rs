//! The load test of `unstuck watch`: its speed, and its memory over a day.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::process::{Failure, PATIENCE, memory_kib, until};
use crate::report::figure;
use crate::traffic::Traffic;

/// The spans for the throughput, and the sessions that run at a time.
const SPANS: u64 = 200_000;
const SESSIONS: u64 = 200;

/// The simulated hours, and the new sessions of an hour with their spans.
const HOURS: u64 = 24;
const SESSIONS_AN_HOUR: u64 = 2_000;
const SPANS_OF_SESSION: u64 = 24;

/// The program and a folder for its states and findings.
struct Place<'a> {
    unstuck: &'a Path,
    folder: PathBuf,
}

/// Runs all tests. Leaves the metrics of the day in `metrics.txt`.
pub(crate) fn run(unstuck: &Path, folder: PathBuf) -> Result<(), Failure> {
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let place = Place { unstuck, folder };
    place.throughput("in memory", false)?;
    place.throughput("with --state", true)?;
    place.day()
}

impl Place<'_> {
    /// Starts a receiver whose findings, and whose state if it has one, have this name.
    fn watch(&self, name: &str, options: &str, is_stored: bool) -> Result<Watching, Failure> {
        let mut command = Command::new(self.unstuck);
        command.args(["watch", "--otlp", "127.0.0.1:0"]).args(options.split_whitespace());
        command.arg("--findings").arg(self.folder.join(format!("{name}.jsonl")));
        if is_stored {
            command.arg("--state").arg(self.folder.join(name));
        }
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut errors = BufReader::new(child.stderr.take().ok_or("no standard error")?);
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            if errors.read_line(&mut line)? == 0 {
                return Err("`unstuck watch` does not say its address".into());
            }
        }
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        let address = address.unwrap_or_default().to_owned();
        // Later messages are shown, and the pipe never fills.
        thread::spawn(move || errors.lines().map_while(Result::ok).for_each(|it| println!("{it}")));
        Ok(Watching { child, address })
    }

    /// Measures the spans that one core takes in and judges, by the time of the process on the processor.
    fn throughput(&self, label: &str, is_stored: bool) -> Result<(), Failure> {
        let watching = self.watch(label, "--settle 1", is_stored)?;
        let mut traffic = Traffic::new(SESSIONS);
        let requests: Vec<_> = (0..SPANS / 500).map(|_| traffic.request(500)).collect();
        let bytes: usize = requests.iter().map(Vec::len).sum();
        let mut connection = watching.connection()?;
        for request in &requests {
            connection.export(request)?;
        }
        let rounds = (0..SPANS / SESSIONS).filter(|round| Traffic::is_call(*round)).count() as u64;
        let line = format!("unstuck_calls_total{{tool=\"bash\"}} {}\n", rounds * SESSIONS);
        until("all calls are judged", || Ok(connection.metrics()?.contains(&line)))?;
        let time = watching.processor_time()?;
        let rate = u128::from(SPANS) * 1_000 / time.as_millis().max(1);
        figure(&format!("spans a second of the processor, {label}"), rate);
        figure(&format!("bytes of a span, {label}"), bytes as u64 / SPANS);
        watching.end()
    }

    /// Sends a day of traffic by the clock of the spans, and watches the memory.
    fn day(&self) -> Result<(), Failure> {
        let watching = self.watch("day", "--clock spans", true)?;
        let (mut connection, mut memory) = (watching.connection()?, Vec::new());
        let mut traffic = Traffic::new(SESSIONS_AN_HOUR);
        for hour in 0..HOURS {
            traffic.first = hour * SESSIONS_AN_HOUR;
            for request in 0..SPANS_OF_SESSION {
                traffic.now = hour * 3_600 + request * 3_600 / SPANS_OF_SESSION;
                for _ in 0..SESSIONS_AN_HOUR / 500 {
                    connection.export(&traffic.request(500))?;
                }
            }
            memory.push(watching.memory()?);
        }
        let (early, late) = (memory[..8].iter().max(), memory[16..].iter().max());
        let (early, late) = early.zip(late).ok_or("no hours")?;
        figure("memory in the first 8 of 24 hours, MiB", early);
        figure("memory in the last 8 of 24 hours, MiB", late);
        fs::write(self.folder.join("metrics.txt"), connection.metrics()?)?;
        if *late > early + early / 4 {
            return Err(format!("the memory grows: {memory:?} MiB").into());
        }
        watching.end()
    }
}

/// A running receiver. It is killed when the value is dropped.
struct Watching {
    child: Child,
    address: String,
}

impl Watching {
    fn connection(&self) -> Result<Connection, Failure> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Connection(BufReader::new(stream)))
    }

    /// Returns the time that the process had on a processor.
    fn processor_time(&self) -> Result<Duration, Failure> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<_> = text.rsplit(')').next().unwrap_or_default().split(' ').collect();
        let (user, system) = (fields[12].parse::<u64>()?, fields[13].parse::<u64>()?);
        // A tick is a hundredth of a second on every Linux of today.
        Ok(Duration::from_millis((user + system) * 10))
    }

    /// Returns the memory in MiB.
    fn memory(&self) -> Result<u64, Failure> {
        Ok(memory_kib(self.child.id(), "VmRSS:").ok_or("no memory")? >> 10)
    }

    /// Ends the program by a signal.
    fn end(mut self) -> Result<(), Failure> {
        Command::new("kill").arg(self.child.id().to_string()).status()?;
        let ended = self.child.wait()?;
        if ended.success() { Ok(()) } else { Err(format!("unstuck watch: {ended}").into()) }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection to the receiver.
struct Connection(BufReader<TcpStream>);

impl Connection {
    /// Sends spans, which have to be taken in.
    fn export(&mut self, request: &[u8]) -> Result<(), Failure> {
        let stream = self.0.get_mut();
        let kind = "Content-Type: application/x-protobuf\r\nHost: 127.0.0.1\r\n";
        let length = request.len();
        let head = format!("POST /v1/traces HTTP/1.1\r\n{kind}Content-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes())?;
        stream.write_all(request)?;
        match self.answer()?.0 {
            200 => Ok(()),
            status => Err(format!("spans were refused with {status}").into()),
        }
    }

    /// Returns the metrics as text.
    fn metrics(&mut self) -> Result<String, Failure> {
        self.0.get_mut().write_all(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")?;
        Ok(self.answer()?.1)
    }

    /// Reads an answer: its status and its body.
    fn answer(&mut self) -> Result<(u16, String), Failure> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.0.read_line(&mut head)? == 0 {
                return Err("no answer".into());
            }
        }
        let head = head.to_ascii_lowercase();
        let status = head.split(' ').nth(1).ok_or("no status")?.parse()?;
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let mut body = vec![0; length.map_or(Ok(0), str::parse)?];
        self.0.read_exact(&mut body)?;
        Ok((status, String::from_utf8(body)?))
    }
}
