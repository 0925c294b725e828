//! Eight robots, each a thread with its own socket, find by UDP that they are stuck together:
//! `cargo run -p unstuck-swarm --example udp`.

use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use unstuck_swarm::{Action, Digest, FRAME_MAX, Limits, Observation, Replica, Rule, Tool, Worker};

const ROBOTS: usize = 8;

/// The period in which each robot sends a frame to each of two others.
const PERIOD: Duration = Duration::from_millis(50);

/// The time after which all robots leave. Others may learn of the loop from those that know it.
const END: Duration = Duration::from_secs(4);

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let bind = |_| {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_read_timeout(Some(PERIOD))?;
        Ok((socket.local_addr()?, socket))
    };
    let sockets = (0..ROBOTS).map(bind).collect::<Result<Vec<_>, Failure>>()?;
    let peers: Vec<_> = sockets.iter().map(|(address, _)| *address).collect();
    thread::scope(|scope| {
        let (begin, peers) = (Instant::now(), &peers);
        let start =
            |(number, (_, socket))| scope.spawn(move || live(number, &socket, peers, begin));
        let robots: Vec<_> = sockets.into_iter().enumerate().map(start).collect();
        robots.into_iter().try_for_each(|robot| robot.join().map_err(|_| "a robot panicked")?)
    })
}

/// Runs a robot, which says when it has found the loop.
fn live(
    number: usize,
    socket: &UdpSocket,
    peers: &[SocketAddr],
    begin: Instant,
) -> Result<(), Failure> {
    let (worker, swarm) = (Worker::new(number as u64), Digest::of(b"the robots of hall 3"));
    let mut replica = Replica::new(Rule::default(), swarm, worker, Limits::default())?;
    let call = Observation::new(worker, Tool::named("move_to"), Digest::of(b"dock 7"));
    for _ in 0..2 {
        let _ = replica.record(&call.failed(Digest::of(b"no way")), 0);
    }
    let (mut random, mut is_found) = (fastrand::Rng::with_seed(number as u64), false);
    let (mut buffer, mut next) = ([0; FRAME_MAX + 1], begin);
    // A swarm on several machines would take the time of day.
    let clock = || u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
    while begin.elapsed() < END {
        if Instant::now() >= next {
            next += PERIOD;
            for _ in 0..2 {
                let to = peers[(number + random.usize(1..peers.len())) % peers.len()];
                socket.send_to(replica.frame(&mut buffer, clock()), to)?;
            }
        }
        // A foreign packet changes nothing. The replica counts it.
        if let Ok(length) = socket.recv(&mut buffer) {
            let _ = replica.merge(&buffer[..length], clock());
        }
        let now = clock();
        let verdict = replica.look(call.call, now);
        let finding = verdict.finding.filter(|_| verdict.action >= Action::Nudge && !is_found);
        if let Some(finding) = finding {
            is_found = true;
            let nudge = finding.nudge(verdict.action, "move_to");
            println!("robot {number} after {now:>4} ms: {nudge}");
        }
    }
    Ok(())
}
