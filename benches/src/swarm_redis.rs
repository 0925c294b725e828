//! The benchmark `swarm-redis`: the calls of a swarm on a `redis-server`, beside a plain counter.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::io::{self, Error};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Client, Cmd, Connection, RedisResult, Value};
use serde::Serialize;
use unstuck_swarm::redis::{LIBRARY, RedisStore, Settings};
use unstuck_swarm::{Digest, Observation, SwarmStore as _, Tool, Worker};

use crate::report::{Measurement, Report, rounded};
use crate::rounds::median;

/// The number of rounds.
const ROUNDS: usize = 9;

/// The number of concurrent clients.
const CLIENTS: u64 = 8;

/// The number of a client's requests in a turn, one after the other.
const REQUESTS: u64 = 2_000;

/// The number of a client's requests in a turn, pipelined.
const PIPELINED: u64 = 10_000;

/// The number of different calls.
const DIFFERENT: u64 = 1_000;

/// The time limit for a server to start, and to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The numbers of workers for which the memory of a call is measured.
const MEASURED: [u64; 4] = [1, 8, 64, 1_000];

/// The numbers of workers for which the time of a call is measured.
const TIMED: [u64; 5] = [10, 100, 1_000, 10_000, 100_000];

/// All contenders, which take turns.
const CONTENDERS: [Contender; 8] = [
    Contender::Counter { depth: 1 },
    Contender::Function { depth: 1 },
    Contender::SwarmStore,
    Contender::Counter { depth: 16 },
    Contender::Function { depth: 16 },
    Contender::Counter { depth: 100 },
    Contender::Function { depth: 100 },
    Contender::Detached,
];

/// Starts a server, measures everything on it, and stops it.
///
/// # Errors
///
/// If there is no `redis-server`, or it fails.
pub fn measure() -> io::Result<Report> {
    let server = Server::start()?;
    let throughput = server.take_turns()?;
    let workers: BTreeSet<u64> = MEASURED.into_iter().chain(TIMED).collect();
    let costs = workers.into_iter().map(|workers| server.cost(workers));
    report(&throughput, &costs.collect::<io::Result<Vec<_>>>()?)
}

fn report(throughput: &[Throughput], costs: &[Cost]) -> io::Result<Report> {
    let mut report = Report::default();
    report.table("throughput", throughput)?;
    report.table("costs", costs)?;
    report.remark(
        "8 clients at a time, about 1,000 calls. A ratio is to INCR with the same pipelining, in the same \
         round.\nA store that waits is compared with one request a round trip, a store that does not wait \
         with a pipeline of 100.",
    );
    Ok(report)
}

/// One way to send requests to the server, by 8 clients at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Throughput {
    /// The request, and how it is sent.
    pub request: String,
    /// The median of the requests a second of all clients together.
    pub per_second: f64,
    /// The median ratio to the rate of `INCR` that is sent in the same way, in the same round.
    pub ratio: f64,
    /// The time that a request keeps the server busy, in microseconds.
    pub server_us: f64,
    /// The median time to an answer in microseconds, if the clients wait for answers.
    pub p50_us: Option<f64>,
    /// The 99th percentile of that time.
    pub p99_us: Option<f64>,
}

impl Measurement for Throughput {
    const HEADINGS: &'static [&'static str] =
        &["asked", "1,000/s", "ratio", "server µs", "p50 µs", "p99 µs"];
    const WORDS: usize = 1;

    fn cells(&self) -> Vec<String> {
        vec![
            self.request.clone(),
            format!("{:.0}", self.per_second / 1e3),
            format!("{:.2}", self.ratio),
            format!("{:.1}", self.server_us),
            rounded(self.p50_us, 0),
            rounded(self.p99_us, 0),
        ]
    }
}

/// The cost of a call that many workers make. Times are those of one client that pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The number of workers that make the call.
    pub workers: u64,
    /// The server's memory for the call, in bytes, if it was measured.
    pub bytes: Option<i64>,
    /// The time for the first call of a worker in microseconds, if it was measured.
    pub first_us: Option<f64>,
    /// The time for a later call in microseconds, if it was measured.
    pub later_us: Option<f64>,
}

