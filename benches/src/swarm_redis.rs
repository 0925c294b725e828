//! The benchmark `swarm-redis`: the calls of a swarm on a `redis-server`, beside a plain counter.

use std::cell::RefCell;
use std::hint::black_box;
use std::io::{self, Error};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use redis::{Cmd, RedisResult};
use unstuck_swarm::redis::{LIBRARY, RedisStore, Settings};
use unstuck_swarm::{Digest, Observation, SwarmStore as _, Tool, Worker};

use crate::harness::{Contest, Peer, median, number};
use crate::process::{Failure, Server, free_ports, until, words};
use crate::report::table;

/// The number of rounds.
const ROUNDS: usize = 9;

/// The number of concurrent clients.
const CLIENTS: usize = 8;

/// The number of requests of a client in a turn.
const REQUESTS: usize = 4_000;

/// The number of different calls.
const DIFFERENT: u64 = 1_000;

/// The numbers of workers for which the cost of a call is measured.
const WORKERS: [u64; 7] = [1, 8, 10, 64, 1_000, 10_000, 100_000];

/// The number of later calls whose time is measured, and the number of them in a pipeline.
const LATER_CALLS: u64 = 10_000;
const BATCH: u64 = 100;

/// Starts a server, measures everything on it, and stops it.
pub(crate) fn measure() -> Result<(), Failure> {
    let (folder, ports) = (tempfile::tempdir()?, free_ports(1)?);
    let mut command = Command::new("redis-server");
    let server = Server::start(command.current_dir(&folder), ports[0])?;
    until("the server answers", || Ok(server.says("PING", "PONG")))?;
    redis::cmd("FUNCTION").arg("LOAD").arg(LIBRARY).query::<()>(&mut server.connection()?)?;
    let mut rows = Vec::new();
    let one_by_one: &[(&str, Send)] = &[
        ("INCR, one request a round trip", |server, client| server.count(1, client)),
        ("record, one request a round trip", |server, client| server.record(1, client)),
        ("a store, each answer waited for", Server::store),
    ];
    let pipelined: &[(&str, Send)] = &[
        ("INCR, pipelined by 16", |server, client| server.count(16, client)),
        ("record, pipelined by 16", |server, client| server.record(16, client)),
    ];
    for ways in [one_by_one, pipelined] {
        let peer =
            |&(name, send)| Clients { server: &server, name, send, busy: RefCell::default() };
        let peers: Vec<_> = ways.iter().map(peer).collect();
        let (input, items) = (String::new(), CLIENTS * REQUESTS);
        let contest = Contest { input, items, bytes: 0, rounds: ROUNDS, counted: 0, peers };
        for (peer, timing) in contest.peers.iter().zip(contest.take_turns()?) {
            // In the first turn every call is new.
            let busy = median(peer.busy.borrow()[1..].to_vec());
            let (rate, ratio) = (1e6 / timing.ns, 1.0 / timing.ratio);
            let [rate, ratio, busy] =
                [format!("{rate:.0}"), format!("{ratio:.2}"), format!("{busy:.1}")];
            rows.push(vec![peer.name(), rate, ratio, busy]);
        }
    }
    table(&["asked", "1,000/s", "of INCR", "server µs"], 1, rows);
    let costs = WORKERS.into_iter().map(|workers| server.cost(workers));
    let costs = costs.collect::<Result<_, _>>()?;
    table(&["workers", "bytes/call", "µs, first call", "µs, later calls"], 0, costs);
    println!(
        "8 clients at a time, 1,000 calls. A rate is compared with INCR with the same pipelining, in the same \
         round.\nA store waits for each answer. Costs are those of one client that pipelines by 100.",
    );
    Ok(())
}

/// A way to send the requests of a client.
type Send = fn(&Server, u64) -> Result<(), Failure>;

/// Clients that send their requests at the same time.
struct Clients<'s> {
    server: &'s Server,
    name: &'static str,
    send: Send,
    /// The time that a request kept the server busy in each turn, in microseconds.
    busy: RefCell<Vec<f64>>,
}

impl Peer for Clients<'_> {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn run(&self) -> io::Result<u32> {
        self.turn().map(|()| 0).map_err(Error::other)
    }
}

