//! Finds the loops in recorded agent runs.
fn main() {}
