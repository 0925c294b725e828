//! The header for C programmers is equal to the header that the sources give.

use std::fs;
use std::path::Path;

#[test]
fn the_header_is_current() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut made = Vec::new();
    cbindgen::generate(package).expect("a header").write(&mut made);
    let made = String::from_utf8(made).expect("text");
    let kept = fs::read_to_string(package.join("include/unstuck.h")).expect("the header");
    for (number, (made, kept)) in made.lines().zip(kept.lines()).enumerate() {
        assert_eq!(
            made,
            kept,
            "line {}: `cargo run -p unstuck-c --example header` makes the header again",
            number + 1
        );
    }
    assert_eq!(made.len(), kept.len(), "`cargo run -p unstuck-c --example header` makes it again");
}
