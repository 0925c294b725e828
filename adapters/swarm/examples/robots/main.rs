//! A thousand robots on a bad network find that they are stuck together:
//! `cargo run --release -p unstuck-swarm --example robots [SEED]`.

mod network;
mod table;

fn main() {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok()).unwrap_or(1);
    for size in [10, 100, 1_000] {
        println!("{}", table::table(&[size], seed));
    }
}
