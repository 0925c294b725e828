//! The engine under C and C++.
//!
//! What C programmers read is `include/unstuck.h`, which is made from the documentation here, and
//! the README beside it. This crate is `no_std` and has no allocator: a detector lives in storage of
//! the caller's, and there is nothing to free.
//!
//! # What can be seen of a wrong pointer, and what not
//!
//! NULL, storage that is too short or misaligned, was never initialised, was moved or overwritten at
//! its beginning, numbers that are none of their enumeration and checkpoints of any bytes are all
//! told by a status, and nothing happens. What cannot be seen: a pointer that is wild or whose
//! object is gone, a length beyond the object, a text without its NUL, storage overwritten behind
//! its first bytes, and two threads that use one detector at once.

#![no_std]
#![allow(non_camel_case_types, reason = "the names are those of the header, which C reads")]
#![allow(clippy::missing_safety_doc, reason = "the header says it once for all pointers")]
// No input may panic: what could is named by a lint, wherever it is not a test's own.
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

// In the order in which the header has them: an empty line keeps each where it is.
pub mod detector;

pub mod events;

pub mod said;

pub mod policy;

pub mod control;

pub mod raw;

pub mod digests;

pub mod of_window;

pub mod checkpoint;

pub mod rules;

pub mod status;

pub mod words;

mod version;

mod memory;
// Where a panic unwinds, somebody else handles it.
#[cfg(all(feature = "panic-handler", panic = "abort"))]
mod panic;
pub mod storage;
pub mod verdict;

pub use version::*;
