//! Firmware in C without a C library: linked with the library, run under QEMU, and measured.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::machine::{Machine, program};
use crate::microcontroller::{Board, EMULATED, emulator, ready};
use crate::step::{Done, Outcome, failed, run};
use crate::symbols::Program;

use super::programs::{STRICT, functions, link, table};
use super::{folder, of_package, small};

/// The compiler and its Debian package.
pub(super) const COMPILER: (&str, &str) = ("arm-none-eabi-gcc", "gcc-arm-none-eabi");

/// Compiler flags: optimised for size, and without unused functions. Objects from `rustc` do not declare
/// that the stack is not executable. Firmware ignores this.
const FLAGS: &str = "-mcpu=cortex-m3 -mthumb -Os -ffreestanding -ffunction-sections -fdata-sections \
    -nostdlib -Wl,-z,noexecstack";

/// The programs without an operating system: name, sources, expected output, and board.
const PROGRAMS: [(&str, &[&str], &str, Board); 2] = [
    (
        "table",
        &["tests/c/firmware/table.c", "tests/c/play.c"],
        "events have the verdicts of Rust\n",
        Board::Large,
    ),
    (
        "robot",
        &["tests/c/firmware/robot.c"],
        "proceed\nproceed\nnudge\nnudge\nblock\nblock\nblock\nstop\n",
        Board::Small,
    ),
];

/// The functions of a firmware that makes its own digests.
const LEAST: &str =
    "unstuck_init unstuck_window_20 unstuck_balanced unstuck_announce unstuck_outcome";

/// Checks that the engine gives the same verdicts on the microcontroller as on this machine.
pub(super) fn check(machine: Machine) -> Done {
    let library = small(EMULATED, machine)?;
    let table = table(&["--small"])?;
    fs::create_dir_all(folder("firmware"))?;
    let firmware = of_package("tests/c/firmware");
    for (name, sources, says, board) in PROGRAMS {
        let file = folder("firmware").join(name);
        let mut build = compiler();
        build.args(["-std=c11", "-Wl,--gc-sections"]).args(STRICT);
        if board == Board::Large {
            build.arg("-Wl,--defsym=flash_size=4M");
        }
        for include in [&of_package("include"), &of_package("tests/c"), &firmware, &table] {
            build.arg("-I").arg(include);
        }
        build.arg("-T").arg(firmware.join("link.ld")).arg(firmware.join("start.c"));
        build.args(sources.iter().map(of_package)).arg(&library);
        run(build.args(["-lgcc", "-o"]).arg(&file))?;
        println!("{name}: {} bytes of code and constants", Program::read(&file)?.size);
        let (outcome, said) = Outcome::captured(emulator(board, &file));
        outcome.done()?;
        if !said.contains(says) {
            return failed(format!("the firmware `{name}` does not say:\n{says}"));
        }
    }
    Ok(())
}

/// Returns the compiler with the flags for the emulated processor.
fn compiler() -> Command {
    let mut compiler = program(COMPILER.0);
    compiler.args(FLAGS.split(' '));
    compiler
}

/// Prints the size of the smallest firmware, and how many bytes of flash each other function adds.
pub(super) fn print_sizes(machine: Machine) -> Done {
    ready(&[COMPILER], &[EMULATED], machine)?;
    let library = small(EMULATED, machine)?;
    fs::create_dir_all(folder("sizes"))?;
    let least: Vec<String> = LEAST.split(' ').map(String::from).collect();
    let base = flash(&least, &library)?;
    println!("{base:>7}  the least: {}", LEAST.replace(' ', ", "));
    for name in functions()?.into_iter().filter(|name| !least.contains(name)) {
        let with = [least.as_slice(), std::slice::from_ref(&name)].concat();
        println!("{:>+7}  {name}", flash(&with, &library)?.cast_signed() - base.cast_signed());
    }
    println!("{:>7}  everything", flash(&functions()?, &library)?);
    Ok(())
}

/// Returns the size of a firmware with the functions in `named`, in bytes of flash.
fn flash(named: &[String], library: &Path) -> Done<u64> {
    let (file, mut compiler) = (folder("sizes").join("functions"), compiler());
    let linked =
        link(&mut compiler, named, library, &file).args(["-Wl,-e,main", "-lgcc"]).status()?;
    if !linked.success() {
        return failed(format!("{named:?} were not linked: {linked}"));
    }
    Ok(Program::read(&file)?.size)
}
