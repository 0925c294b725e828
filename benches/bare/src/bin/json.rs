//! The engine, and the fingerprint of raw arguments.

#![no_std]
#![no_main]

unstuck_bare::part!(json);
