//! A Redis server for one test, on its own socket.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::harness::Folder;

/// A server that is stopped on drop.
pub(super) struct Server {
    folder: Folder,
    child: Child,
}

impl Server {
    pub(super) fn start() -> Self {
        Self::with(Folder::new(), &[])
    }

    /// Starts a server in `folder` with these options.
    pub(super) fn with(folder: Folder, options: &[&str]) -> Self {
        let socket = folder.path().join("socket");
        let mut command = Command::new("redis-server");
        command.args(options);
        command.args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"]);
        command.arg(&socket).current_dir(folder.path());
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child =
            child.expect("redis-server; on Debian, apt-get install redis-server brings it");
        let mut log = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let is_ready = |line: String| line.to_lowercase().contains("ready to accept connections");
        assert!(log.any(|line| line.is_ok_and(is_ready)), "redis-server ended");
        Self { folder, child }
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the URL of the swarm `name` on this server.
    pub(super) fn url(&self, name: &str) -> String {
        format!("redis+unix://{}?swarm={name}", self.folder.path().join("socket").display())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
