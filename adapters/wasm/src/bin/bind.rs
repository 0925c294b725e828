//! Writes the JavaScript that loads a WebAssembly file of this crate: `bind FILE FOLDER`.

use std::env;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let (Some(file), Some(folder)) = (arguments.next(), arguments.next()) else {
        eprintln!("expected a WebAssembly file and a folder");
        return ExitCode::FAILURE;
    };
    let mut bindgen = Bindgen::new();
    let written = bindgen
        .web(true)
        .map(|bindgen| bindgen.omit_default_module_path(true).remove_name_section(true))
        .and_then(|bindgen| {
            bindgen.remove_producers_section(true).input_path(file).generate(folder)
        });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
