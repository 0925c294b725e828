//! A Redis Cluster of three masters and three replicas on free ports of the loopback interface.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Client, Cmd, Connection, FromRedisValue};

use crate::Failure;

/// The time limit of each step of the set-up.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time without an answer after which the nodes take a node for failed, in milliseconds.
pub(crate) const NODE_TIMEOUT: u32 = 3_000;

/// The last slot of each master.
const SLOTS: [u32; 3] = [5_460, 10_922, 16_383];

/// The certificates of the nodes: `ca.crt`, `server.crt` and `server.key` in a folder.
pub(crate) struct Encryption(PathBuf);

impl Encryption {
    pub(crate) const fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    fn options(&self, port: u16) -> Vec<String> {
        let file = |name: &str| self.0.join(name).display().to_string();
        let port = port.to_string();
        let (certificate, key, authority) =
            (file("server.crt"), file("server.key"), file("ca.crt"));
        let pairs = [
            ("--tls-port", port.as_str()),
            ("--tls-cert-file", &certificate),
            ("--tls-key-file", &key),
            ("--tls-ca-cert-file", &authority),
            ("--tls-auth-clients", "no"),
            ("--tls-replication", "yes"),
            ("--tls-cluster", "yes"),
        ];
        pairs.iter().flat_map(|(name, value)| [name, value].map(ToString::to_string)).collect()
    }
}

/// A node of the cluster. Its process ends when the value is dropped.
pub(crate) struct Node {
    child: Child,
    command: Command,
    /// The port for this program, in clear.
    port: u16,
    /// The port for workers and other nodes.
    public: u16,
    bus: u16,
    pub(crate) id: String,
}

