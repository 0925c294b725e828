//! Links the engine into programs without `std`, and checks that they contain no panic and no
//! allocator.

use crate::machine::{program, root};
use crate::step::{Done, Failure, command, failed, run};
use crate::steps;
use crate::symbols::{Flaw, Program};

/// The crate of the programs.
const MANIFEST: &str = "benches/bare/Cargo.toml";

/// The target folder of the programs for this machine.
const FOLDER: &str = "target/bare";

/// The profile of the programs that are checked, optimised for speed. With less optimisation the
/// compiler leaves unreachable panics in the code, some of them in `core` itself.
pub(crate) const FAST: &str = "release";

/// Returns the words with which a build makes these programs of the crate.
pub(crate) fn programs(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!(" --bin {name}")).collect();
    format!("--quiet --manifest-path {MANIFEST}{}", names.concat())
}

/// Returns the command that builds the programs `names` for this machine.
pub(crate) fn build(names: &[&str], profile: &str) -> String {
    format!(
        "cargo build --locked --no-default-features --target-dir {FOLDER} --profile {profile} {}",
        programs(names)
    )
}

/// Returns the path of the program `name`, relative to the root of the repository.
pub(crate) fn path(name: &str, profile: &str) -> String {
    format!("{FOLDER}/{profile}/{name}")
}

/// Checks that programs can be read on this platform.
pub(crate) fn readable() -> Done {
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        return Ok(());
    }
    let why = "programs are read on Linux with the GNU C library, and nowhere else";
    Err(Failure::LeftOut(why.into()))
}

/// Lints all programs. Cargo would warn that a file has several.
pub(crate) fn lints() -> Done {
    command(&format!("cargo clippy --quiet --manifest-path {MANIFEST} --locked -- -D warnings"))
}

/// Checks that no program that calls the engine contains a panic or an allocator, and that the check
/// finds planted ones.
pub(crate) fn check() -> Done {
    readable()?;
    command(&format!("cargo fmt --check --manifest-path {MANIFEST}"))?;
    // It calls every function of the engine.
    command(&format!("{} {}", steps::linted(), build(&["entries", "planted"], FAST)))?;
    let read = Program::read(&path("entries", FAST))?;
    let flaws = read.flaws();
    for (flaw, symbol) in &flaws {
        println!("`{symbol}` {flaw}");
    }
    if !flaws.is_empty() {
        return failed(format!("the program holds {} symbols that it must not", flaws.len()));
    }
    run(&mut program(root().join(path("entries", FAST))))?;
    // Otherwise a clean program would prove nothing.
    let read = Program::read(&path("planted", FAST))?;
    let is_found = |wanted| read.flaws().iter().any(|(flaw, _)| *flaw == wanted);
    if !is_found(Flaw::Panic) || !is_found(Flaw::Allocator) {
        return failed("what was planted is not found: the check is broken");
    }
    println!("planted: its panic and its allocation are found, as they should be");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// Returns the code lines of a source, or of every source in a folder and its subfolders.
    fn code_of(path: PathBuf) -> String {
        if path.is_dir() {
            let entries = fs::read_dir(path).expect("a folder of sources");
            return entries.map(|entry| code_of(entry.expect("a source").path())).collect();
        }
        let text = fs::read_to_string(path).expect("a source");
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        text.split_inclusive('\n').filter(is_code).collect()
    }

    #[test]
    fn every_public_function_of_the_engine_is_called() {
        let code = |path| code_of(root().join(path));
        let bare = "benches/bare/src/entries";
        let (engine, calls) =
            (code("core/src".into()), code(format!("{bare}.rs")) + &code(bare.into()));
        let words = calls.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words: BTreeSet<_> = words.collect();
        let declared = engine.lines().filter_map(|line| {
            let line = line.trim_start().strip_prefix("pub ")?;
            let name = line.strip_prefix("const ").unwrap_or(line).strip_prefix("fn ")?;
            name.split(['(', '<']).next()
        });
        let declared: Vec<_> = declared.collect();
        assert!(declared.contains(&"announce"), "{declared:?}");
        for name in declared {
            assert!(words.contains(name), "nothing in benches/bare calls `{name}`");
        }
    }
}
