//! The connection to the node that counts for a swarm.

use std::string::{String, ToString as _};
use std::vec::Vec;

use ::redis::{Cmd, ConnectionAddr, ConnectionInfo, Value};

use crate::redis::error::RedisError;
use crate::redis::request::{self, Remedy};
use crate::redis::settings::Server;
use crate::redis::wire::Wire;

/// The addresses of the nodes, and which of them counts for the swarm.
pub(super) struct Nodes {
    seeds: Vec<ConnectionInfo>,
    turn: usize,
    /// The node that a seed named.
    named: Option<ConnectionInfo>,
}

impl Nodes {
    /// Creates the list from at least one seed.
    pub(super) const fn new(seeds: Vec<ConnectionInfo>) -> Self {
        Self { seeds, turn: 0, named: None }
    }

    pub(super) const fn len(&self) -> usize {
        self.seeds.len()
    }

    /// Returns the node to ask.
    pub(super) fn current(&self) -> ConnectionInfo {
        let seed = &self.seeds[self.turn % self.seeds.len()];
        self.named.as_ref().unwrap_or(seed).clone()
    }

    /// Selects another node: the next seed, or the seed that named a node that is gone.
    pub(super) fn next(&mut self) {
        if self.named.take().is_none() {
            self.turn = (self.turn + 1) % self.seeds.len();
        }
    }

    /// Selects the node at `address`, as a cluster wrote it. If the host is missing, it is the current one.
    pub(super) fn follow(&mut self, address: &str) {
        let current = self.current();
        let Some((host, port)) = address.rsplit_once(':') else { return };
        let Ok(port) = port.parse() else { return };
        let host = match (host, current.addr()) {
            ("", ConnectionAddr::Tcp(host, _)) => host.clone(),
            ("", _) => return,
            (host, _) => host.to_string(),
        };
        self.named = Some(current.set_addr(ConnectionAddr::Tcp(host, port)));
    }
}

/// Returns the address of a node, without user and password.
pub(super) fn address(node: &ConnectionInfo) -> String {
    node.addr().to_string()
}

/// The blocking connection to the node that counts for a swarm.
pub(super) struct Link {
    nodes: Nodes,
    is_encrypted: bool,
    open: Option<Wire>,
    /// `true` after a failure, until a node has carried out commands. Meanwhile a new connection has to show that
    /// there is a reply before calls are sent on it, because a node that hangs still accepts connections.
    is_doubtful: bool,
    /// The reason why no node counts, until a node has carried out commands.
    pub(super) reason: Option<RedisError>,
}

impl Link {
    pub(super) fn new(server: &Server) -> Self {
        let nodes = Nodes::new(server.nodes.clone());
        let is_encrypted = server.is_encrypted;
        Self { nodes, is_encrypted, open: None, is_doubtful: false, reason: None }
    }

    pub(super) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns the address of the node that is asked.
    pub(super) fn server(&self) -> String {
        address(&self.nodes.current())
    }

    /// Connects to a node that can be reached, unless there is a connection.
    pub(super) fn connect(&mut self) -> Result<&mut Wire, RedisError> {
        let mut wire = self.open.take().ok_or_else(|| self.reason());
        // A node that was named may be gone, and so may all seeds but the last.
        for _ in 0..=self.nodes.len() {
            if wire.is_ok() {
                break;
            }
            wire = self.try_current();
        }
        Ok(self.open.insert(wire?))
    }

    /// Connects to the current node. If that fails, selects another node.
    fn try_current(&mut self) -> Result<Wire, RedisError> {
        let wire = Wire::open(&self.nodes.current(), self.is_encrypted);
        let probed = wire.and_then(|mut wire| {
            if self.is_doubtful {
                wire.probe()?;
            }
            Ok(wire)
        });
        if probed.is_err() {
            self.nodes.next();
        }
        probed
    }

