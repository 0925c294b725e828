//! Replicas that gossip know what one counter in their middle would know.

mod convergence;
mod forged;
mod frames;
mod memory;
mod model;
mod robots;
mod shared;
mod time;
