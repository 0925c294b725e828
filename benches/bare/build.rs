//! Tells the linker where the programs for the emulator begin, and makes the texts of calls.

use std::env;
use std::fs;
use std::path::PathBuf;

/// The number of texts of each kind. No window holds as many, so a text that returns is new.
const TEXTS: usize = 100;

fn main() {
    println!("cargo:rerun-if-changed=memory.x");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-link-search={}", env!("CARGO_MANIFEST_DIR"));
    for program in ["instructions", "sizes", "stack"] {
        println!("cargo:rustc-link-arg-bin={program}=-Tlink.x");
    }
    let arguments = numbered(
        200,
        r#"{"path":"src/part/unit_00.rs","offset":120,"limit":1.5e2,"all":false,"pattern":"fn \\w+\\(\"","reason":""#,
        "to see who else calls this before it is changed ",
        "\"}",
    );
    let results = numbered(
        500,
        "//! Unit 00.\n\nuse crate::part::{Part, Weight};\n\n",
        "    let total = parts.iter().map(Part::weight).sum::<u64>();\n",
        "\n",
    );
    let texts = format!(
        "/// The arguments of calls, as JSON.\npub static ARGUMENTS: [&str; {TEXTS}] = {arguments:?};\n\
         /// The results of calls, which are lines of a program.\npub static RESULTS: [&str; {TEXTS}] = {results:?};\n"
    );
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(folder.join("texts.rs"), texts).expect("a writable folder");
}

/// Returns texts of `length` bytes: the opening with a number for its `00`, repetitions of the filling,
/// and the closing.
fn numbered(length: usize, opening: &str, filling: &str, closing: &str) -> Vec<String> {
    let fill = length - opening.len() - closing.len();
    let filling: String = filling.chars().cycle().take(fill).collect();
    let text = |n| opening.replacen("00", &format!("{n:02}"), 1) + &filling + closing;
    (0..TEXTS).map(text).collect()
}