impl Clients<'_> {
    /// Sends the requests of all clients.
    fn turn(&self) -> Result<(), Failure> {
        let (server, send) = (self.server, self.send);
        let busy = server.busy_us()?;
        thread::scope(|scope| {
            let turn = |client| scope.spawn(move || send(server, client));
            let clients: Vec<_> = (0..CLIENTS as u64).map(turn).collect();
            clients.into_iter().try_for_each(|client| {
                client.join().unwrap_or_else(|_| Err("a client has failed".into()))
            })
        })?;
        let busy = (server.busy_us()? - busy) / number(CLIENTS * REQUESTS);
        self.busy.borrow_mut().push(busy);
        Ok(())
    }
}

impl Server {
    /// Sends `INCR`, `depth` requests in a pipeline.
    fn count(&self, depth: u64, _: u64) -> Result<(), Failure> {
        self.requests(depth, REQUESTS as u64, |n| {
            words(&format!("INCR {{unstuck:bench}}:n{}", n % DIFFERENT))
        })
    }

    /// Calls the function of the swarm, `depth` requests in a pipeline.
    fn record(&self, depth: u64, client: u64) -> Result<(), Failure> {
        self.requests(depth, REQUESTS as u64, |n| record(n % DIFFERENT, hashed(client)))
    }

    /// Records calls with a store whose worker waits for each answer.
    fn store(&self, client: u64) -> Result<(), Failure> {
        let url = format!("redis://127.0.0.1:{}/?swarm=bench", self.port);
        let settings = Settings::parse(&url, b"of the bench alone")?;
        let settings = settings.deadline(Duration::from_secs(1))?;
        let store = RedisStore::open(settings);
        let (worker, tool) = (Worker::new(client), Tool::named("bash"));
        for n in 0..REQUESTS as u64 {
            let call = Digest::new(n % DIFFERENT);
            let _ = black_box(store.record(&Observation::new(worker, tool, call)));
        }
        Ok(())
    }

    /// Returns the processor time that the server has used, in microseconds.
    fn busy_us(&self) -> Result<f64, Failure> {
        let info: String = self.ask("INFO cpu")?;
        let seconds = |line: &str| {
            let (name, seconds) = line.split_once(':')?;
            let counts = ["used_cpu_sys", "used_cpu_user"].contains(&name);
            counts.then(|| seconds.trim().parse::<f64>().ok()).flatten()
        };
        Ok(info.lines().filter_map(seconds).sum::<f64>() * 1e6)
    }

    /// Sends one client's requests in pipelines of `depth`.
    fn requests(
        &self,
        depth: u64,
        requests: u64,
        command: impl Fn(u64) -> Cmd,
    ) -> Result<(), Failure> {
        let mut connection = self.connection()?;
        let pipeline = |number: u64| -> RedisResult<()> {
            let mut numbers = number * depth..requests.min((number + 1) * depth);
            let mut bytes = Vec::new();
            numbers.clone().for_each(|n| command(n).write_packed_command(&mut bytes));
            connection.send_packed_command(&bytes)?;
            numbers.try_for_each(|_| connection.recv_response()?.extract_error().map(drop))
        };
        Ok((0..requests.div_ceil(depth)).try_for_each(pipeline)?)
    }

    /// Measures the memory of a call that `workers` workers make, the time of a worker's first call, and that of
    /// a later one. Returns the row of the table.
    fn cost(&self, workers: u64) -> Result<Vec<String>, Failure> {
        // Not among the calls of the clients.
        let call = |round| u64::MAX - 10 * workers - round;
        let time = |round: u64, number: u64| -> Result<f64, Failure> {
            let start = Instant::now();
            self.requests(BATCH, number, |n| record(call(round), hashed(n % workers)))?;
            let number = u32::try_from(number)?;
            Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(number))
        };
        let first = (0..5).map(|round| time(round, workers)).collect::<Result<_, _>>()?;
        let later = (0..5).map(|round| time(round, workers.max(LATER_CALLS)));
        let later = later.collect::<Result<_, _>>()?;
        let bytes: i64 = self.ask(&format!("MEMORY USAGE {} SAMPLES 0", key(call(0))))?;
        let [first, later] = [first, later].map(|times| format!("{:.1}", median(times)));
        Ok(vec![workers.to_string(), bytes.to_string(), first, later])
    }
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
