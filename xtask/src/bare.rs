//! The programs without `std` that the engine is linked into: what must not be in them.

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

/// The crate of the events that are counted, beside them.
pub(crate) const EVENTS: &str = "benches/bare/events/Cargo.toml";

/// Where they are built, whatever else is.
const FOLDER: &str = "target/bare";

/// The program that calls every entry of the engine, and must hold no panic and no allocator.
pub(crate) const ENTRIES: &str = "entries";

/// The program that calls what a small host does, and must hold none, either.
pub(crate) const HOST: &str = "host";

/// The program that holds both.
const PLANTED: &str = "planted";

/// How the programs are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// As fast as can be. The check reads these: with less effort the compiler leaves panics in
    /// that can never be, some of them in `core` itself.
    Fast,
    /// As small as can be.
    Small,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Fast => "release",
            Self::Small => "small",
        }
    }

    /// The command that builds the programs.
    pub(crate) fn build(self) -> Command {
        let mut command = cargo();
        command.args(["build", "--locked", "--manifest-path", MANIFEST, "--bins"]);
        command.args(["--target-dir", FOLDER, "--profile", self.name()]);
        command
    }

    /// The program `name`, once it is built.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(crate) fn program(self, name: &str) -> io::Result<Program> {
        Program::read(&self.path(name))
    }

    fn path(self, name: &str) -> PathBuf {
        machine::root().join(FOLDER).join(self.name()).join(name)
    }
}

/// Why the programs cannot be read here, where they cannot.
pub(crate) fn unreadable() -> Option<&'static str> {
    let readable = cfg!(all(target_os = "linux", target_env = "gnu"));
    (!readable).then_some("programs are read on Linux with the GNU C library, and nowhere else")
}

/// No program that calls the engine holds a panic or an allocator, and one that was planted there
/// is found.
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

/// Whether the program `name` holds nothing that it must not, and runs to its end.
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

/// Whether what was planted is found, so that a clean program means something.
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
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::source::{code_only, has_word, without_tests};

    /// The code of every source at `path` and beneath, without tests.
    fn code_at(path: &Path) -> String {
        if path.is_dir() {
            let entries = fs::read_dir(path).expect("a folder of sources");
            return entries.map(|entry| code_at(&entry.expect("a source").path())).collect();
        }
        without_tests(&code_only(&fs::read_to_string(path).expect("a source")))
    }

    #[test]
    fn every_public_function_of_the_engine_is_called() {
        let engine = code_at(&machine::root().join("core/src"));
        let calls = code_at(&machine::root().join("benches/bare/src"));
        let declared = engine.lines().filter_map(|line| {
            let line = line.trim_start().strip_prefix("pub ")?;
            let name = line.strip_prefix("const ").unwrap_or(line).strip_prefix("fn ")?;
            name.split(['(', '<']).next()
        });
        let declared: Vec<_> = declared.collect();
        assert!(declared.contains(&"announce"), "{declared:?}");
        for name in declared {
            assert!(has_word(&calls, name), "nothing in benches/bare calls `{name}`");
        }
    }
}
