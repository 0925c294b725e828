//! A Redis Cluster of three masters and three replicas on free ports of the loopback interface.

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::fleet::Options;
use crate::process::{Failure, Server, free_ports, until};

/// The time without an answer after which the nodes take a node for failed, in milliseconds.
pub(crate) const NODE_TIMEOUT: u32 = 3_000;

/// The first and the last slot of each master.
const SLOTS: [(u32, u32); 3] = [(0, 5_460), (5_461, 10_922), (10_923, 16_383)];

/// The options of all nodes.
const NODE: &str =
    "--cluster-announce-ip 127.0.0.1 --cluster-enabled yes --cluster-replica-validity-factor 0";

/// The options of a server with TLS. Its working directory is a subfolder of the folder with the certificates.
const TLS: &str = "--tls-cert-file ../server.crt --tls-key-file ../server.key --tls-ca-cert-file ../ca.crt \
                   --tls-auth-clients no --tls-replication yes --tls-cluster yes --tls-port";

/// The commands of `openssl` that make the certificate of an authority, and the one of all servers.
const CERTIFICATES: [&str; 3] = [
    "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=unstuck-fleet -keyout ca.key -out ca.crt",
    "req -newkey rsa:2048 -nodes -subj /CN=server -addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.csr",
    "x509 -req -days 2 -in server.csr -copy_extensions copy -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt",
];

/// A node of the cluster.
pub(crate) struct Node {
    server: Server,
    command: Command,
    /// The port for workers and other nodes.
    public: u16,
    pub(crate) id: String,
}

impl Node {
    /// Kills the process, as a power cut would, or lets it hang with all its connections.
    pub(crate) fn fail(&mut self, hung: bool) -> Result<(), Failure> {
        if hung {
            return self.signal("STOP");
        }
        self.server.child.kill()?;
        self.server.child.wait()?;
        Ok(())
    }

    /// Starts the process again, which has its old ports and no data, or lets it go on.
    pub(crate) fn recover(&mut self, hung: bool) -> Result<(), Failure> {
        if hung {
            return self.signal("CONT");
        }
        self.server.child = self.command.spawn()?;
        Ok(())
    }

    fn signal(&self, name: &str) -> Result<(), Failure> {
        let id = self.server.child.id().to_string();
        succeeds(Command::new("kill").args(["-s", name, &id]))
    }

    /// Moves keys of a slot to another node, a hundred at a time, with a pause after each. Returns their number.
    pub(crate) fn move_keys(
        &self,
        slot: u32,
        to: &Self,
        pause: Duration,
    ) -> Result<usize, Failure> {
        let mut moved = 0;
        loop {
            let keys: Vec<String> = self.ask(&format!("CLUSTER GETKEYSINSLOT {slot} 100"))?;
            if keys.is_empty() {
                return Ok(moved);
            }
            moved += keys.len();
            let mut command = redis::cmd("MIGRATE");
            command.arg("127.0.0.1").arg(to.public).arg("").arg(0).arg(5_000).arg("KEYS").arg(keys);
            command.query::<()>(&mut self.connection()?)?;
            thread::sleep(pause);
        }
    }
}

impl Deref for Node {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// Three masters, and a replica of each.
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Node>,
    scheme: &'static str,
}

