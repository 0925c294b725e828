//! The engine against an independent oracle: on every short sequence, and on long random ones.

mod exhaustive;
mod model;
mod pair;
mod random;
