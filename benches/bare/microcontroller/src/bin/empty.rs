//! Nothing, to see what a program has without anything of ours.

#![no_std]
#![no_main]

fn main() {}

unstuck_microcontroller::program!(main);
