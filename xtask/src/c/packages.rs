//! Packages of the library for `pkg-config`, `CMake`, ESP-IDF and Arduino.

use std::fs;
use std::io;
use std::path::Path;

use crate::machine::{Machine, program};
use crate::step::Outcome;
use crate::target::Target;

use super::library::{Library, copy};
use super::programs::{EXAMPLES, STRICT, each, prints};
use super::{filed, folder, of_package};

/// Returns the path of a library in the ESP-IDF component, if a chip of Espressif can run it.
fn of_esp(target: Target) -> Option<&'static str> {
    (target == Target::Riscv32imc).then_some("lib/riscv32imc/libunstuck.a")
}

/// Returns the paths of a library in the Arduino package: a folder for each `build.mcu`, with a
/// subfolder for each floating-point ABI.
fn of_arduino(target: Target) -> &'static [&'static str] {
    match target {
        Target::Thumbv6m => &["src/cortex-m0/libunstuck.a", "src/cortex-m0plus/libunstuck.a"],
        Target::Thumbv7m => &["src/cortex-m3/libunstuck.a"],
        Target::Thumbv7em => &["src/cortex-m4/libunstuck.a", "src/cortex-m7/libunstuck.a"],
        Target::Thumbv7emHf => &["src/cortex-m4/fpv4-sp-d16-hard/libunstuck.a"],
        Target::Riscv32imc => &["src/esp32c3/libunstuck.a"],
        Target::Wasm32 => &[],
    }
}

/// Builds a program that finds the library by `pkg-config`, and a project that finds it by `CMake`.
pub(super) fn hosted(prefix: &Path) -> Outcome {
    by_pkg_config(prefix).and_then(|| by_cmake(prefix))
}

fn by_pkg_config(prefix: &Path) -> Outcome {
    let (compiler, language, source) = EXAMPLES[0];
    let mut ask = program("pkg-config");
    ask.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    ask.args(["--cflags", "--libs", "unstuck"]);
    let (asked, flags) = Outcome::captured(ask);
    asked.and_then(|| {
        let file = folder("programs").join("by-pkg-config");
        let mut build = program(compiler);
        build.arg(language).args(STRICT).arg(of_package(source)).args(flags.split_whitespace());
        let path = format!("-Wl,-rpath,{}", prefix.join("lib").display());
        Outcome::of(build.arg(path).arg("-o").arg(&file))
            .and_then(|| prints(&file, &of_package(source).with_extension("out")))
    })
}

/// Builds the `CMake` example in a copy outside the source tree.
fn by_cmake(prefix: &Path) -> Outcome {
    let (copied, build) = (folder("cmake-example"), folder("by-cmake"));
    let sources = EXAMPLES.map(|(_, _, source)| source);
    let files = sources.into_iter().chain(["examples/CMakeLists.txt"]);
    let copied_files = files
        .map(of_package)
        .try_for_each(|file| copy(&file, &copied.join(file.file_name().unwrap_or_default())));
    let mut configure = program("cmake");
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
    configure.arg("-S").arg(&copied).arg("-B").arg(&build);
    filed(|| copied_files)
        .and_then(|| Outcome::of(&mut configure))
        .and_then(|| Outcome::of(program("cmake").arg("--build").arg(&build)))
        .and_then(|| {
            each(EXAMPLES, |(_, _, source)| {
                let source = of_package(source);
                let name = source.file_stem().unwrap_or_default();
                prints(&build.join(name), &source.with_extension("out"))
            })
        })
}

/// Writes an ESP-IDF component and an Arduino library for every processor to `to`.
pub(super) fn all(to: &Path, machine: Machine) -> Outcome {
    each(Target::ALL, |target| packed(to, target, machine))
}

/// Checks both packages for some processors. The check needs no SDK, so Espressif's and Arduino's own
/// build tools are not run.
pub(super) fn check(machine: Machine) -> Outcome {
    let to = folder("packages");
    each([Target::Riscv32imc, Target::Thumbv7m], |target| packed(&to, target, machine))
        .and_then(|| component(&to))
        .and_then(|| sketch(&to))
}

