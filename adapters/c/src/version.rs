//! The version of the library, for programs that link it dynamically.

use core::ffi::c_char;

use crate::memory::{padded, text_at};

/// Returns the version of the library that the program runs with, for example "0.1.0". Do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_version() -> *const c_char {
    text_at(&VERSION, 0)
}

static VERSION: [[u8; 16]; 1] = [padded(env!("CARGO_PKG_VERSION"))];