impl Measurement for Cost {
    const HEADINGS: &'static [&'static str] =
        &["workers", "bytes/call", "µs, first call", "µs, later calls"];
    const WORDS: usize = 0;

    fn cells(&self) -> Vec<String> {
        vec![
            self.workers.to_string(),
            self.bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
            rounded(self.first_us, 1),
            rounded(self.later_us, 1),
        ]
    }
}

/// A way to use the server.
#[derive(Clone, Copy)]
enum Contender {
    /// `INCR`, `depth` requests in a pipeline.
    Counter { depth: u64 },
    /// The function of the swarm, `depth` requests in a pipeline.
    Function { depth: u64 },
    /// A store whose worker waits for each answer.
    SwarmStore,
    /// A store whose worker does not wait for answers.
    Detached,
}

impl Contender {
    fn name(self) -> String {
        let pipelined = |depth| match depth {
            1 => "one request a round trip".to_owned(),
            _ => format!("pipelined by {depth}"),
        };
        match self {
            Self::Counter { depth } => format!("INCR, {}", pipelined(depth)),
            Self::Function { depth } => format!("record, {}", pipelined(depth)),
            Self::SwarmStore => "a store, each answer waited for".to_owned(),
            Self::Detached => "a store, no answer waited for".to_owned(),
        }
    }

    /// Returns the position of the contender to compare with.
    const fn reference(self) -> usize {
        match self {
            Self::Counter { depth: 1 } | Self::Function { depth: 1 } | Self::SwarmStore => 0,
            Self::Counter { depth: 16 } | Self::Function { depth: 16 } => 3,
            Self::Counter { .. } | Self::Function { .. } | Self::Detached => 5,
        }
    }

    /// Runs one client's turn. Returns the time of each wait, in microseconds.
    fn turn(self, client: u64, server: &Server) -> io::Result<Vec<f64>> {
        match self {
            Self::Counter { depth } => {
                let key = |n| format!("{{unstuck:bench}}:n{}", n % DIFFERENT);
                server.requests(depth, self.requests(), |n| words(&["INCR", &key(n)]))
            }
            Self::Function { depth } => {
                let command = |n| record(n % DIFFERENT, hashed(client));
                server.requests(depth, self.requests(), command)
            }
            Self::SwarmStore => {
                let store = server.store()?;
                let wait = |n| timed(|| _ = black_box(store.record(&observation(client, n))));
                Ok((0..REQUESTS).map(wait).collect())
            }
            Self::Detached => {
                let store = server.store()?;
                for n in 0..PIPELINED {
                    while n - store.health().answered >= 2_048 {
                        thread::park_timeout(Duration::from_micros(50));
                    }
                    store.record_detached(&observation(client, n), "bash");
                }
                while store.health().answered < PIPELINED {
                    thread::park_timeout(Duration::from_micros(50));
                }
                Ok(Vec::new())
            }
        }
    }

    const fn requests(self) -> u64 {
        match self {
            Self::Counter { depth: 1 } | Self::Function { depth: 1 } | Self::SwarmStore => REQUESTS,
            _ => PIPELINED,
        }
    }
}