impl Cluster {
    /// Starts all nodes. Each has a file that says what it would know of the others if it had run before.
    pub(crate) fn start(options: &Options) -> Result<Self, Failure> {
        if options.folder.exists() {
            fs::remove_dir_all(&options.folder)?;
        }
        fs::create_dir_all(&options.folder)?;
        if options.tls {
            for words in CERTIFICATES {
                let mut openssl = Command::new("openssl");
                openssl.args(words.split(' ')).current_dir(&options.folder).stderr(Stdio::null());
                succeeds(&mut openssl)?;
            }
        }
        let ports = free_ports(18)?;
        let (ports, _) = ports.as_chunks::<3>();
        let start = |number: usize| {
            let known = ports.iter().enumerate().map(|(other, ports)| {
                line(other, other == number, ports[usize::from(options.tls)], ports[2])
            });
            let folder = options.folder.join(format!("node-{number}"));
            fs::create_dir_all(&folder)?;
            let known = known.collect::<String>() + "vars currentEpoch 3 lastVoteEpoch 0\n";
            fs::write(folder.join("nodes.conf"), known)?;
            start(number, options, &folder, ports[number])
        };
        let nodes = (0..6).map(start).collect::<Result<_, Failure>>()?;
        let cluster = Self { nodes, scheme: if options.tls { "rediss" } else { "redis" } };
        until("the cluster is up", || {
            Ok(cluster.nodes.iter().all(|it| it.says("CLUSTER INFO", "cluster_state:ok"))
                && cluster.nodes[3..]
                    .iter()
                    .all(|it| it.says("INFO replication", "master_link_status:up")))
        })?;
        Ok(cluster)
    }

    /// Returns a line of `INFO server` with the version.
    pub(crate) fn version(&self) -> Result<String, Failure> {
        let info: String = self.nodes[0].ask("INFO server")?;
        let line = |name| info.lines().find(|line| line.starts_with(name));
        Ok(line("valkey_version").or_else(|| line("redis_version")).unwrap_or("?").to_owned())
    }

    /// Returns the slot of a swarm, and the number of the master that has it at first.
    pub(crate) fn place(&self, swarm: &str) -> Result<(u32, usize), Failure> {
        let slot = self.nodes[0].ask(&format!("CLUSTER KEYSLOT {{unstuck:{swarm}}}"))?;
        Ok((slot, SLOTS.iter().position(|(_, last)| slot <= *last).ok_or("no such slot")?))
    }

    pub(crate) fn url(&self, swarm: &str) -> String {
        let hosts: Vec<_> =
            self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.public)).collect();
        format!("{}://{}/?swarm={swarm}", self.scheme, hosts.join(","))
    }

    /// Returns the memory of all masters in bytes, with the replica in place of a master that is gone.
    pub(crate) fn memory(&self) -> Result<u64, Failure> {
        let mut sum = 0;
        for node in self.nodes.iter().filter(|node| node.says("INFO replication", "role:master")) {
            let memory: String = node.ask("INFO memory")?;
            let used = memory.lines().find_map(|line| line.strip_prefix("used_memory:"));
            sum += used.ok_or("no memory")?.parse::<u64>()?;
        }
        Ok(sum)
    }
}

/// Returns the line of `nodes.conf` for a node. The replicas are those of the masters in their order.
fn line(number: usize, is_self: bool, port: u16, bus: u16) -> String {
    let own = if is_self { "myself," } else { "" };
    let rest = match SLOTS.get(number) {
        Some((first, last)) => format!("master - 0 0 {} connected {first}-{last}", number + 1),
        None => format!("slave {} 0 0 {} connected", id(number - 3), number - 2),
    };
    format!("{} 127.0.0.1:{port}@{bus} {own}{rest}\n", id(number))
}

fn id(number: usize) -> String {
    format!("{:040x}", number + 1)
}

/// Starts a node in a folder.
fn start(
    number: usize,
    options: &Options,
    folder: &Path,
    [port, secure, bus]: [u16; 3],
) -> Result<Node, Failure> {
    let mut command = Command::new(&options.server);
    command.args(NODE.split(' ')).args(["--cluster-port", &bus.to_string(), "--logfile", "log"]);
    command.args(["--cluster-node-timeout", &NODE_TIMEOUT.to_string()]).current_dir(folder);
    if options.tls {
        command.args(TLS.split_whitespace()).arg(secure.to_string());
    }
    let server = Server::start(&mut command, port)?;
    let public = if options.tls { secure } else { port };
    Ok(Node { server, command, public, id: id(number) })
}

/// Runs a command that has to succeed.
fn succeeds(command: &mut Command) -> Result<(), Failure> {
    match command.status()? {
        status if status.success() => Ok(()),
        status => Err(format!("{command:?} ended with {status}").into()),
    }
}
