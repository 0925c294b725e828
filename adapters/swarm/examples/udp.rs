//! Eight robots, each a thread with its own socket, find by UDP that they are stuck together:
//! `cargo run -p unstuck-swarm --example udp`.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use unstuck_swarm::{
    Action, Digest, FRAME_MAX, Limits, Observation, Replica, Rule, SharedReplica, SwarmStore, Tool,
    Worker,
};

const ROBOTS: usize = 8;

/// The period in which each robot sends a frame to each of two others.
const PERIOD: Duration = Duration::from_millis(50);

/// The time limit for each robot to find the loop.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sockets =
        (0..ROBOTS).map(|_| UdpSocket::bind("127.0.0.1:0")).collect::<io::Result<Vec<_>>>()?;
    let peers = sockets.iter().map(UdpSocket::local_addr).collect::<io::Result<Vec<_>>>()?;
    let begin = Instant::now();
    let robots = sockets.into_iter().enumerate().map(|(number, socket)| {
        let peers = peers.clone();
        thread::spawn(move || {
            live(number, &socket, &peers, begin).map_err(|error| error.to_string())
        })
    });
    // All threads start before the first is joined.
    for robot in robots.collect::<Vec<_>>() {
        println!("{}", robot.join().map_err(|_| "a robot panicked")??);
    }
    Ok(())
}

/// Runs a robot, and returns its finding with the time.
fn live(
    number: usize,
    socket: &UdpSocket,
    peers: &[SocketAddr],
    begin: Instant,
) -> Result<String, Box<dyn std::error::Error>> {
    let worker = Worker::new(number as u64);
    let swarm = Digest::of(b"the robots of hall 3");
    let replica = Replica::new(Rule::default(), swarm, worker, Limits::default())?;
    // A swarm on several machines would take the time of day.
    let clock = || u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
    let store = SharedReplica::new(replica, clock);
    let call = Observation::new(worker, Tool::named("move_to"), Digest::of(b"dock 7"));
    for _ in 0..2 {
        let _ = store.record(&call.failed(Digest::of(b"no way")));
    }
    let mut random = fastrand::Rng::with_seed(number as u64);
    let mut leave_at = None;
    while begin.elapsed() < PATIENCE {
        for _ in 0..2 {
            let to = peers[(number + random.usize(1..peers.len())) % peers.len()];
            let mut buffer = [0; FRAME_MAX];
            let length = store.with(|replica, now| replica.frame(&mut buffer, now).len());
            socket.send_to(&buffer[..length], to)?;
        }
        receive(socket, &store)?;
        let verdict = store.look(call.call);
        let finding = verdict.finding.filter(|_| verdict.action >= Action::Nudge);
        if let (Some(finding), None) = (finding, leave_at) {
            leave_at = Some(begin.elapsed() + PERIOD * 20);
            let nudge = finding.nudge(verdict.action, "move_to");
            println!("robot {number} after {:>4} ms: {nudge}", clock());
        }
        // It stays for a while, because others may not know the loop yet.
        if leave_at.is_some_and(|until| begin.elapsed() > until) {
            return Ok(format!("robot {number} goes another way"));
        }
    }
    Ok(format!("robot {number} never found out"))
}

/// Merges the frames that arrive within a period.
fn receive(socket: &UdpSocket, store: &SharedReplica<impl Fn() -> u64>) -> io::Result<()> {
    let end = Instant::now() + PERIOD;
    let mut buffer = [0; FRAME_MAX + 1];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        socket.set_read_timeout(Some(left))?;
        match socket.recv(&mut buffer) {
            // A foreign packet changes nothing. The replica counts it.
            Ok(length) => drop(store.with(|replica, now| replica.merge(&buffer[..length], now))),
            Err(error) if is_over(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

fn is_over(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
