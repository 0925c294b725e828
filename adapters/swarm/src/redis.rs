//! A board on a Redis or Valkey server: the calls of a swarm whose workers share no memory.
//!
//! A worker tells the server of each call by one function that runs there, [`LIBRARY`], and hears how many
//! calls count and by how many workers; it judges by itself. The functions are loaded where they are missing,
//! which takes Redis 7 or Valkey, and a user who may.

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
mod store;
mod watch;

pub use error::RedisError;
pub use health::Health;
pub use request::LIBRARY;
pub use settings::{DEADLINE_MAX, DEADLINE_MIN, Settings, SettingsError};
pub use store::RedisStore;
pub use watch::{Hot, Watch};
