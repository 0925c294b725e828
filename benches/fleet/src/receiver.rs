//! The load test of `unstuck watch`: its speed, its memory, kills, and hostile input.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::traffic::Traffic;
use crate::{Failure, PATIENCE, figure, memory_kib, until};

/// The spans for the throughput, and the sessions that run at a time.
const SPANS: u64 = 200_000;
const SESSIONS: u64 = 200;

/// The simulated hours, and the new sessions of an hour with their spans.
const HOURS: u64 = 24;
const SESSIONS_AN_HOUR: u64 = 2_000;
const SPANS_OF_SESSION: u64 = 24;

/// The requests of the run that is killed, and the number of kills.
const REQUESTS: u64 = 300;
const KILLS: u64 = 25;

/// The most memory that hostile input may cost, in MiB.
const HOSTILE_MAX: u64 = 400;

/// The program and a folder for its states and findings.
struct Place<'a> {
    unstuck: &'a Path,
    folder: PathBuf,
}

/// Runs all tests. Leaves metrics of a receiver in `metrics.txt`.
pub(crate) fn run(unstuck: &Path, folder: PathBuf) -> Result<(), Failure> {
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let place = Place { unstuck, folder };
    place.throughput("in memory", false)?;
    place.throughput("with --state", true)?;
    place.kills()?;
    place.hostile()?;
    place.day()
}

