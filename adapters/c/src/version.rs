//! The version of the library, for those who link it dynamically.

use core::ffi::c_char;

use crate::memory::{row_of, text_of};

/// The version of the library that the program runs with, as in "0.1.0".
///
/// Never freed.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_version() -> *const c_char {
    row_of(&VERSION, 0)
}

static VERSION: [[u8; 16]; 1] = [text_of(env!("CARGO_PKG_VERSION"))];
