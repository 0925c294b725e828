//! Packages of the library for `pkg-config`, `CMake`, ESP-IDF and Arduino.

use std::fs;
use std::path::Path;

use crate::machine::{Machine, program};
use crate::step::{Done, Outcome, failed, run};
use crate::target::Target;

use super::programs::{EXAMPLES, STRICT, prints, run_example};
use super::{BRIEFLY, VERSION, copy, folder, of_package, small};

/// Returns the places of the library for `target` in the packages. The ESP-IDF component has a folder
/// for each processor. The Arduino package has one for each `build.mcu`, with a subfolder for each
/// floating-point ABI.
fn places(target: Target) -> &'static [&'static str] {
    match target {
        Target::Thumbv6m => &["arduino/Unstuck/src/cortex-m0", "arduino/Unstuck/src/cortex-m0plus"],
        Target::Thumbv7m => &["arduino/Unstuck/src/cortex-m3"],
        Target::Thumbv7em => &["arduino/Unstuck/src/cortex-m4", "arduino/Unstuck/src/cortex-m7"],
        Target::Thumbv7emHf => &["arduino/Unstuck/src/cortex-m4/fpv4-sp-d16-hard"],
        Target::Riscv32imc => &["arduino/Unstuck/src/esp32c3", "esp-idf/unstuck/lib/riscv32imc"],
        Target::Wasm32 => &[],
    }
}

/// Adds the library for `target`, the header and the static files to the packages at `to`.
pub(super) fn add(to: &Path, target: Target, machine: Machine) -> Done {
    let library = small(target, machine)?;
    copy(&of_package("packages/esp-idf"), &to.join("esp-idf/unstuck"))?;
    copy(&of_package("packages/arduino"), &to.join("arduino/Unstuck"))?;
    for folder in ["esp-idf/unstuck/include", "arduino/Unstuck/src", "include"] {
        copy(&of_package("include/unstuck.h"), &to.join(folder).join("unstuck.h"))?;
    }
    for place in places(target) {
        copy(&library, &to.join(place).join("libunstuck.a"))?;
    }
    copy(&library, &to.join("lib").join(target.name()).join("libunstuck.a"))?;
    Ok(())
}

/// Checks the packages: those for this machine with the library installed at `prefix`, and the others
/// for some processors. The check needs no SDK, so Espressif's and Arduino's own build tools are not run.
pub(super) fn check(prefix: &Path, machine: Machine) -> Done {
    by_pkg_config(prefix)?;
    by_cmake(prefix)?;
    let to = folder("packages");
    BRIEFLY.into_iter().try_for_each(|target| add(&to, target, machine))?;
    component(&to.join("esp-idf/unstuck"))?;
    sketch(&to.join("arduino/Unstuck"))
}

/// Builds a program that finds the library by `pkg-config`.
fn by_pkg_config(prefix: &Path) -> Done {
    let mut ask = program("pkg-config");
    ask.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    ask.args(["--cflags", "--libs", "unstuck"]);
    let (asked, flags) = Outcome::captured(ask);
    asked.done()?;
    let path = format!("-Wl,-rpath,{}", prefix.join("lib").display());
    let flags: Vec<_> = flags.split_whitespace().chain([path.as_str()]).collect();
    run_example(EXAMPLES[0], "by-pkg-config", &flags)
}

/// Builds the `CMake` example in a copy outside the source tree.
fn by_cmake(prefix: &Path) -> Done {
    let (copied, build) = (folder("cmake-example"), folder("by-cmake"));
    let sources = EXAMPLES.map(|(_, _, source)| of_package(source));
    for file in [&sources[..], &[of_package("examples/CMakeLists.txt")]].concat() {
        copy(&file, &copied.join(file.file_name().unwrap_or_default()))?;
    }
    let mut configure = program("cmake");
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
    run(configure.arg("-S").arg(&copied).arg("-B").arg(&build))?;
    run(program("cmake").arg("--build").arg(&build))?;
    sources.iter().try_for_each(|source| {
        let name = source.file_stem().unwrap_or_default();
        prints(&build.join(name), &source.with_extension("out"))
    })
}

/// Configures the component with stubs for ESP-IDF's functions. The stubs check that every file is
/// there, and that a chip without a library is refused. Also compiles the component's example.
fn component(component: &Path) -> Done {
    let configure = |chip: &str| {
        let mut cmake = program("cmake");
        cmake.arg(format!("-DIDF_TARGET={chip}"));
        cmake.arg(format!("-DCOMPONENT={}", component.display()));
        run(cmake.arg("-P").arg(of_package("tests/c/esp-idf.cmake")))
    };
    holds(&component.join("idf_component.yml"), &[&format!("version: \"{VERSION}\"\n")])?;
    ["esp32c2", "esp32c3", "esp32c6", "esp32h2"].into_iter().try_for_each(configure)?;
    if configure("esp32s3").is_ok() {
        return failed("the component takes a chip that it has no library for");
    }
    let mut compile = program("gcc");
    compile.args(["-std=c11", "-fsyntax-only"]).args(STRICT);
    compile.arg("-I").arg(component.join("include"));
    run(compile.arg(component.join("examples/robot/main/main.c")))
}

/// Compiles the sketch with a stub for Arduino's own header.
fn sketch(library: &Path) -> Done {
    let mut compile = program("g++");
    compile.args(["-std=c++17", "-fsyntax-only"]).args(STRICT);
    compile.arg("-I").arg(library.join("src")).arg("-include").arg(of_package("tests/c/arduino.h"));
    run(compile.args(["-x", "c++"]).arg(library.join("examples/Robot/Robot.ino")))?;
    let version = format!("version={VERSION}\n");
    let lines = ["name=Unstuck\n", &version, "precompiled=true\n", "ldflags=-lunstuck\n"];
    holds(&library.join("library.properties"), &lines)
}

/// Checks that `file` contains each of `lines`, because other files must agree with some of them.
fn holds(file: &Path, lines: &[&str]) -> Done {
    let text = fs::read_to_string(file)?;
    match lines.iter().find(|line| !text.contains(**line)) {
        Some(line) => failed(format!("{} lacks: {line}", file.display())),
        None => Ok(()),
    }
}
