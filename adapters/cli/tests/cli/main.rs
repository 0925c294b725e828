//! Tests of the program: command lines in; exit codes, reports and messages out.

#[cfg(unix)]
mod action;
mod baseline;
mod bytes;
mod config;
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
mod noise;
mod outputs;
mod person;
mod pitfalls;
mod plugin;
mod published;
mod readme;
mod real_runs;
mod recorded;
mod refitted;
mod reports;
mod schema;
mod sessions;
mod shown;
mod start_over;
mod status;
#[cfg(unix)]
mod swarm;
mod tune;
mod view;
mod warnings;
#[cfg(unix)]
mod watch;
mod wording;
