//! Packages of the library for `pkg-config`, `CMake`, ESP-IDF and Arduino.

use std::path::Path;

use crate::machine;
use crate::step::{Done, failed, script};
use crate::toolchain::{EMULATED, RISC_V};

use super::programs::{STRICT, examples};
use super::{SCRIPTS, VERSION, small};

/// Returns the places of the library for `target` in the packages. The ESP-IDF component has a folder
/// for each processor. The Arduino package has one for each `build.mcu`, with a subfolder for each
/// floating-point ABI.
fn places(target: &str) -> &'static str {
    match target {
        "thumbv6m-none-eabi" => "arduino/Unstuck/src/cortex-m0 arduino/Unstuck/src/cortex-m0plus",
        "thumbv7m-none-eabi" => "arduino/Unstuck/src/cortex-m3",
        "thumbv7em-none-eabi" => "arduino/Unstuck/src/cortex-m4 arduino/Unstuck/src/cortex-m7",
        "thumbv7em-none-eabihf" => "arduino/Unstuck/src/cortex-m4/fpv4-sp-d16-hard",
        "riscv32imc-unknown-none-elf" => {
            "arduino/Unstuck/src/esp32c3 esp-idf/unstuck/lib/riscv32imc"
        }
        _ => "",
    }
}

/// Adds the library for `target` to the packages at `to`.
pub(super) fn add(to: &Path, target: &str) -> Done {
    let library = small(target)?;
    let places = format!("{} lib/{target}", places(target));
    script(
        &SCRIPTS.part("add")?,
        &[("TO", to.into()), ("LIBRARY", library.into()), ("PLACES", places.into())],
    )
}

/// The flags of a program that finds the library by `pkg-config`.
const FOUND: &str = "$(PKG_CONFIG_PATH=\"$ROOT/target/c/prefix/lib/pkgconfig\" pkg-config --cflags --libs unstuck) \
    -Wl,-rpath,\"$ROOT/target/c/prefix/lib\"";

/// The folder of the packages that are checked.
const FOLDER: &str = "target/c/packages";

/// Checks the packages: those for this machine with the installed library, and the other files with the library for the
/// emulated processor. The check needs no SDK, so Espressif's and Arduino's own build tools are not run.
pub(super) fn check() -> Done {
    examples(FOUND)?;
    script(&SCRIPTS.part("cmake")?, &[])?;
    add(&machine::root().join(FOLDER), EMULATED)?;
    script(&SCRIPTS.part("compile")?.replace("{version}", VERSION).replace("{strict}", STRICT), &[])
}

/// Checks the ESP-IDF component with its library.
pub(super) fn check_component() -> Done {
    add(&machine::root().join(FOLDER), RISC_V)?;
    let configure = |chip| script(&SCRIPTS.part("configure")?.replace("{chip}", chip), &[]);
    ["esp32c2", "esp32c3", "esp32c6", "esp32h2"].into_iter().try_for_each(configure)?;
    if configure("esp32s3").is_ok() {
        return failed("the component takes a chip that it has no library for");
    }
    Ok(())
}
