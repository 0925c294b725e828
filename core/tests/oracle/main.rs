//! The engine against an independent oracle: on every short sequence, and on long random ones.
//!
//! By default the tests compare a part of all sequences, in a few seconds. The environment variable
//! `UNSTUCK_EXHAUSTIVE` compares more: 1 takes a minute or two, 2 some ten minutes, and a greater number `n` adds
//! `n - 2` symbols to each sequence, of which every one takes three to five times as long.

mod exhaustive;
mod model;
mod pair;
mod random;
mod scripts;

/// Returns the value of `UNSTUCK_EXHAUSTIVE`, or `None` if the variable is not set.
fn exhaustive() -> Option<usize> {
    let value = std::env::var("UNSTUCK_EXHAUSTIVE").ok()?;
    Some(value.parse().expect("UNSTUCK_EXHAUSTIVE is a number from 1 on"))
}
