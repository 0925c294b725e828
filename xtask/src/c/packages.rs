//! Packages of the library for `pkg-config`, `CMake`, ESP-IDF and Arduino.

use std::path::Path;

use crate::machine;
use crate::step::{Done, failed, script};
use crate::toolchain::{EMULATED, RISC_V};

use super::programs::{STRICT, examples};
use super::{VERSION, small};

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

/// Adds the library for a target, the header and the static files to the packages.
const ADD: &str = "
    mkdir -p \"$TO/esp-idf/unstuck/include\" \"$TO/arduino/Unstuck/src\" \"$TO/include\"
    cp -R adapters/c/packages/esp-idf/. \"$TO/esp-idf/unstuck\"
    cp -R adapters/c/packages/arduino/. \"$TO/arduino/Unstuck\"
    for folder in esp-idf/unstuck/include arduino/Unstuck/src include; do \
        cp adapters/c/include/unstuck.h \"$TO/$folder\" || exit 1; done
    for folder in $PLACES; do \
        mkdir -p \"$TO/$folder\" && cp $LIBRARY \"$TO/$folder/libunstuck.a\" || exit 1; done";

/// Adds the library for `target` to the packages at `to`.
pub(super) fn add(to: &Path, target: &str) -> Done {
    let library = small(target)?;
    let places = format!("{} lib/{target}", places(target));
    script(ADD, &[("TO", to.into()), ("LIBRARY", library.into()), ("PLACES", places.into())])
}

/// The flags of a program that finds the library by `pkg-config`.
const FOUND: &str = "$(PKG_CONFIG_PATH=\"$ROOT/target/c/prefix/lib/pkgconfig\" pkg-config --cflags --libs unstuck) \
    -Wl,-rpath,\"$ROOT/target/c/prefix/lib\"";

/// Builds the `CMake` example in a copy outside the source tree.
const CMAKE: &str = "
    mkdir -p target/c/cmake-example
    cd adapters/c/examples && cp robot.c arm.cpp CMakeLists.txt ../../../target/c/cmake-example
    cmake -DCMAKE_PREFIX_PATH=\"$ROOT/target/c/prefix\" -S target/c/cmake-example -B target/c/by-cmake
    cmake --build target/c/by-cmake
    cd target/c/by-cmake && ./robot > robot.out && diff ../../../adapters/c/examples/robot.out robot.out
    cd target/c/by-cmake && ./arm > arm.out && diff ../../../adapters/c/examples/arm.out arm.out";

/// Configures the component for a chip with stubs for ESP-IDF's functions, which check that every file is there.
const CONFIGURE: &str = "cmake -DIDF_TARGET={chip} -DCOMPONENT=\"$ROOT/target/c/packages/esp-idf/unstuck\" -P adapters/c/tests/c/esp-idf.cmake";

/// Compiles the example of the component, and the sketch with a stub for Arduino's own header. Both packages name the
/// version, and Arduino links the library because of the other lines.
const COMPILE: &str = "
    cd target/c/packages/esp-idf/unstuck && grep -xF 'version: \"{version}\"' idf_component.yml
    gcc -std=c11 -fsyntax-only {strict} -I target/c/packages/esp-idf/unstuck/include \
        target/c/packages/esp-idf/unstuck/examples/robot/main/main.c
    g++ -std=c++17 -fsyntax-only {strict} -I target/c/packages/arduino/Unstuck/src \
        -include adapters/c/tests/c/arduino.h -x c++ target/c/packages/arduino/Unstuck/examples/Robot/Robot.ino
    cd target/c/packages/arduino/Unstuck && for line in name=Unstuck version={version} precompiled=true \
        ldflags=-lunstuck; do grep -xF $line library.properties || exit 1; done";

/// The folder of the packages that are checked.
const FOLDER: &str = "target/c/packages";

/// Checks the packages: those for this machine with the installed library, and the other files with the library for the
/// emulated processor. The check needs no SDK, so Espressif's and Arduino's own build tools are not run.
pub(super) fn check() -> Done {
    examples(FOUND)?;
    script(CMAKE, &[])?;
    add(&machine::root().join(FOLDER), EMULATED)?;
    script(&COMPILE.replace("{version}", VERSION).replace("{strict}", STRICT), &[])
}

/// Checks the ESP-IDF component with its library.
pub(super) fn check_component() -> Done {
    add(&machine::root().join(FOLDER), RISC_V)?;
    let configure = |chip| script(&CONFIGURE.replace("{chip}", chip), &[]);
    ["esp32c2", "esp32c3", "esp32c6", "esp32h2"].into_iter().try_for_each(configure)?;
    if configure("esp32s3").is_ok() {
        return failed("the component takes a chip that it has no library for");
    }
    Ok(())
}
