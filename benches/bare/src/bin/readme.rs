//! The example for microcontrollers in the repository's README.

#![no_std]
#![no_main]

unstuck_bare::part!(readme);
