//! C and C++ programs that are linked with the library, run, and inspected.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::program;
use crate::step::{Done, Outcome, failed, run};
use crate::steps;
use crate::symbols::{Flaw, Program};

use super::{folder, of_package};

/// The warnings that every program is compiled with.
pub(super) const STRICT: [&str; 5] = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-g"];

/// The examples: compiler, language standard, and source. The expected output is in the `.out` file
/// beside the source.
pub(super) const EXAMPLES: [(&str, &str, &str); 2] =
    [("gcc", "-std=c11", "examples/robot.c"), ("g++", "-std=c++17", "examples/arm.cpp")];

/// The test programs: one compares verdicts, and one misuses the library.
const TESTS: [(&str, &[&str]); 2] =
    [("table", &["tests/c/table.c", "tests/c/play.c"]), ("abuse", &["tests/c/abuse.c"])];

/// Builds and runs all programs with the library installed at `prefix`.
pub(super) fn check(prefix: &Path) -> Done {
    fs::create_dir_all(folder("programs"))?;
    let lib = prefix.join("lib").display().to_string();
    for example in EXAMPLES {
        let include = format!("-I{}", prefix.join("include").display());
        run_example(example, "linked", &[&include, &format!("{lib}/libunstuck.a")])?;
        let path = format!("-Wl,-rpath,{lib}");
        run_example(example, "loaded", &[&include, &format!("-L{lib}"), "-lunstuck", &path])?;
    }
    let table = table(&[])?;
    TESTS.into_iter().try_for_each(|test| run_test(test, &table, prefix))?;
    without_panics(prefix)
}

/// Writes the table of events and verdicts, or a smaller one for a microcontroller, and returns its folder.
pub(super) fn table(words: &[&str]) -> Done<PathBuf> {
    let folder = folder(if words.is_empty() { "table" } else { "table-small" });
    let write = steps::built(&["--example", "table"])?;
    fs::create_dir_all(&folder)?;
    run(program(write).arg(folder.join("table.h")).args(words))?;
    Ok(folder)
}

/// Compiles an example with `flags`, and checks its output.
pub(super) fn run_example(
    (compiler, language, source): (&str, &str, &str),
    name: &str,
    flags: &[&str],
) -> Done {
    let (source, file) = (of_package(source), folder("programs").join(name));
    let mut command = program(compiler);
    command.arg(language).args(STRICT).arg(&source).args(flags);
    run(command.arg("-o").arg(&file))?;
    prints(&file, &source.with_extension("out"))
}

/// Checks that `file` prints the contents of `expected`.
pub(super) fn prints(file: &Path, expected: &Path) -> Done {
    let (outcome, printed) = Outcome::captured_showing(program(file), |_| false);
    outcome.done()?;
    if fs::read_to_string(expected)? == printed {
        return Ok(());
    }
    let (file, expected) = (file.display(), expected.display());
    failed(format!("{file} does not print what {expected} holds, but:\n{printed}"))
}

/// Runs a test without tools, under sanitizers, and under valgrind.
fn run_test((name, sources): (&str, &[&str]), table: &Path, prefix: &Path) -> Done {
    let build = |name: &str, flags: &[&str]| {
        let file = folder("programs").join(name);
        let mut command = program("gcc");
        command.arg("-std=c11").args(STRICT).args(flags);
        command.arg("-I").arg(prefix.join("include")).arg("-I").arg(table);
        command.args(sources.iter().map(of_package)).arg(prefix.join("lib/libunstuck.a"));
        run(command.arg("-o").arg(&file)).map(|()| file)
    };
    let sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    run(&mut program(build(&format!("{name}-sanitized"), &sanitizers)?))?;
    let mut valgrind = program("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=1", "--leak-check=full"]);
    run(valgrind.arg(build(name, &[])?))
}

/// Returns the functions that the header declares: each name before a parenthesis, on a line that begins
/// with a type.
pub(super) fn functions() -> io::Result<Vec<String>> {
    let header = fs::read_to_string(of_package("include/unstuck.h"))?;
    let lines = header.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    let names = lines.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    Ok(names.filter(|name| name.starts_with("unstuck_")).map(String::from).collect())
}

/// Links the functions in `named`, and everything they need, into `file`.
pub(super) fn link<'c>(
    compiler: &'c mut Command,
    named: &[String],
    library: &Path,
    file: &Path,
) -> &'c mut Command {
    compiler.args(["-std=c11", "-Wl,--gc-sections"]).arg(of_package("tests/c/empty.c"));
    compiler.args(named.iter().map(|name| format!("-Wl,-u,{name}")));
    compiler.arg(library).arg("-o").arg(file)
}

/// Checks that a program with every function of the library contains no panic and no allocator.
fn without_panics(prefix: &Path) -> Done {
    let (named, file) = (functions()?, folder("programs").join("functions"));
    println!("{} functions", named.len());
    run(link(&mut program("gcc"), &named, &prefix.join("lib/libunstuck.a"), &file))?;
    let program = Program::read(&file)?;
    match program.flaws().into_iter().find(|(flaw, _)| *flaw != Flaw::Foreign) {
        None => Ok(()),
        Some((flaw, name)) => failed(format!("the library for C: `{name}` {flaw}")),
    }
}
