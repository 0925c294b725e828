//! An empty program, whose size is subtracted from the others.

#![no_std]
#![no_main]

fn main() {}

unstuck_microcontroller::program!(main);
