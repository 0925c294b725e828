//! A server for the tests, on a free port of this machine.

use std::io;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Client, Cmd, Connection, FromRedisValue};
use tempfile::TempDir;
use unstuck_swarm::redis::{RedisStore, Settings};
use unstuck_swarm::{Allowance, Rule, Window};

/// The time-out of each step, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The secret of the swarms.
pub(crate) const SECRET: &[u8] = b"of the tests alone";

/// A `redis-server` process. It ends when the value is dropped.
pub(crate) struct Server {
    child: Child,
    port: u16,
    options: Vec<String>,
    folder: TempDir,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// Starts a server with these options.
    ///
    /// # Panics
    ///
    /// If there is no such program. The feature `redis` asks for these tests, so they do not pass without it.
    pub(crate) fn with(options: &[&str]) -> Self {
        let options: Vec<_> = options.iter().map(ToString::to_string).collect();
        // Another process may have taken the port before the server did.
        (0..5).find_map(|_| Self::on(free_port(), &options)).expect("a free port")
    }

    /// Starts a server. Returns `None` if it ends at once.
    fn on(port: u16, options: &[String]) -> Option<Self> {
        let folder = tempfile::tempdir().expect("there is room");
        let child = spawn(port, options, &folder)
            .expect("redis-server starts; on Debian, apt-get install redis-server brings it");
        let mut server = Self { child, port, options: options.to_vec(), folder };
        server.answers().then_some(server)
    }

    /// Returns the address of a swarm on the server.
    pub(crate) fn url(&self, swarm: &str) -> String {
        format!("redis://127.0.0.1:{}/?swarm={swarm}", self.port)
    }

    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Returns settings with a deadline that no healthy server misses, and a rule that reports two calls.
    pub(crate) fn settings(&self, swarm: &str) -> Settings {
        settings(&self.url(swarm))
    }

    pub(crate) fn store(&self, swarm: &str) -> RedisStore {
        RedisStore::open(self.settings(swarm))
    }

    pub(crate) fn connection(&self) -> Connection {
        let client = Client::open(("127.0.0.1", self.port)).expect("it is an address");
        client.get_connection_with_timeout(PATIENCE).expect("it answers")
    }

    pub(crate) fn ask<T: FromRedisValue>(&self, command: &str) -> T {
        words(command).query(&mut self.connection()).expect(command)
    }

    /// Kills the server, as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }

    /// Starts the server again on the same port, without data.
    pub(crate) fn revive(&mut self) {
        self.child = spawn(self.port, &self.options, &self.folder).expect("it starts");
        assert!(self.answers(), "it does not come back");
    }

    /// Sends a signal to the server by name.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().expect("there is kill");
        assert!(sent.success(), "{name}");
    }

    /// Returns whether the server replies before it has ended.
    fn answers(&mut self) -> bool {
        let client = Client::open(("127.0.0.1", self.port)).expect("it is an address");
        let mut answers = false;
        until(|| {
            let connection = client.get_connection_with_timeout(PATIENCE);
            let answer = connection.and_then(|mut it| words("PING").query::<String>(&mut it));
            // A server with a password replies with an error.
            answers = answer.is_ok() || answer.is_err_and(|error| error.code() == Some("NOAUTH"));
            answers || self.child.try_wait().expect("it is a child").is_some()
        });
        answers
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns settings with a deadline that no healthy server misses, and a rule that reports two calls.
pub(crate) fn settings(url: &str) -> Settings {
    settings_of(url, SECRET)
}

/// Like [`settings`], for the swarm with this secret.
pub(crate) fn settings_of(url: &str, secret: &[u8]) -> Settings {
    let settings = Settings::parse(url, secret).expect(url);
    let settings = settings.rule(talkative()).expect("it can work");
    settings.deadline(Duration::from_secs(1)).expect("it is none too long")
}

/// Returns a rule that reports two calls, also by one worker.
pub(crate) fn talkative() -> Rule {
    let rule = Rule::default().calls(2).workers(1).worked(Allowance::None);
    rule.window(Window::Time { span: 3_600_000 })
}

/// Waits until the condition holds. Fails after a time-out.
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "it does not come to be");
        thread::park_timeout(Duration::from_millis(2));
    }
}

/// Returns the command with these words.
pub(crate) fn words(command: &str) -> Cmd {
    let mut cmd = Cmd::new();
    for word in command.split_ascii_whitespace() {
        cmd.arg(word);
    }
    cmd
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    listener.local_addr().expect("it is bound").port()
}

fn spawn(port: u16, options: &[String], folder: &TempDir) -> io::Result<Child> {
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--save", "", "--appendonly", "no"])
        .arg("--dir")
        .arg(folder.path())
        .args(options)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}
