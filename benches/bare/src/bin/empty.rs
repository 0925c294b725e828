//! Nothing, whose size is subtracted from the others.

#![no_std]
#![no_main]

unstuck_bare::part!(empty);
