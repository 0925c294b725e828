//! A board on a Redis or Valkey server: the calls of a swarm whose workers share no memory.

mod board;
mod breaker;
mod clerk;
mod desk;
mod error;
mod health;
mod keys;
mod known;
mod link;
mod request;
mod settings;
mod watch;

pub use board::RedisBoard;
pub use error::RedisError;
pub use health::Health;
pub use request::LIBRARY;
pub use settings::{DEADLINE_MAX, DEADLINE_MIN, Settings, SettingsError};
pub use watch::{Hot, Watch};