/// Adds the library for `target`, the header and the static files to both packages.
fn packed(to: &Path, target: Target, machine: Machine) -> Outcome {
    Library::small(target, machine)
        .and_then(|library| {
            let (esp, arduino) = (to.join("esp-idf/unstuck"), to.join("arduino/Unstuck"));
            copy_all(&of_package("packages/esp-idf"), &esp)?;
            copy_all(&of_package("packages/arduino"), &arduino)?;
            copy(&of_package("include/unstuck.h"), &esp.join("include/unstuck.h"))?;
            copy(&of_package("include/unstuck.h"), &arduino.join("src/unstuck.h"))?;
            if let Some(place) = of_esp(target) {
                copy(&library.archive(), &esp.join(place))?;
            }
            for place in of_arduino(target) {
                copy(&library.archive(), &arduino.join(place))?;
            }
            copy(&of_package("include/unstuck.h"), &to.join("include/unstuck.h"))?;
            copy(&library.archive(), &to.join("lib").join(target.name()).join("libunstuck.a"))
        })
        .into()
}

/// Copies the folder `from` and its contents to `to`.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_all(&entry.path(), &target)?;
        } else {
            copy(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Configures the component with stubs for ESP-IDF's functions. The stubs check that every file is
/// there, and that a chip without a library is refused. Also compiles the component's example.
fn component(to: &Path) -> Outcome {
    let component = to.join("esp-idf/unstuck");
    let configure = |chip: &str| {
        let mut cmake = program("cmake");
        cmake.arg(format!("-DIDF_TARGET={chip}"));
        cmake.arg(format!("-DCOMPONENT={}", component.display()));
        cmake.arg("-P").arg(of_package("tests/c/esp-idf.cmake"));
        cmake
    };
    let known = ["esp32c2", "esp32c3", "esp32c6", "esp32h2"];
    let version = format!("version: \"{}\"\n", env!("CARGO_PKG_VERSION"));
    filed(|| holds(&component.join("idf_component.yml"), &[&version]))
        .and_then(|| each(known, |chip| Outcome::of(&mut configure(chip))))
        .and_then(|| match Outcome::of(&mut configure("esp32s3")) {
            Outcome::Failed(_) => Outcome::Passed,
            _ => Outcome::Failed("the component takes a chip that it has no library for".into()),
        })
        .and_then(|| {
            let mut compile = program("gcc");
            compile.args(["-std=c11", "-fsyntax-only"]).args(STRICT);
            compile.arg("-I").arg(component.join("include"));
            Outcome::of(compile.arg(component.join("examples/robot/main/main.c")))
        })
}

/// Compiles the sketch with a stub for Arduino's own header.
fn sketch(to: &Path) -> Outcome {
    let library = to.join("arduino/Unstuck");
    let mut compile = program("g++");
    compile.args(["-std=c++17", "-fsyntax-only"]).args(STRICT);
    compile.arg("-I").arg(library.join("src")).arg("-include").arg(of_package("tests/c/arduino.h"));
    compile.args(["-x", "c++"]).arg(library.join("examples/Robot/Robot.ino"));
    let version = format!("version={}\n", env!("CARGO_PKG_VERSION"));
    let lines = ["name=Unstuck\n", &version, "precompiled=true\n", "ldflags=-lunstuck\n"];
    Outcome::of(&mut compile)
        .and_then(|| filed(|| holds(&library.join("library.properties"), &lines)))
}

/// Checks that `file` contains each of `lines`, because other files must agree with some of them.
fn holds(file: &Path, lines: &[&str]) -> io::Result<()> {
    let text = fs::read_to_string(file)?;
    match lines.iter().find(|line| !text.contains(**line)) {
        Some(line) => Err(io::Error::other(format!("{} lacks: {line}", file.display()))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_is_packed_for_something() {
        for target in Target::ALL {
            assert!(!of_arduino(target).is_empty(), "{target:?}");
        }
        assert!(Target::ALL.into_iter().any(|target| of_esp(target).is_some()));
    }
}
