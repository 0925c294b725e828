//! Tests of the program: command lines in; exit codes, reports and messages out.
//!
//! Tests that need more than Rust, git and a shell are in modules named `needs_…`. `cargo xtask test` leaves these out
//! and names them; `cargo xtask test --rest` runs them.

#[cfg(unix)]
mod action;
mod bytes;
mod config;
mod console;
mod doctor;
mod eval;
mod exits;
mod explain;
mod feedback;
mod formats;
mod harness;
mod hook;
mod html;
mod inputs;
mod install;
mod jobs;
mod json;
mod judgement;
mod manual;
#[cfg(unix)]
mod mcp;
mod needs_node;
mod noise;
#[cfg(unix)]
mod notify;
mod outputs;
#[cfg(feature = "fleet")]
mod parquet;
mod person;
mod pitfalls;
mod readme;
mod real_runs;
mod recorded;
mod reports;
mod schema;
mod shown;
#[cfg(unix)]
mod start_over;
#[cfg(all(unix, feature = "fleet"))]
mod swarm;
mod view;
#[cfg(all(unix, feature = "fleet"))]
mod watch;
mod web;
mod wording;
