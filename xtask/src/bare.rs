//! Links the engine into programs without `std`, and checks that they contain no panic and no
//! allocator.

use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::machine::{self, cargo, program};
use crate::microcontroller::{EMULATED, LINKED};
use crate::step::Outcome;
use crate::steps;
use crate::symbols::{Flaw, Program};

/// The crate of the programs.
const MANIFEST: &str = "benches/bare/Cargo.toml";

/// The crate that defines the measured events.
pub(crate) const EVENTS: &str = "benches/bare/events/Cargo.toml";

/// The target folder of the programs.
const FOLDER: &str = "target/bare";

/// A program that calls every function of the engine. It must contain no panic and no allocator.
pub(crate) const ENTRIES: &str = "entries";

/// A program that calls only the functions that a small host needs. The same rule applies.
pub(crate) const HOST: &str = "host";

/// A program with a planted panic and a planted allocation.
const PLANTED: &str = "planted";

/// The optimisation profile of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Optimised for speed. The check reads these programs: with less optimisation the compiler leaves
    /// unreachable panics in the code, some of them in `core` itself.
    Fast,
    /// Optimised for size.
    Small,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Fast => "release",
            Self::Small => "small",
        }
    }

    /// Returns the command that builds the programs.
    pub(crate) fn build(self) -> Command {
        let mut command = cargo();
        command.args(["build", "--locked", "--manifest-path", MANIFEST, "--bins"]);
        command.args(["--target-dir", FOLDER, "--profile", self.name()]);
        command
    }

    /// Reads the program `name`, which must be built already.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub(crate) fn program(self, name: &str) -> io::Result<Program> {
        Program::read(&self.path(name))
    }

    fn path(self, name: &str) -> PathBuf {
        machine::root().join(FOLDER).join(self.name()).join(name)
    }
}

/// Returns the reason why programs cannot be read on this platform, if there is one.
pub(crate) fn unreadable() -> Option<&'static str> {
    let readable = cfg!(all(target_os = "linux", target_env = "gnu"));
    (!readable).then_some("programs are read on Linux with the GNU C library, and nowhere else")
}

/// Checks that no program that calls the engine contains a panic or an allocator, and that the check
/// finds planted ones.
pub(crate) fn check() -> Outcome {
    if let Some(why) = unreadable() {
        return Outcome::LeftOut(why.into());
    }
    steps::apart(MANIFEST)
        .and_then(|| steps::apart(EVENTS))
        .and_then(|| steps::apart(LINKED))
        .and_then(|| steps::apart(EMULATED))
        .and_then(|| Outcome::of(&mut Profile::Fast.build()))
        .and_then(|| clean(ENTRIES))
        .and_then(|| clean(HOST))
        .and_then(planted)
}

/// Checks that the program `name` contains no forbidden symbol, and runs it.
fn clean(name: &str) -> Outcome {
    let read = match Profile::Fast.program(name) {
        Ok(read) => read,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    let flaws = read.flaws();
    for (flaw, symbol) in &flaws {
        println!("{name}: `{symbol}` {flaw}");
    }
    if flaws.is_empty() {
        return Outcome::of(&mut program(Profile::Fast.path(name)));
    }
    Outcome::Failed(format!("{name} holds {} symbols that it must not", flaws.len()))
}

/// Checks that the planted panic and allocation are found. Otherwise a clean program would prove
/// nothing.
fn planted() -> Outcome {
    let read = match Profile::Fast.program(PLANTED) {
        Ok(read) => read,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    let found = |wanted| read.flaws().iter().any(|(flaw, _)| *flaw == wanted);
    if found(Flaw::Panic) && found(Flaw::Allocator) {
        println!("{PLANTED}: its panic and its allocation are found, as they should be");
        return Outcome::Passed;
    }
    Outcome::Failed(format!("what was planted in {PLANTED} is not found: the check is broken"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Returns the lines of every source in `path` and its subfolders, without comments.
    fn code_of(path: &Path) -> String {
        if path.is_dir() {
            let entries = fs::read_dir(path).expect("a folder of sources");
            return entries.map(|entry| code_of(&entry.expect("a source").path())).collect();
        }
        let text = fs::read_to_string(path).expect("a source");
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        text.split_inclusive('\n').filter(is_code).collect()
    }

    #[test]
    fn every_public_function_of_the_engine_is_called() {
        let engine = code_of(&machine::root().join("core/src"));
        let calls = code_of(&machine::root().join("benches/bare/src"));
        let declared = engine.lines().filter_map(|line| {
            let line = line.trim_start().strip_prefix("pub ")?;
            let name = line.strip_prefix("const ").unwrap_or(line).strip_prefix("fn ")?;
            name.split(['(', '<']).next()
        });
        let declared: Vec<_> = declared.collect();
        assert!(declared.contains(&"announce"), "{declared:?}");
        let words = calls.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words: BTreeSet<_> = words.collect();
        for name in declared {
            assert!(words.contains(name), "nothing in benches/bare calls `{name}`");
        }
    }
}
