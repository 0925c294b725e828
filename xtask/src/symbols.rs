//! What the symbols of a linked program tell: whether it can panic, and whether it can allocate.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use object::{File, Object as _, ObjectSection as _, ObjectSymbol as _};

/// What a program without `std` asks of its C library: the copies and comparisons that the
/// compiler puts in by itself, and what the library's own beginning of every program refers to.
const HARMLESS: &[&str] = &[
    "bcmp",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable",
    "__cxa_finalize",
    "__gmon_start__",
    "__libc_start_main",
];

/// What stands in the names of `core`'s functions that panic. They all end in [`ABORT`], so one
/// that is missing here is found there; the names tell what it is.
const PANICS: &[&str] = &[
    "panic",
    "begin_unwind",
    "unwrap_failed",
    "expect_failed",
    "assert_failed",
    "slice_error_fail",
    "index_fail",
    "mismatch_fail",
];

/// What the panic handler of the programs calls, and nothing else.
const ABORT: &str = "abort";

/// What stands in the names of allocators: those of Rust, and those of C.
const ALLOCATORS: &[&str] = &["__rust_alloc", "__rust_realloc", "__rg_", "__rdl_", "alloc"];

/// Something in a program that must not be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flaw {
    /// It can panic.
    Panic,
    /// It can allocate.
    Allocator,
    /// It asks the C library for something else.
    Foreign,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Panic => "panics",
            Self::Allocator => "allocates",
            Self::Foreign => "is none of what the compiler itself calls",
        })
    }
}

/// A linked program, as far as its file tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Program {
    /// What is in it, by the names of symbols.
    defined: BTreeSet<String>,
    /// What it asks its libraries for.
    undefined: BTreeSet<String>,
    /// The bytes of its code, and of its constants.
    code: u64,
    constants: u64,
}

impl Program {
    /// The program in the file at `path`, which must be an ELF file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or holds no names of functions.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let named = |why: String| io::Error::other(format!("{}: {why}", path.display()));
        let bytes = fs::read(path).map_err(|error| named(error.to_string()))?;
        let program = Self::parse(&bytes).map_err(|error| named(error.to_string()))?;
        if program.defined.is_empty() {
            return Err(named("no symbols; was it stripped?".into()));
        }
        Ok(program)
    }

    fn parse(bytes: &[u8]) -> Result<Self, object::Error> {
        let file = File::parse(bytes)?;
        let size = |name| file.section_by_name(name).map_or(0, |section| section.size());
        let (code, constants) = (size(".text"), size(".rodata"));
        let mut program = Self { code, constants, ..Self::default() };
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            // Some linkers add the version of a library's symbol: `abort@GLIBC_2.2.5`.
            let name = symbol.name()?.split('@').next().unwrap_or_default();
            if symbol.is_undefined() && !name.is_empty() {
                program.undefined.insert(name.into());
            } else if symbol.is_definition() {
                program.defined.insert(name.into());
            }
        }
        Ok(program)
    }

    /// How many bytes of code and constants it is.
    pub(crate) const fn size(&self) -> u64 {
        self.code + self.constants
    }

    /// Every symbol that must not be there, and why.
    pub(crate) fn flaws(&self) -> BTreeSet<(Flaw, &str)> {
        let known = self.defined.iter().chain(&self.undefined);
        let known = known.filter_map(|name| Some((flaw_of(name)?, name.as_str())));
        let foreign = self.undefined.iter().map(String::as_str);
        let foreign = foreign.filter(|name| flaw_of(name).is_none() && !HARMLESS.contains(name));
        known.chain(foreign.map(|name| (Flaw::Foreign, name))).collect()
    }
}

/// What it says of a program that it has a symbol of this name.
fn flaw_of(name: &str) -> Option<Flaw> {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(PANICS) || name == ABORT {
        Some(Flaw::Panic)
    } else if has(ALLOCATORS) || name == "free" {
        Some(Flaw::Allocator)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_and_allocators_are_known_by_their_names() {
        for (name, flaw) in [
            ("_ZN4core9panicking9panic_fmt17h9f5c1d2f6c0aE", Some(Flaw::Panic)),
            ("_RNvNtCs5i_4core9panicking18panic_bounds_check", Some(Flaw::Panic)),
            ("_RNvCsj_7___rustc17rust_begin_unwind", Some(Flaw::Panic)),
            ("_RNvNtCs5i_4core6option13unwrap_failed", Some(Flaw::Panic)),
            ("_RNvNtNtCs5i_4core5slice5index16slice_index_fail", Some(Flaw::Panic)),
            ("_RNvNtNtCs5i_4core3str16slice_error_fail", Some(Flaw::Panic)),
            ("abort", Some(Flaw::Panic)),
            ("__rust_alloc", Some(Flaw::Allocator)),
            ("_RNvCsj_7___rustc11___rdl_alloc", Some(Flaw::Allocator)),
            ("malloc", Some(Flaw::Allocator)),
            ("free", Some(Flaw::Allocator)),
            ("_RNvXs_NtCs5i_4core3fmtNtB4_9Formatter3pad", None),
            ("_RNvNtCs3_12unstuck_core8detector8announce", None),
            ("_RNvMs_NtCs3_12unstuck_core6recordNtB4_7Outcome6failed", None),
            ("main", None),
        ] {
            assert_eq!(flaw_of(name), flaw, "{name}");
        }
    }

    #[test]
    fn what_a_program_asks_for_is_harmless_or_named() {
        let names = |names: &[&str]| names.iter().map(|name| String::from(*name)).collect();
        let program = Program {
            defined: names(&["main", "write", "__rust_alloc"]),
            undefined: names(&["memcpy", "write", "abort", "__libc_start_main"]),
            ..Program::default()
        };
        let flaws: Vec<_> = program.flaws().into_iter().collect();
        assert_eq!(
            flaws,
            [(Flaw::Panic, "abort"), (Flaw::Allocator, "__rust_alloc"), (Flaw::Foreign, "write")]
        );
    }

    #[test]
    fn only_programs_are_read() {
        let error = Program::read(&crate::machine::root().join("Cargo.toml"));
        let error = error.map_err(|error| error.to_string()).expect_err("a text");
        assert!(error.contains("Cargo.toml: "), "{error}");
    }
}
