//! Firmware in C without a C library: linked with the library, run under QEMU, and measured.

use std::fs;
use std::slice;

use crate::machine::{self, is_ci};
use crate::microcontroller::{LARGE, SMALL, emulator};
use crate::step::{Done, failed, quietly, script, shell};
use crate::symbols::Program;
use crate::toolchain::EMULATED;

use super::programs::{STRICT, functions, link, table};
use super::small;

/// The compiler, optimising for size. Objects from `rustc` do not declare that the stack is not executable. Firmware
/// ignores this.
const COMPILER: &str = "arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -Os -ffreestanding -ffunction-sections \
    -fdata-sections -nostdlib -Wl,-z,noexecstack";

/// Builds a program without an operating system. The folder of the table comes last.
const BUILD: &str = "-std=c11 -Wl,--gc-sections -I adapters/c/include -I adapters/c/tests/c \
    -I adapters/c/tests/c/firmware -T adapters/c/tests/c/firmware/link.ld adapters/c/tests/c/firmware/start.c -I";

/// The programs without an operating system: name, sources and flags, expected output, and board.
const PROGRAMS: [(&str, &str, &str, &str); 2] = [
    (
        "table",
        "adapters/c/tests/c/firmware/table.c adapters/c/tests/c/play.c -Wl,--defsym=flash_size=4M",
        "events have the verdicts of Rust\n",
        LARGE,
    ),
    (
        "robot",
        "adapters/c/tests/c/firmware/robot.c",
        "proceed\nproceed\nnudge\nnudge\nblock\nblock\nblock\nstop\n",
        SMALL,
    ),
];

/// The functions of a firmware that makes its own digests.
const LEAST: &str =
    "unstuck_init unstuck_window_20 unstuck_balanced unstuck_announce unstuck_outcome";

/// Checks that the engine gives the same verdicts on the microcontroller as on this machine.
pub(super) fn check() -> Done {
    let library = small(EMULATED)?;
    let table = table()?;
    for (name, sources, says, board) in PROGRAMS {
        let (file, emulator) = (format!("target/c/firmware/{name}"), emulator(board));
        let lines = format!(
            "mkdir -p target/c/firmware
            {COMPILER} {STRICT} {BUILD} {table} {sources} {library} -lgcc -o {file}
            {emulator} {file} > {file}.out 2>&1; code=$?; cat {file}.out; exit $code"
        );
        script(&lines, &[])?;
        println!("{name}: {} bytes of code and constants", Program::read(&file)?.size);
        if !fs::read_to_string(machine::root().join(file).with_extension("out"))?.contains(says) {
            return failed(format!("the firmware `{name}` does not say:\n{says}"));
        }
    }
    Ok(())
}

/// Prints the size of the smallest firmware, and how many bytes of flash each other function adds.
pub(super) fn print_sizes() -> Done {
    machine::tools(&format!("arm-none-eabi-gcc {EMULATED}"), is_ci())?;
    let library = small(EMULATED)?;
    let least: Vec<String> = LEAST.split(' ').map(String::from).collect();
    let base = flash(&least, &library)?;
    println!("{base:>7}  the least: {}", LEAST.replace(' ', ", "));
    for name in functions()?.into_iter().filter(|name| !least.contains(name)) {
        let with = [least.as_slice(), slice::from_ref(&name)].concat();
        println!("{:>+7}  {name}", flash(&with, &library)?.cast_signed() - base.cast_signed());
    }
    println!("{:>7}  everything", flash(&functions()?, &library)?);
    Ok(())
}

/// Returns the size of a firmware with the functions in `named`, in bytes of flash.
fn flash(named: &[String], library: &str) -> Done<u64> {
    let file = "target/c/size";
    let link = link(COMPILER, named, library, file);
    quietly(&mut shell(&format!("mkdir -p target/c && {link} -Wl,-e,main -lgcc")))?;
    Ok(Program::read(file)?.size)
}
