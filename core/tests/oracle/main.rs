//! The engine against an independent oracle: on every short sequence, and on long random ones.

mod cases;
mod exhaustive;
mod model;
mod pair;
mod random;
