//! Turns the log of a board, from standard input, into lines: `unstuck-firmware-decoder ELF < LOG`.

fn main() {}
