//! The fingerprint of JSON, without the engine.

#![no_std]
#![no_main]

unstuck_bare::part!(fingerprint_alone);
