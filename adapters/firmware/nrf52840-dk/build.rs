//! Passes the memory layout of the board to the linker.

fn main() {
    println!("cargo:rerun-if-changed=memory.x");
    println!("cargo:rustc-link-search={}", env!("CARGO_MANIFEST_DIR"));
    for argument in ["-Tlink.x", "--nmagic"] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
}
