//! Errors of a server.

use core::fmt;
use std::string::String;

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

impl fmt::Display for RedisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { server, why } => {
                write!(
                    f,
                    "the swarm's server {server} cannot be asked: {why}; check that it runs there"
                )
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
