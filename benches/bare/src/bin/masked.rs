//! The engine, and the digests of raw arguments and of a masked result.

#![no_std]
#![no_main]

unstuck_bare::part!(masked);
