//! Writes the header for C from the current sources.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    match cbindgen::generate(package) {
        Ok(header) => {
            let changed = header.write_to_file(package.join("include/unstuck.h"));
            println!("{}", if changed { "written" } else { "already current" });
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: the header was not made: {error}");
            ExitCode::FAILURE
        }
    }
}
