//! The version of the library, for those who link it dynamically.

use core::ffi::{CStr, c_char};

/// The version of the library that the program runs with, as in "0.1.0".
///
/// Never freed.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_version() -> *const c_char {
    VERSION.as_ptr()
}

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
