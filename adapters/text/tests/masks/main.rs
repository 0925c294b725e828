//! The texts that each mask removes, and the texts that it keeps.

mod cases;
mod labelled;
mod properties;
#[path = "../support/mod.rs"]
mod support;
