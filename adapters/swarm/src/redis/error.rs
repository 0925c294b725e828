//! Why a server could not be asked.

use core::fmt;
use std::string::String;

/// Why a server could not be asked, or what is wrong with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedisError {
    /// There is no way to it, or it does not answer in time.
    Unreachable {
        /// The server, by its address.
        server: String,
        /// What happened.
        why: String,
    },
    /// It answers that it will not.
    Refused {
        /// The server, by its address.
        server: String,
        /// What it says.
        why: String,
    },
    /// It answers what the swarm's function never does.
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
                "the swarm's server {server} answers what no swarm does: check that it is Redis 7 or \
                 Valkey"
            ),
        }
    }
}

impl core::error::Error for RedisError {}
