//! Errors of a server.

use core::fmt;
use std::format;
use std::string::String;

use ::redis::ServerError;

/// An error of a server, or of the way to it.
///
/// ```
/// use unstuck_swarm::redis::RedisError;
///
/// let error = RedisError::Nonsense { server: "10.0.0.7:6379".to_owned() };
/// assert!(error.to_string().contains("10.0.0.7:6379"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedisError {
    /// The server cannot be reached, or does not reply in time.
    Unreachable {
        /// The server, by its address.
        server: String,
        /// The reason.
        why: String,
    },
    /// The server refuses the command.
    Refused {
        /// The server, by its address.
        server: String,
        /// Its message.
        why: String,
    },
    /// The server sends a reply that the swarm's function never returns.
    Nonsense {
        /// The server, by its address.
        server: String,
    },
}

impl RedisError {
    /// Returns the error for an error reply of `server`.
    pub(super) fn refused(server: &str, reply: &ServerError) -> Self {
        Self::Refused { server: server.into(), why: explained(reply) }
    }

    pub(super) fn nonsense(server: &str) -> Self {
        Self::Nonsense { server: server.into() }
    }
}

/// Returns the message of an error reply. If a person can help, what is wrong and what would be right come first.
fn explained(error: &ServerError) -> String {
    let details = error.details().unwrap_or_default();
    let said: String = format!("{} {details}", error.code()).chars().take(200).collect();
    let advice = match error.code() {
        "NOAUTH" => NO_PASSWORD,
        // Before a client has signed in, a server reads only short commands.
        "ERR" if details.contains("unauthenticated") => NO_PASSWORD,
        "ERR" if details.contains("without any password") => {
            "it needs no password, so unset UNSTUCK_SWARM_PASSWORD and take it out of the address"
        }
        "WRONGPASS" => "it takes another user or password",
        "NOPERM" => "its user lacks a right that the README of unstuck-swarm lists",
        "READONLY" => "it is a replica, which cannot count: write the address of its primary",
        "CLUSTERDOWN" => CLUSTER_DOWN,
        _ => return said,
    };
    format!("{advice} ({said})")
}

// Without a colon behind the word, because a line that looks like a password is masked.
const NO_PASSWORD: &str = "it asks for a password and none is set, neither in the address nor beside it; unstuck takes \
                           one from UNSTUCK_SWARM_PASSWORD";

const CLUSTER_DOWN: &str = "its cluster is down: every slot needs a node that runs, and redis-cli cluster info \
                            counts the slots that have one";

impl fmt::Display for RedisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { server, why } => {
                write!(f, "the swarm's server {server} cannot be asked: {why}")
            }
            Self::Refused { server, why } => {
                write!(f, "the swarm's server {server} refuses: {why}")
            }
            Self::Nonsense { server } => write!(
                f,
                "the swarm's server {server} sends an invalid reply: check that it is Redis 7 or Valkey"
            ),
        }
    }
}

impl core::error::Error for RedisError {}
