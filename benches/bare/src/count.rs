//! The program that `cargo xtask footprint` runs on this machine. It prints the sizes of values, or
//! repeats a work for valgrind to count.

use std::env;
use std::hint::black_box;
use std::process::ExitCode;

use unstuck_bare::{Host, SIZES, Work};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["sizes"] => SIZES.iter().for_each(|(name, bytes)| println!("{name}\t{bytes}")),
        ["works"] => Work::ALL.iter().for_each(|(name, _)| println!("{name}")),
        [wanted, times] => {
            let work = Work::ALL.into_iter().find(|(name, _)| name == wanted);
            let (Some((_, work)), Ok(times), Some(mut host)) =
                (work, times.parse::<u32>(), Host::new())
            else {
                return usage();
            };
            for _ in 0..times {
                black_box(host.call(black_box(work)));
            }
        }
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: count sizes | count works | count WORK TIMES");
    ExitCode::from(64)
}
