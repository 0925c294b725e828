//! Replicas that gossip converge to the counts of a central counter.

mod convergence;
mod forged;
mod frames;
mod memory;
mod model;
mod robots;
mod shared;
mod time;