impl Node {
    fn start(
        server: &str,
        folder: &Path,
        encryption: Option<&Encryption>,
    ) -> Result<Self, Failure> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        let [port, secure, bus] = free_ports()?;
        let mut command = Command::new(server);
        command
            .args([
                "--bind",
                "127.0.0.1",
                "--cluster-announce-ip",
                "127.0.0.1",
                "--cluster-enabled",
                "yes",
            ])
            .args(["--save", "", "--appendonly", "no", "--cluster-replica-validity-factor", "0"])
            .args(["--port", &port.to_string(), "--cluster-port", &bus.to_string()])
            .args(["--cluster-node-timeout", &NODE_TIMEOUT.to_string()])
            .arg("--dir")
            .arg(folder.canonicalize()?)
            .arg("--logfile")
            .arg(folder.canonicalize()?.join("log"))
            .args(encryption.map(|it| it.options(secure)).unwrap_or_default())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let child =
            command.spawn().map_err(|error| format!("`{server}` does not start: {error}"))?;
        let public = if encryption.is_some() { secure } else { port };
        let mut node = Self { child, command, port, public, bus, id: String::new() };
        node.answers()?;
        node.id = node.ask("CLUSTER MYID")?;
        Ok(node)
    }

    fn answers(&mut self) -> Result<(), Failure> {
        until("a node answers", || match self.child.try_wait()? {
            Some(status) => Err(format!("a node ended with {status}").into()),
            None => Ok(self.ask::<String>("PING").is_ok()),
        })
    }

    pub(crate) fn connection(&self) -> Result<Connection, Failure> {
        let client = Client::open(("127.0.0.1", self.port))?;
        Ok(client.get_connection_with_timeout(PATIENCE)?)
    }

    pub(crate) fn ask<T: FromRedisValue>(&self, command: &str) -> Result<T, Failure> {
        let answer = words(command).query(&mut self.connection()?);
        answer.map_err(|error| format!("`{command}`: {error}").into())
    }

    /// Kills the process, as a power cut would.
    pub(crate) fn kill(&mut self) -> Result<(), Failure> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Sends a signal to the process by name.
    pub(crate) fn signal(&self, name: &str) -> Result<(), Failure> {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status()?;
        if sent.success() { Ok(()) } else { Err(format!("the signal {name} was not sent").into()) }
    }

    /// Starts the process again. It has its old ports, and no data.
    pub(crate) fn revive(&mut self) -> Result<(), Failure> {
        self.child = self.command.spawn()?;
        self.answers()
    }

    /// Moves keys of a slot to another node, a hundred at a time, with a pause after each. Returns their number.
    pub(crate) fn move_keys(
        &self,
        slot: u32,
        to: &Self,
        pause: Duration,
    ) -> Result<usize, Failure> {
        let (mut connection, mut moved) = (self.connection()?, 0);
        loop {
            let keys: Vec<String> =
                words(&format!("CLUSTER GETKEYSINSLOT {slot} 100")).query(&mut connection)?;
            if keys.is_empty() {
                return Ok(moved);
            }
            moved += keys.len();
            let mut command = redis::cmd("MIGRATE");
            command.arg("127.0.0.1").arg(to.public).arg("").arg(0).arg(5_000).arg("KEYS").arg(keys);
            command.query::<()>(&mut connection)?;
            thread::sleep(pause);
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Three masters, and a replica of each.
pub(crate) struct Cluster {
    pub(crate) masters: Vec<Node>,
    pub(crate) replicas: Vec<Node>,
    scheme: &'static str,
}

impl Cluster {
    pub(crate) fn start(
        server: &str,
        folder: &Path,
        encryption: Option<&Encryption>,
    ) -> Result<Self, Failure> {
        let node =
            |number: usize| Node::start(server, &folder.join(format!("node-{number}")), encryption);
        let masters = (0..3).map(node).collect::<Result<Vec<_>, _>>()?;
        let replicas = (3..6).map(node).collect::<Result<Vec<_>, _>>()?;
        let scheme = if encryption.is_some() { "rediss" } else { "redis" };
        let cluster = Self { masters, replicas, scheme };
        let mut first = 0;
        for (master, last) in cluster.masters.iter().zip(SLOTS) {
            master.ask::<()>(&format!("CLUSTER ADDSLOTSRANGE {first} {last}"))?;
            first = last + 1;
        }
        for Node { public, bus, .. } in cluster.nodes().skip(1) {
            cluster.masters[0].ask::<()>(&format!("CLUSTER MEET 127.0.0.1 {public} {bus}"))?;
        }
        cluster.until_info("all nodes know each other", "CLUSTER INFO", "cluster_known_nodes:6")?;
        for (replica, master) in cluster.replicas.iter().zip(&cluster.masters) {
            until("a replica knows its master", || {
                Ok(replica.ask::<()>(&format!("CLUSTER REPLICATE {}", master.id)).is_ok())
            })?;
        }
        cluster.until_info("the cluster is up", "CLUSTER INFO", "cluster_state:ok")?;
        until("the replicas are up", || {
            let up = |it: &Node| {
                Ok(it.ask::<String>("INFO replication")?.contains("master_link_status:up"))
            };
            cluster
                .replicas
                .iter()
                .map(up)
                .try_fold(true, |all, it: Result<_, Failure>| Ok(all && it?))
        })?;
        Ok(cluster)
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.masters.iter().chain(&self.replicas)
    }

    /// Waits until all nodes report `text`.
    fn until_info(&self, what: &str, command: &str, text: &str) -> Result<(), Failure> {
        until(what, || {
            let has = |it: &Node| Ok(it.ask::<String>(command)?.contains(text));
            self.nodes().map(has).try_fold(true, |all, it: Result<_, Failure>| Ok(all && it?))
        })
    }

    pub(crate) fn version(&self) -> Result<String, Failure> {
        let info: String = self.masters[0].ask("INFO server")?;
        let value = |name: &str| {
            info.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("?").trim()
        };
        let name = if info.contains("valkey_version:") { "Valkey" } else { "Redis" };
        let version =
            if name == "Valkey" { value("valkey_version:") } else { value("redis_version:") };
        Ok(format!(
            "{name} {version}, {}",
            if self.scheme == "rediss" { "TLS" } else { "in clear" }
        ))
    }

    pub(crate) fn slot_of(&self, swarm: &str) -> Result<u32, Failure> {
        self.masters[0].ask(&format!("CLUSTER KEYSLOT {{unstuck:{swarm}}}"))
    }

    /// Returns the master that has a slot at first.
    #[expect(clippy::unused_self, reason = "it is a property of the cluster")]
    pub(crate) fn home(&self, slot: u32) -> usize {
        SLOTS.iter().position(|last| slot <= *last).unwrap_or(0)
    }

    pub(crate) fn url(&self, swarm: &str) -> String {
        let hosts: Vec<_> = self.nodes().map(|node| format!("127.0.0.1:{}", node.public)).collect();
        format!("{}://{}/?swarm={swarm}", self.scheme, hosts.join(","))
    }

    /// Returns the memory of all masters in bytes, with the replica in place of a master that is gone.
    pub(crate) fn memory(&self) -> Result<u64, Failure> {
        let mut sum = 0;
        for node in self.nodes() {
            let role: String = node.ask("INFO replication")?;
            let memory: String = node.ask("INFO memory")?;
            let used = memory.lines().find_map(|line| line.strip_prefix("used_memory:"));
            if role.contains("role:master") {
                sum += used.and_then(|used| used.trim().parse::<u64>().ok()).unwrap_or(0);
            }
        }
        Ok(sum)
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

/// Waits until the condition holds.
pub(crate) fn until(
    what: &str,
    mut is_so: impl FnMut() -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let start = Instant::now();
    while !is_so()? {
        if start.elapsed() > PATIENCE {
            return Err(format!("it took too long until {what}").into());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Returns ports that were free a moment ago.
fn free_ports<const N: usize>() -> Result<[u16; N], Failure> {
    let mut listeners = Vec::new();
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        *port = listener.local_addr()?.port();
        listeners.push(listener);
    }
    Ok(ports)
}
