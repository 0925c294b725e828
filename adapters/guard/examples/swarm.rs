//! Eight processes that get stuck together, and are freed because they share their counts. No model:
//! each is a script.
//!
//! Every worker tries the same installation, which fails for all of them, and reads on between its
//! tries, so that no guard of one worker alone finds a loop. Then they do
//! it again with a store that they share: on the server that `UNSTUCK_SWARM` names, with the secret in
//! `UNSTUCK_SWARM_SECRET`, or else on a `redis-server` that is started for it. They take turns, so that
//! the output is the same each time.

use std::env;
use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use unstuck::{Action, Guard};
use unstuck_swarm::redis::{RedisStore, Settings};

type Failure = Box<dyn Error>;

const WORKERS: usize = 8;

/// The number of tries in the budget of a worker.
const TRIES_MAX: usize = 6;

/// The number of files that a worker reads between two tries.
const READS: usize = 5;

/// The variable with the name of the worker, if this process is one.
const WORKER: &str = "UNSTUCK_EXAMPLE_WORKER";
const SWARM: &str = "UNSTUCK_SWARM";
const SECRET: &str = "UNSTUCK_SWARM_SECRET";

fn main() -> Result<(), Failure> {
    if let Ok(name) = env::var(WORKER) {
        return work(&name);
    }
    let server = Server::find()?;
    println!("Each by itself:");
    show(&run(None)?);
    println!("\nWith a board that they share:");
    let told = run(Some(&server))?;
    show(&told);
    let first = told.iter().flat_map(|worker| &worker.told).max_by_key(|told| told.0);
    if let Some((_, message)) = first {
        println!("\nThe last of them to hear of it read:\n{message}");
    }
    Ok(())
}

/// The result of a worker.
struct Fate {
    tries: usize,
    /// The number of the try with a message, and the message.
    told: Option<(usize, String)>,
    is_free: bool,
}

fn show(workers: &[Fate]) {
    println!("  worker  tries  told at  free");
    for (n, Fate { tries, told, is_free }) in workers.iter().enumerate() {
        let at = told.as_ref().map_or_else(|| "-".to_owned(), |(at, _)| at.to_string());
        let free = if *is_free { "yes" } else { "no" };
        println!("  w{:<5}  {tries:>5}  {at:>7}  {free}", n + 1);
    }
    let tries: usize = workers.iter().map(|worker| worker.tries).sum();
    println!("  {tries} tries of what cannot work");
}

/// Lets all workers take turns until each is free, or has spent its budget.
fn run(server: Option<&Server>) -> Result<Vec<Fate>, Failure> {
    let mut workers: Vec<_> =
        (1..=WORKERS).map(|n| Process::start(n, server)).collect::<Result<_, _>>()?;
    for _ in 0..TRIES_MAX {
        for worker in workers.iter_mut().filter(|worker| !worker.so_far.is_free) {
            worker.take_turn()?;
        }
    }
    workers.into_iter().map(Process::end).collect()
}

/// A worker's process, as seen from the main process.
struct Process {
    child: Child,
    turns: ChildStdin,
    answers: BufReader<ChildStdout>,
    so_far: Fate,
}

impl Process {
    fn start(n: usize, server: Option<&Server>) -> Result<Self, Failure> {
        let mut itself = Command::new(env::current_exe()?);
        itself.env(WORKER, format!("w{n}")).env_remove(SWARM);
        if let Some(server) = server {
            itself.env(SWARM, &server.url).env(SECRET, &server.secret);
        }
        let mut child = itself.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (turns, answers) = pipes.ok_or("a worker without pipes")?;
        let so_far = Fate { tries: 0, told: None, is_free: false };
        Ok(Self { child, turns, answers: BufReader::new(answers), so_far })
    }

    fn take_turn(&mut self) -> Result<(), Failure> {
        writeln!(self.turns, "go on")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        self.so_far.tries += 1;
        match answer.trim_end() {
            "stuck" => {}
            told => {
                self.so_far.told = Some((self.so_far.tries, told.to_owned()));
                self.so_far.is_free = true;
            }
        }
        Ok(())
    }

    fn end(self) -> Result<Fate, Failure> {
        let Self { mut child, turns, so_far, .. } = self;
        drop(turns);
        child.wait()?;
        Ok(so_far)
    }
}

/// Runs in a worker's process: takes a turn for each line of input, and prints a line about it.
fn work(name: &str) -> Result<(), Failure> {
    let builder = Guard::builder().session("example").worker(name);
    let mut guard = match env::var(SWARM) {
        Ok(url) => builder.swarm(Arc::new(RedisStore::open(settings(&url)?))).build()?,
        Err(_) => builder.build()?,
    };
    for (turn, line) in io::stdin().lines().enumerate() {
        line?;
        println!("{}", try_again(&mut guard, name, turn).unwrap_or_else(|| "stuck".to_owned()));
    }
    Ok(())
}

/// A script in place of a model: it tries, reads on, and takes another way after a message.
fn try_again(guard: &mut Guard, name: &str, turn: usize) -> Option<String> {
    let told = call(guard, "bash", r#"{"command":"npm ci"}"#, "npm error 403 Forbidden", true);
    if told.is_some() {
        let other = r#"{"command":"npm ci --registry http://mirror.example"}"#;
        // The other way works, so that there is no message.
        let _ = call(guard, "bash", other, "added 412 packages", false);
        return told;
    }
    for n in 0..READS {
        let path = format!(r#"{{"path":"{name}/{turn}-{n}.md"}}"#);
        let _ = call(guard, "read_file", &path, &format!("page {n} of {turn}, by {name}"), false);
    }
    None
}

/// Makes a call with that result. Returns the message for the model.
fn call(guard: &mut Guard, tool: &str, args: &str, result: &str, failed: bool) -> Option<String> {
    let before = guard.before(tool, args);
    if before.is_blocked() {
        return Some(before.refusal());
    }
    let after = guard.after(before.ticket(), result, failed);
    after.message().filter(|_| after.action() > Action::Proceed).map(unstuck::Message::note)
}

fn settings(url: &str) -> Result<Settings, Failure> {
    let secret = env::var(SECRET)?;
    // A long deadline, because a late answer would change the table.
    Ok(Settings::parse(url, secret.as_bytes())?.deadline(Duration::from_secs(1))?)
}

/// The server that counts the calls. If this program has started it, it ends on drop.
struct Server {
    url: String,
    secret: String,
    started: Option<(Child, TempDir)>,
}

impl Server {
    fn find() -> Result<Self, Failure> {
        match env::var(SWARM) {
            Ok(url) => Ok(Self { url, secret: env::var(SECRET)?, started: None }),
            Err(_) => Self::start(),
        }
    }

    fn start() -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let socket = folder.path().join("socket");
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"]);
        command.arg(&socket).current_dir(folder.path());
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child =
            child.map_err(|error| format!("redis-server: {error}; set {SWARM} and {SECRET}"))?;
        let log = child.stdout.take().ok_or("a server without a log")?;
        let is_ready = |line: String| line.to_lowercase().contains("ready to accept connections");
        if !BufReader::new(log).lines().any(|line| line.is_ok_and(is_ready)) {
            return Err("redis-server ended".into());
        }
        let url = format!("redis+unix://{}?swarm=example", socket.display());
        Ok(Self { url, secret: "no secret at all".to_owned(), started: Some((child, folder)) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some((child, _)) = &mut self.started {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
