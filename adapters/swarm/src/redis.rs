//! A board on a Redis or Valkey server: the calls of a swarm whose workers share no memory.

mod board;
mod error;
mod settings;
mod watch;

pub use board::RedisBoard;
pub use error::RedisError;
pub use settings::{DEADLINE_MAX, DEADLINE_MIN, Settings, SettingsError};
pub use watch::{Hot, Watch};
