//! Tells the linker where the programs for the emulator begin, and the memory of its board.

fn main() {
    println!("cargo:rerun-if-changed=memory.x");
    println!("cargo:rustc-link-search={}", env!("CARGO_MANIFEST_DIR"));
    for program in ["instructions", "sizes", "stack"] {
        println!("cargo:rustc-link-arg-bin={program}=-Tlink.x");
    }
}
