//! Passes the memory layout of the board to the linker.

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

/// The memory layout, which `link.x` of `cortex-m-rt` includes.
const MEMORY: &str = "memory.x";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed={MEMORY}");
    let is = |variable, value: &str| env::var(variable).is_ok_and(|found| found == value);
    // For other targets the program runs on an operating system.
    if is("CARGO_CFG_TARGET_OS", "none") && is("CARGO_CFG_TARGET_ARCH", "arm") {
        let folder = env::var_os("OUT_DIR").map(PathBuf::from).ok_or(io::ErrorKind::NotFound)?;
        fs::copy(MEMORY, folder.join(MEMORY))?;
        println!("cargo:rustc-link-search={}", folder.display());
        for argument in ["-Tlink.x", "-Tdefmt.x", "--nmagic"] {
            println!("cargo:rustc-link-arg-bins={argument}");
        }
    }
    Ok(())
}
