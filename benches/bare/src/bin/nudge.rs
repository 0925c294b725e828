//! The engine, and the text of a finding.

#![no_std]
#![no_main]

#[macro_use]
#[path = "../parts.rs"]
mod parts;

program!(nudge);