impl Place<'_> {
    /// Starts a receiver whose findings, and whose state if it has one, have this name.
    fn watch(&self, name: &str, options: &str, is_stored: bool) -> Result<Watching, Failure> {
        let mut command = Command::new(self.unstuck);
        command.args(["watch", "--otlp", "127.0.0.1:0"]).args(options.split_whitespace());
        command.arg("--findings").arg(self.folder.join(format!("{name}.jsonl")));
        let state: Option<[OsString; 2]> =
            is_stored.then(|| ["--state".into(), self.folder.join(name).into()]);
        command.args(state.iter().flatten()).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
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
        let begin = Instant::now();
        let mut connection = watching.connection()?;
        for request in &requests {
            connection.export(request)?;
        }
        let elapsed = begin.elapsed();
        let rounds = (0..SPANS / SESSIONS).filter(|round| Traffic::is_call(*round)).count() as u64;
        let line = format!("unstuck_calls_total{{tool=\"bash\"}} {}\n", rounds * SESSIONS);
        until("all calls are judged", || Ok(connection.metrics()?.contains(&line)))?;
        let rate = |time: Duration| u128::from(SPANS) * 1_000 / time.as_millis().max(1);
        let processor = rate(watching.processor_time()?);
        figure(&format!("spans a second of the processor, {label}"), processor);
        figure(&format!("spans a second of the clock, {label}"), rate(elapsed));
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
            memory.push(watching.memory("VmRSS:")?);
        }
        let (early, late) = (memory[..8].iter().max(), memory[16..].iter().max());
        let (early, late) = early.zip(late).ok_or("no hours")?;
        figure("memory in the first 8 of 24 hours, MiB", early);
        figure("memory in the last 8 of 24 hours, MiB", late);
        figure("spans in 24 hours", HOURS * SESSIONS_AN_HOUR * SPANS_OF_SESSION);
        if *late > early + early / 4 {
            return Err(format!("the memory grows: {memory:?} MiB").into());
        }
        watching.end()
    }

    /// Kills the program at different moments, and compares the findings with a run without kills.
    fn kills(&self) -> Result<(), Failure> {
        let (whole, killed) = (self.findings("whole", 0)?, self.findings("killed", KILLS)?);
        let counts = format!("{}, {}", whole.len(), killed.len());
        figure(&format!("findings without a kill, and with {KILLS}"), counts);
        if whole.is_empty() || whole != killed {
            return Err("a kill changes the findings".into());
        }
        Ok(())
    }

    /// Returns the sorted findings of a run that is killed so often.
    fn findings(&self, name: &str, kills: u64) -> Result<Vec<String>, Failure> {
        let start = || self.watch(name, "--clock spans --settle 1", true);
        let (mut watching, mut traffic) = (start()?, Traffic::new(40));
        for number in 0..REQUESTS {
            traffic.now = number;
            let request = traffic.request(40);
            if number * kills % REQUESTS < kills {
                // It may have answered or not. Both cases have to work.
                watching.connection()?.send("", &request)?;
                thread::sleep(Duration::from_micros(number * 137 % 3_000));
                drop(watching);
                watching = start()?;
            }
            // A collector sends a request again that was not answered.
            watching.connection()?.export(&request)?;
        }
        for end in [1_000_000, 2_000_000] {
            traffic.now = end;
            watching.connection()?.export(&traffic.request(1))?;
        }
        watching.end()?;
        let text = fs::read_to_string(self.folder.join(format!("{name}.jsonl")))?;
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        Ok(lines)
    }

    /// Sends what an attacker or a broken program would.
    fn hostile(&self) -> Result<(), Failure> {
        let watching = self.watch("hostile", "", false)?;
        let bomb = Command::new("sh").args(["-c", "head -c 1G /dev/zero | gzip"]).output()?.stdout;
        let (gzip, mut traffic) = ("Content-Encoding: gzip\r\n", Traffic::new(1));
        let large = traffic.with_result(&"x".repeat(15 << 20));
        for (what, headers, body, statuses) in [
            ("a gzip bomb of 1 GiB", gzip, &bomb, &[413][..]),
            ("a result of 15 MiB", "", &large, &[200]),
            ("a body of 21 MiB", "", &vec![0; 21 << 20], &[413]),
            ("gzip that is none", gzip, &large, &[400]),
        ] {
            let begin = Instant::now();
            let status = watching.connection()?.post(headers, body)?;
            figure(what, format!("{status} after {:.1?}", begin.elapsed()));
            if !statuses.contains(&status) {
                return Err(format!("{what}: status {status}, not {statuses:?}").into());
            }
        }
        let mut slow = Vec::new();
        for _ in 0..200 {
            let mut connection = watching.connection()?;
            connection.0.get_mut().write_all(b"P")?;
            slow.push(connection);
        }
        let begin = Instant::now();
        watching.connection()?.export(&traffic.request(10))?;
        figure("a request beside 200 slow clients", format!("{:.1?}", begin.elapsed()));
        drop(slow);
        let peak = watching.memory("VmHWM:")?;
        figure("peak of memory under hostile input, MiB", peak);
        fs::write(self.folder.join("metrics.txt"), watching.connection()?.metrics()?)?;
        if peak > HOSTILE_MAX {
            return Err(format!("it takes {peak} MiB, and {HOSTILE_MAX} are allowed").into());
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

    /// Returns a figure of the memory in MiB.
    fn memory(&self, name: &str) -> Result<u64, Failure> {
        Ok(memory_kib(self.child.id(), name)? >> 10)
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
        match self.post("", request)? {
            200 => Ok(()),
            status => Err(format!("spans were refused with {status}").into()),
        }
    }

    /// Sends a body and returns the status.
    fn post(&mut self, headers: &str, body: &[u8]) -> Result<u16, Failure> {
        // The server may answer before it has read everything.
        let _ = self.send(headers, body);
        Ok(self.answer()?.0)
    }

    fn send(&mut self, headers: &str, body: &[u8]) -> Result<(), Failure> {
        let stream = self.0.get_mut();
        let kind = "Content-Type: application/x-protobuf\r\nHost: 127.0.0.1\r\n";
        let length = body.len();
        let head =
            format!("POST /v1/traces HTTP/1.1\r\n{kind}{headers}Content-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes())?;
        Ok(stream.write_all(body)?)
    }

    /// Returns the metrics as text.
    fn metrics(&mut self) -> Result<String, Failure> {
        self.0.get_mut().write_all(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")?;
        Ok(String::from_utf8(self.answer()?.1)?)
    }

    /// Reads an answer: its status and its body.
    fn answer(&mut self) -> Result<(u16, Vec<u8>), Failure> {
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
        Ok((status, body))
    }
}
