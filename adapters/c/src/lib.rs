//! The engine for C and C++.
//!
//! C programmers read `include/unstuck.h`, which is made from the documentation here, and the README
//! beside it. This crate is `no_std` and has no allocator. A detector lives in storage of the caller, and
//! there is nothing to free.
//!
//! # Which misuse is detected
//!
//! A status reports NULL, storage that is too short, misaligned, never initialised, moved, or overwritten
//! at its beginning, numbers outside their enumeration, and damaged checkpoints. Nothing else happens
//! then. Not detected are a dangling pointer, a length beyond the object, a text without its NUL, storage
//! that was overwritten behind its first bytes, and two threads that use one detector at the same time.

#![no_std]
#![allow(non_camel_case_types, reason = "the header for C has these names")]
#![allow(clippy::missing_safety_doc, reason = "the header says it once for all pointers")]
// No input may cause a panic, so code outside tests avoids everything that could.
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

#[cfg(test)]
extern crate std;

// The header has this order. The empty lines keep rustfmt from sorting the modules.
pub mod window;

pub mod detector;

pub mod events;

pub mod nudge;

pub mod policy;

pub mod control;

pub mod raw;

pub mod digests;

pub mod checkpoint;

pub mod rules;

pub mod status;

pub mod words;

mod version;

mod memory;
// If panics unwind, the program has a handler of its own.
#[cfg(all(feature = "panic-handler", panic = "abort"))]
mod panic;
pub mod storage;
pub mod verdict;

pub use version::*;
