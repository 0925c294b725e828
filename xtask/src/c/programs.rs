//! C and C++ programs that are linked with the library, run, and inspected.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::program;
use crate::step::Outcome;
use crate::steps;
use crate::symbols::{Flaw, Program};

use super::{filed, folder, of_package};

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
pub(super) fn check(prefix: &Path) -> Outcome {
    filed(|| fs::create_dir_all(folder("programs")))
        .and_then(|| each(EXAMPLES, |example| run_example(example, prefix)))
        .and_then(|| table(&[]))
        .and_then(|| each(TESTS, |test| run_test(test, prefix)))
        .and_then(|| without_panics(prefix))
}

/// Runs `work` for each of `all`, up to the first failure.
pub(super) fn each<T>(all: impl IntoIterator<Item = T>, work: impl Fn(T) -> Outcome) -> Outcome {
    all.into_iter().fold(Outcome::Passed, |so_far, one| so_far.and_then(|| work(one)))
}

/// Writes the table of events and verdicts into the folder that [`tables`] returns.
pub(super) fn table(words: &[&str]) -> Outcome {
    let folder = tables(words.is_empty());
    match steps::built(&["--example", "table"]) {
        Ok(write) => filed(|| fs::create_dir_all(&folder))
            .and_then(|| Outcome::of(program(write).arg(folder.join("table.h")).args(words))),
        Err(outcome) => outcome,
    }
}

/// Returns the folder of the whole table, or of the smaller one for a microcontroller.
pub(super) fn tables(whole: bool) -> PathBuf {
    folder(if whole { "table" } else { "table-small" })
}

/// Links an example statically and dynamically, and checks the output of both programs.
fn run_example((compiler, language, source): (&str, &str, &str), prefix: &Path) -> Outcome {
    let source = of_package(source);
    let build = |name: &str, library: &[String]| {
        let file = folder("programs").join(name);
        let mut command = program(compiler);
        command.arg(language).args(STRICT).arg("-I").arg(prefix.join("include"));
        command.arg(&source).args(library).arg("-o").arg(&file);
        Outcome::of(&mut command).and_then(|| prints(&file, &source.with_extension("out")))
    };
    let lib = prefix.join("lib").display().to_string();
    let loaded = [format!("-L{lib}"), "-lunstuck".into(), format!("-Wl,-rpath,{lib}")];
    build("linked", &[format!("{lib}/libunstuck.a")]).and_then(|| build("loaded", &loaded))
}

/// Checks that `file` prints the contents of `expected`.
pub(super) fn prints(file: &Path, expected: &Path) -> Outcome {
    let (outcome, printed) = Outcome::captured_showing(program(file), |_| false);
    outcome.and_then(|| match fs::read_to_string(expected) {
        Ok(text) if text == printed => Outcome::Passed,
        Ok(_) => {
            let (file, expected) = (file.display(), expected.display());
            Outcome::Failed(format!("{file} does not print what {expected} holds, but:\n{printed}"))
        }
        Err(error) => Outcome::Failed(format!("{}: {error}", expected.display())),
    })
}

/// Runs a test without tools, under sanitizers, and under valgrind.
fn run_test((name, sources): (&str, &[&str]), prefix: &Path) -> Outcome {
    let build = |name: &str, flags: &[&str]| {
        let file = folder("programs").join(name);
        let mut command = program("gcc");
        command.arg("-std=c11").args(STRICT).args(flags);
        command.arg("-I").arg(prefix.join("include")).arg("-I").arg(tables(true));
        command.args(sources.iter().map(of_package)).arg(prefix.join("lib/libunstuck.a"));
        (Outcome::of(command.arg("-o").arg(&file)), file)
    };
    let sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let (outcome, sanitized) = build(&format!("{name}-sanitized"), &sanitizers);
    outcome.and_then(|| Outcome::of(&mut program(sanitized))).and_then(|| {
        let (outcome, plain) = build(name, &[]);
        let mut valgrind = program("valgrind");
        valgrind.args(["--quiet", "--error-exitcode=1", "--leak-check=full"]).arg(&plain);
        outcome.and_then(|| Outcome::of(&mut valgrind))
    })
}

/// Returns the name of every function in the header.
///
/// # Errors
///
/// If the header cannot be read.
pub(super) fn functions() -> io::Result<Vec<String>> {
    let header = fs::read_to_string(of_package("include/unstuck.h"))?;
    Ok(declared(&header))
}

/// Returns the functions that `header` declares: each name before a parenthesis, on a line that begins
/// with a type.
fn declared(header: &str) -> Vec<String> {
    let lines = header.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    let name = |line: &str| {
        let (before, _) = line.split_once('(')?;
        let name = before.rsplit([' ', '*']).next()?;
        name.starts_with("unstuck_").then(|| name.to_owned())
    };
    lines.filter_map(name).collect()
}

/// Returns the command that links the functions in `named`, and everything they need, into `file`.
pub(super) fn holding(
    mut compiler: Command,
    named: &[String],
    library: &Path,
    file: &Path,
) -> Command {
    let empty = of_package("tests/c/empty.c");
    compiler.args(["-std=c11", "-Wl,--gc-sections"]).arg(empty);
    compiler.args(named.iter().map(|name| format!("-Wl,-u,{name}")));
    compiler.arg(library).arg("-o").arg(file);
    compiler
}

/// Checks that a program with every function of the library contains no panic and no allocator.
fn without_panics(prefix: &Path) -> Outcome {
    let library = prefix.join("lib/libunstuck.a");
    let named = match functions() {
        Ok(named) => named,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    let file = folder("programs").join("functions");
    println!("{} functions", named.len());
    Outcome::of(&mut holding(program("gcc"), &named, &library, &file)).and_then(|| {
        match Program::read(&file) {
            Ok(read) => clean(read.flaws()),
            Err(error) => Outcome::Failed(error.to_string()),
        }
    })
}

/// Fails if one of `flaws` is a panic or an allocator.
fn clean<'p>(flaws: impl IntoIterator<Item = (Flaw, &'p str)>) -> Outcome {
    match flaws.into_iter().find(|(flaw, _)| *flaw != Flaw::Foreign) {
        None => Outcome::Passed,
        Some((flaw, name)) => Outcome::Failed(format!("the library for C: `{name}` {flaw}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_of_the_header_are_found() {
        let header = "uint32_t unstuck_tool(const char *name);\n\
            const struct unstuck_policy_t *unstuck_balanced(void);\n\
            unstuck_status_t unstuck_clear(struct unstuck_t *detector);\n\
            \x20* as unstuck_clear() does\n\
            typedef struct unstuck_t unstuck_t;\n\
            #define UNSTUCK_X(a) (a)\n";
        assert_eq!(declared(header), ["unstuck_tool", "unstuck_balanced", "unstuck_clear"]);
    }

    #[test]
    fn the_header_of_today_declares_functions() {
        let named = functions().expect("the header");
        assert!(named.iter().any(|name| name == "unstuck_announce_json"), "{named:?}");
    }

    #[test]
    fn an_allocator_and_a_panic_are_not_clean() {
        assert_eq!(clean([(Flaw::Foreign, "strlen")]), Outcome::Passed);
        assert_ne!(clean([(Flaw::Foreign, "strlen"), (Flaw::Panic, "abort")]), Outcome::Passed);
        assert_ne!(clean([(Flaw::Allocator, "malloc")]), Outcome::Passed);
    }
}
