//! The board on a real server, which the tests start and stop, and on one that lies.
#![cfg(unix)]

mod cluster;
mod counts;
mod faults;
mod garbage;
mod liar;
mod liars;
mod processes;
mod server;
mod tasks;
mod watch;
mod workers;