    /// Sends commands in one pipeline and reads a reply to each. If that fails, the connection is closed, because
    /// its next reply could not be matched to a command, and another node is asked next.
    pub(super) fn ask<'c>(
        &mut self,
        commands: impl Iterator<Item = &'c Cmd>,
    ) -> Result<Vec<Value>, RedisError> {
        let replies = self.connect()?.exchange(commands);
        if replies.is_err() {
            self.leave();
        }
        replies
    }

    /// Sends one command. Sends it again if the server lacks the functions, or is not the right node.
    pub(super) fn ask_one(&mut self, command: &Cmd) -> Result<Value, RedisError> {
        for _ in 0..3 {
            let reply = self.only(command)?;
            let Some(remedy) = request::remedy(&reply, &self.server())? else {
                self.trust();
                return Ok(reply);
            };
            self.heal(remedy)?;
        }
        Err(self.reason())
    }

    /// Returns the reason why no node counts.
    pub(super) fn reason(&self) -> RedisError {
        self.reason.clone().unwrap_or_else(|| RedisError::nonsense(&self.server()))
    }

    /// Notes that the node has carried out commands.
    pub(super) fn trust(&mut self) {
        self.is_doubtful = false;
        self.reason = None;
    }

    /// Applies a remedy before commands are sent again.
    pub(super) fn heal(&mut self, remedy: Remedy) -> Result<(), RedisError> {
        match remedy {
            Remedy::Load => return self.load(),
            Remedy::Wait(reason) => self.reason = Some(reason),
            Remedy::Move(node) => {
                self.nodes.follow(&node);
                self.open = None;
            }
            Remedy::Leave(reason) => {
                self.reason = Some(reason);
                self.leave();
            }
        }
        Ok(())
    }

    /// Closes the connection and selects another node.
    fn leave(&mut self) {
        self.open = None;
        self.is_doubtful = true;
        self.nodes.next();
    }

    /// Loads the functions. If the node is a replica and cannot take them, selects another node.
    fn load(&mut self) -> Result<(), RedisError> {
        let reply = self.only(&request::load())?;
        match request::remedy(&reply, &self.server())? {
            // A server that took the functions does not miss them.
            Some(remedy) if remedy != Remedy::Load => self.heal(remedy),
            _ => Ok(()),
        }
    }

    /// Sends one command, once.
    fn only(&mut self, command: &Cmd) -> Result<Value, RedisError> {
        let replies = self.ask(core::iter::once(command))?;
        replies.into_iter().next().ok_or_else(|| RedisError::nonsense(&self.server()))
    }
}

#[cfg(test)]
mod tests {
    use ::redis::IntoConnectionInfo as _;

    use super::*;

    fn nodes(urls: &[&str]) -> Nodes {
        let info = |url: &&str| url.into_connection_info().expect("it is an address");
        Nodes::new(urls.iter().map(info).collect())
    }

    fn current(nodes: &Nodes) -> String {
        address(&nodes.current())
    }

    #[test]
    fn seeds_are_asked_in_turn() {
        let mut nodes = nodes(&["redis://a", "redis://b:1"]);
        let asked: Vec<_> = (0..3).map(|_| (current(&nodes), nodes.next()).0).collect();
        assert_eq!(asked, ["a:6379", "b:1", "a:6379"]);
    }

    #[test]
    fn a_node_that_was_named_is_asked_until_it_is_gone() {
        let mut nodes = nodes(&["redis://u:p@a", "redis://b"]);
        for (named, asked) in [
            ("c:7", "c:7"),
            ("::1:7", "::1:7"),
            (":8", "::1:8"),
            ("nonsense", "::1:8"),
            ("d:70000", "::1:8"),
        ] {
            nodes.follow(named);
            assert_eq!(current(&nodes), asked, "{named}");
        }
        assert_eq!(nodes.current().redis_settings().password(), Some("p"));
        nodes.next();
        assert_eq!(current(&nodes), "a:6379", "the seed that named it");
    }
}
