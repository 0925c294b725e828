//! A store on a Redis or Valkey server, for workers that share no memory.
//!
//! A worker reports each call with a function of [`LIBRARY`], which runs on the server. The function returns the
//! number of calls that count and of their workers, and the worker judges them. If the functions are missing, the
//! store loads them. That needs Redis 7 or Valkey, and a user with the rights that the README lists.

mod breaker;
mod error;
mod health;
mod keys;
mod link;
mod loop_cache;
mod request;
mod sender;
mod settings;
mod state;
mod store;
#[cfg(feature = "redis-tls")]
mod tls;
mod watch;
mod wire;

pub use error::RedisError;
pub use health::Health;
pub use request::LIBRARY;
pub use settings::{DEADLINE_MAX, DEADLINE_MIN, SECRET_MIN, Settings, SettingsError};
pub use store::RedisStore;
pub use watch::{Hot, Watch};
