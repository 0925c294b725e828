//! C and C++ programs that are linked with the library, run, and inspected.

use std::fs;

use crate::machine;
use crate::step::{Done, failed, script};
use crate::steps;
use crate::symbols::{Flaw, Program};

use super::SCRIPTS;

/// The warnings that every program is compiled with.
pub(super) const STRICT: &str = "-Wall -Wextra -Werror -pedantic -g";

/// The flags of a program that is linked with the library, and of one that loads it.
const LINKED: &str = "-I target/c/prefix/include target/c/prefix/lib/libunstuck.a";
const LOADED: &str = "-I target/c/prefix/include -L target/c/prefix/lib -lunstuck \
    -Wl,-rpath,\"$ROOT/target/c/prefix/lib\"";

/// The sources of the test programs: one compares verdicts, and one misuses the library.
const TESTS: [&str; 2] =
    ["adapters/c/tests/c/table.c adapters/c/tests/c/play.c", "adapters/c/tests/c/abuse.c"];

/// Builds and runs all programs with the installed library.
pub(super) fn check() -> Done {
    script("mkdir -p target/c/programs", &[])?;
    examples(LINKED)?;
    examples(LOADED)?;
    let table = table()?;
    let compile = format!("gcc -std=c11 {STRICT} -I {table}");
    for sources in TESTS {
        let sources = format!("{sources} {LINKED}");
        script(
            &SCRIPTS.part("test")?.replace("{compile}", &compile).replace("{sources}", &sources),
            &[],
        )?;
    }
    without_panics()
}

/// Writes the table of events and verdicts, and returns its folder.
pub(super) fn table() -> Done<String> {
    let folder = "target/c/table".to_owned();
    let write = steps::built("table")?;
    let line = format!("mkdir -p {folder} && \"$WRITE\" {folder}/table.h");
    script(&line, &[("WRITE", write.into())])?;
    Ok(folder)
}

/// Compiles the examples with the library that these flags name, and checks their outputs.
pub(super) fn examples(library: &str) -> Done {
    [("gcc -std=c11", "robot", "robot.c"), ("g++ -std=c++17", "arm", "arm.cpp")]
        .into_iter()
        .try_for_each(|(compiler, name, source)| {
            let line = SCRIPTS
                .part("example")?
                .replace("{compiler}", compiler)
                .replace("{strict}", STRICT);
            let line = line.replace("{name}", name).replace("{source}", source);
            script(&line.replace("{library}", library), &[])
        })
}

/// Returns the functions that the header declares: each name before a parenthesis, on a line that begins
/// with a type.
pub(super) fn functions() -> Done<Vec<String>> {
    let header = fs::read_to_string(machine::root().join("adapters/c/include/unstuck.h"))?;
    let lines = header.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    let names = lines.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    Ok(names.filter(|name| name.starts_with("unstuck_")).map(String::from).collect())
}

/// Returns the command that links the functions in `named`, and everything they need, into `file`.
pub(super) fn link(compiler: &str, named: &[String], library: &str, file: &str) -> String {
    let named = named.join(" -Wl,-u,");
    format!(
        "{compiler} -std=c11 -Wl,--gc-sections adapters/c/tests/c/empty.c -Wl,-u,{named} {library} -o {file}"
    )
}

/// Checks that a program with every function of the library contains no panic and no allocator.
fn without_panics() -> Done {
    let (named, file) = (functions()?, "target/c/programs/functions");
    println!("{} functions", named.len());
    script(&link("gcc", &named, "target/c/prefix/lib/libunstuck.a", file), &[])?;
    let program = Program::read(file)?;
    match program.flaws().into_iter().find(|(flaw, _)| *flaw != Flaw::Foreign) {
        None => Ok(()),
        Some((flaw, name)) => failed(format!("the library for C: `{name}` {flaw}")),
    }
}