/// A server, which is stopped when the value is dropped.
struct Server {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no", "--dir"])
            .arg(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| Error::new(error.kind(), format!("redis-server: {error}")))?;
        let server = Self { child, port, _folder: folder };
        let start = Instant::now();
        while server.connection().is_err() && start.elapsed() < PATIENCE {
            thread::park_timeout(Duration::from_millis(5));
        }
        server.ask(&words(&["FUNCTION", "LOAD", LIBRARY]))?;
        Ok(server)
    }

    fn connection(&self) -> io::Result<Connection> {
        let client = Client::open(("127.0.0.1", self.port)).map_err(Error::other)?;
        client.get_connection_with_timeout(PATIENCE).map_err(Error::other)
    }

    fn ask(&self, command: &Cmd) -> io::Result<Value> {
        command.query(&mut self.connection()?).map_err(Error::other)
    }

    fn store(&self) -> io::Result<RedisStore> {
        let url = format!("redis://127.0.0.1:{}/?swarm=bench", self.port);
        let settings = Settings::parse(&url, b"of the bench alone").map_err(Error::other)?;
        let settings = settings.deadline(Duration::from_secs(1)).map_err(Error::other)?;
        Ok(RedisStore::open(settings))
    }

    /// Runs all contenders in turns, each with all its clients at once.
    fn take_turns(&self) -> io::Result<Vec<Throughput>> {
        let mut turns: Vec<Vec<Turn>> = CONTENDERS.iter().map(|_| Vec::new()).collect();
        for round in 0..=ROUNDS {
            for (contender, turns) in CONTENDERS.iter().zip(&mut turns) {
                let turn = self.turn(*contender)?;
                // In the first round every call is new, so its times differ.
                turns.extend((round > 0).then_some(turn));
            }
        }
        let throughput = |(contender, own): (&Contender, &Vec<Turn>)| {
            let rates = own.iter().zip(&turns[contender.reference()]);
            let waits: Vec<_> = own.iter().flat_map(|turn| &turn.waits).copied().collect();
            Throughput {
                request: contender.name(),
                per_second: median(own.iter().map(|turn| turn.rate).collect()),
                ratio: median(rates.map(|(own, other)| own.rate / other.rate).collect()),
                server_us: median(own.iter().map(|turn| turn.server_us).collect()),
                p50_us: percentile(&waits, 50),
                p99_us: percentile(&waits, 99),
            }
        };
        Ok(CONTENDERS.iter().zip(&turns).map(throughput).collect())
    }

    fn turn(&self, contender: Contender) -> io::Result<Turn> {
        let (start, busy) = (Instant::now(), self.busy_us()?);
        let waits: io::Result<Vec<_>> = thread::scope(|scope| {
            let clients =
                (0..CLIENTS).map(|client| scope.spawn(move || contender.turn(client, self)));
            let clients: Vec<_> = clients.collect();
            let ended = |client: thread::ScopedJoinHandle<'_, _>| {
                client.join().unwrap_or_else(|_| Err(Error::other("a client has failed")))
            };
            clients.into_iter().map(ended).collect()
        });
        let requests = u32::try_from(CLIENTS * contender.requests()).map_err(Error::other)?;
        let rate = f64::from(requests) / start.elapsed().as_secs_f64();
        let server_us = (self.busy_us()? - busy) / f64::from(requests);
        Ok(Turn { rate, server_us, waits: waits?.concat() })
    }

    /// Returns the processor time that the server has used, in microseconds.
    fn busy_us(&self) -> io::Result<f64> {
        let info = words(&["INFO", "cpu"]).query::<String>(&mut self.connection()?);
        let info = info.map_err(Error::other)?;
        let seconds = |line: &str| {
            let (name, seconds) = line.split_once(':')?;
            let counts = ["used_cpu_sys", "used_cpu_user"].contains(&name);
            counts.then(|| seconds.trim().parse::<f64>().ok()).flatten()
        };
        Ok(info.lines().filter_map(seconds).sum::<f64>() * 1e6)
    }

    /// Sends one client's requests in pipelines of `depth`. Returns the time of each pipeline in
    /// microseconds.
    fn requests(
        &self,
        depth: u64,
        requests: u64,
        command: impl Fn(u64) -> Cmd,
    ) -> io::Result<Vec<f64>> {
        let mut connection = self.connection()?;
        let mut go = |first| {
            let mut bytes = Vec::new();
            (first..first + depth).for_each(|n| command(n).write_packed_command(&mut bytes));
            let start = Instant::now();
            let replies = exchange(&mut connection, &bytes, depth);
            replies.map(|()| start.elapsed().as_secs_f64() * 1e6)
        };
        (0..requests / depth).map(|n| go(n * depth).map_err(Error::other)).collect()
    }

    /// Returns the server's memory for a call that `workers` workers made, in bytes.
    fn memory(&self, workers: u64) -> io::Result<i64> {
        let call = u64::MAX - workers;
        self.requests(1, workers, |worker| record(call, hashed(worker)))?;
        let bytes = self.ask(&words(&["MEMORY", "USAGE", &key(call), "SAMPLES", "0"]))?;
        match bytes {
            Value::Int(bytes) => Ok(bytes),
            other => Err(Error::other(format!("MEMORY USAGE answers {other:?}"))),
        }
    }

    /// Measures the memory and the times of a call that `workers` workers make.
    fn cost(&self, workers: u64) -> io::Result<Cost> {
        let bytes = MEASURED.contains(&workers).then(|| self.memory(workers)).transpose()?;
        let times = TIMED.contains(&workers).then(|| self.times(workers)).transpose()?;
        let (first_us, later_us) = times.unzip();
        Ok(Cost { workers, bytes, first_us, later_us })
    }

    /// Returns the times of a call that `workers` workers make in turns: of a worker's first call, and
    /// of a later one, in microseconds.
    fn times(&self, workers: u64) -> io::Result<(f64, f64)> {
        let calls = workers.max(PIPELINED);
        let time = |call: u64, first: u64, number: u64| -> io::Result<f64> {
            let start = Instant::now();
            self.requests(100.min(number), number, |n| {
                record(call, hashed((first + n) % workers))
            })?;
            let number = u32::try_from(number).map_err(Error::other)?;
            Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(number))
        };
        let news = (0..5).map(|round| time(workers * 10 + round, 0, workers));
        let news = news.collect::<io::Result<_>>()?;
        let olds = (0..5).map(|round| time(workers * 10 + round, 0, calls));
        let olds = olds.collect::<io::Result<_>>()?;
        Ok((median(news), median(olds)))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The result of a contender's round.
