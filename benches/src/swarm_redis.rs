//! The calls of a swarm on a `redis-server`, beside a plain counter on the same.

use std::hint::black_box;
use std::io::{self, Error};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Client, Cmd, Connection, RedisResult, Value};
use unstuck_swarm::redis::{LIBRARY, RedisStore, Settings};
use unstuck_swarm::{Digest, Observation, SwarmStore as _, Tool, Worker};

use crate::rounds::median;
use crate::swarm_redis_report::{Cost, Memory, Report, Row};

/// How many rounds all contenders take turns for.
const ROUNDS: usize = 9;

/// How many clients there are at a time.
const CLIENTS: u64 = 8;

/// How many requests a client makes in a turn, one after the other or pipelined.
const REQUESTS: u64 = 2_000;
const PIPELINED: u64 = 10_000;

/// How many different calls they are about.
const DIFFERENT: u64 = 1_000;

/// How long a server may take to come and to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Who takes turns.
const CONTENDERS: [Contender; 8] = [
    Contender::Counter { depth: 1 },
    Contender::Function { depth: 1 },
    Contender::SwarmStore,
    Contender::Counter { depth: 16 },
    Contender::Function { depth: 16 },
    Contender::Counter { depth: 100 },
    Contender::Function { depth: 100 },
    Contender::Told,
];

/// Starts a server, measures everything on it, and stops it.
///
/// # Errors
///
/// If there is no `redis-server`, or it fails.
pub fn measure() -> io::Result<Report> {
    let server = Server::start()?;
    let rows = server.take_turns()?;
    let memory = [1, 8, 64, 1_000].map(|workers| server.memory(workers));
    let costs = [10, 100, 1_000, 10_000, 100_000].map(|workers| server.cost(workers));
    Ok(Report {
        rows,
        memory: memory.into_iter().collect::<io::Result<_>>()?,
        costs: costs.into_iter().collect::<io::Result<_>>()?,
    })
}

/// What asks the server.
#[derive(Clone, Copy)]
enum Contender {
    /// `INCR`, so many in one go.
    Counter { depth: u64 },
    /// The function of the swarm, so many in one go.
    Function { depth: u64 },
    /// A worker that waits for each answer.
    SwarmStore,
    /// A worker that waits for none.
    Told,
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
            Self::SwarmStore => "a board, each answer waited for".to_owned(),
            Self::Told => "a board, no answer waited for".to_owned(),
        }
    }

    /// The contender that it is compared with, by its place.
    const fn beside(self) -> usize {
        match self {
            Self::Counter { depth: 1 } | Self::Function { depth: 1 } | Self::SwarmStore => 0,
            Self::Counter { depth: 16 } | Self::Function { depth: 16 } => 3,
            Self::Counter { .. } | Self::Function { .. } | Self::Told => 5,
        }
    }

    /// One client's turn. Gives how long each wait took, in microseconds.
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
                let board = server.board()?;
                let wait = |n| timed(|| _ = black_box(board.record(&observation(client, n))));
                Ok((0..REQUESTS).map(wait).collect())
            }
            Self::Told => {
                let board = server.board()?;
                for n in 0..PIPELINED {
                    while n - board.health().answered >= 2_048 {
                        thread::park_timeout(Duration::from_micros(50));
                    }
                    board.record_detached(&observation(client, n), "bash");
                }
                while board.health().answered < PIPELINED {
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

/// A server that ends with its value.
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

    fn board(&self) -> io::Result<RedisStore> {
        let url = format!("redis://127.0.0.1:{}/?swarm=bench", self.port);
        let settings = Settings::parse(&url, b"of the bench").map_err(Error::other)?;
        let settings = settings.deadline(Duration::from_secs(1)).map_err(Error::other)?;
        Ok(RedisStore::open(settings))
    }

    /// Lets all contenders take turns, each with all its clients at once.
    fn take_turns(&self) -> io::Result<Vec<Row>> {
        let mut turns: Vec<Vec<Turn>> = CONTENDERS.iter().map(|_| Vec::new()).collect();
        for round in 0..=ROUNDS {
            for (contender, turns) in CONTENDERS.iter().zip(&mut turns) {
                let turn = self.turn(*contender)?;
                // In the first round everything is new, which it never is again.
                turns.extend((round > 0).then_some(turn));
            }
        }
        let row = |(contender, own): (&Contender, &Vec<Turn>)| {
            let rates = own.iter().zip(&turns[contender.beside()]);
            let waits: Vec<_> = own.iter().flat_map(|turn| &turn.waits).copied().collect();
            Row {
                what: contender.name(),
                per_second: median(own.iter().map(|turn| turn.rate).collect()),
                ratio: median(rates.map(|(own, beside)| own.rate / beside.rate).collect()),
                server_us: median(own.iter().map(|turn| turn.server_us).collect()),
                p50_us: part(&waits, 50),
                p99_us: part(&waits, 99),
            }
        };
        Ok(CONTENDERS.iter().zip(&turns).map(row).collect())
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

    /// How long the server has been busy since it was started, in microseconds of a processor.
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

    /// One client's requests, so many in one go. Gives how long each go took.
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

    /// What a call takes of the server's memory that so many workers made.
    fn memory(&self, workers: u64) -> io::Result<Memory> {
        let call = u64::MAX - workers;
        self.requests(1, workers, |worker| record(call, hashed(worker)))?;
        let bytes = self.ask(&words(&["MEMORY", "USAGE", &key(call), "SAMPLES", "0"]))?;
        match bytes {
            Value::Int(bytes) => Ok(Memory { workers, bytes }),
            other => Err(Error::other(format!("MEMORY USAGE answers {other:?}"))),
        }
    }

    /// What a call of so many workers costs, who take turns: the first time, and from then on.
    fn cost(&self, workers: u64) -> io::Result<Cost> {
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
        Ok(Cost { workers, first_us: median(news), later_us: median(olds) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a contender did in a round: requests a second, how long the server was busy with each, and how long
/// each wait was, in microseconds.
struct Turn {
    rate: f64,
    server_us: f64,
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

/// The value that so many percent are below; 0 of none.
fn part(values: &[f64], percent: usize) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) * percent / 100).copied().unwrap_or(0.0)
}

fn words(words: &[&str]) -> Cmd {
    let mut cmd = Cmd::new();
    cmd.arg(words);
    cmd
}

/// Where a call is counted.
fn key(call: u64) -> String {
    format!("{{unstuck:bench}}:{call:016x}")
}

/// What stands for a worker: as good as random, as a keyed hash is.
fn hashed(worker: u64) -> [u8; 4] {
    let [a, b, c, d, ..] = Worker::new(worker).digest().bits().to_be_bytes();
    [a, b, c, d]
}

/// What a board sends for a call.
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
