//! Tests of the store on a real server, which the tests start and stop, and on fake servers.
#![cfg(unix)]

mod cluster;
mod counts;
mod errors;
mod failover;
mod faults;
mod garbage;
mod liar;
mod liars;
mod processes;
mod rights;
mod server;
mod tasks;
mod watch;
mod workers;