struct Turn {
    /// Requests a second.
    rate: f64,
    /// The server's processor time for a request, in microseconds.
    server_us: f64,
    /// The time of each wait, in microseconds.
    waits: Vec<f64>,
}

fn exchange(connection: &mut Connection, bytes: &[u8], replies: u64) -> RedisResult<()> {
    connection.send_packed_command(bytes)?;
    (0..replies).try_for_each(|_| connection.recv_response()?.extract_error().map(drop))
}

fn timed(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e6
}

/// Returns the value that `percent` of the values are below, or `None` if there are no values.
fn percentile(values: &[f64], percent: usize) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) * percent / 100).copied()
}

fn words(words: &[&str]) -> Cmd {
    let mut cmd = Cmd::new();
    cmd.arg(words);
    cmd
}

/// Returns the key of a call.
fn key(call: u64) -> String {
    format!("{{unstuck:bench}}:{call:016x}")
}

/// Returns a random-looking id of a worker, such as a keyed hash is.
fn hashed(worker: u64) -> [u8; 4] {
    let [a, b, c, d, ..] = Worker::new(worker).digest().bits().to_be_bytes();
    [a, b, c, d]
}

/// Returns the command that a store sends for a call.
fn record(call: u64, worker: [u8; 4]) -> Cmd {
    let mut cmd = redis::cmd("FCALL");
    let (epoch, hot) =
        ("{unstuck:bench}:epoch:0123456789abcdef", "{unstuck:bench}:hot:0123456789abcdef");
    cmd.arg("unstuck_record_1").arg(3).arg(key(call)).arg(epoch).arg(hot);
    cmd.arg(&worker).arg(300_000).arg(5).arg(2).arg("0123456789abcdef:un:bash").arg(7);
    cmd
}

fn observation(client: u64, n: u64) -> Observation {
    let call = Digest::new(n % DIFFERENT);
    Observation::new(Worker::new(client), Tool::named("bash"), call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_a_table_of_requests_and_one_of_workers() {
        let throughput = |request: &str, per_second, ratio, p50_us, p99_us| Throughput {
            request: request.to_owned(),
            per_second,
            ratio,
            server_us: 5.04,
            p50_us,
            p99_us,
        };
        let throughput = [
            throughput("INCR, one request a round trip", 100_400.0, 1.0, Some(45.4), Some(120.0)),
            throughput("record, pipelined by 16", 160_000.0, 0.107, None, None),
        ];
        let cost = |workers, bytes, first_us, later_us| Cost { workers, bytes, first_us, later_us };
        let costs = [
            cost(1, Some(120), None, None),
            cost(10, None, Some(6.04), Some(5.0)),
            cost(1_000, Some(400), Some(10.0), Some(5.55)),
        ];
        insta::assert_snapshot!(report(&throughput, &costs).unwrap());
    }
}
