//! Reads the symbols of a linked program, to find panics and allocators.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use object::{File, Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _};

/// The first address of RAM on all Cortex-M processors. Everything below it is in flash.
const MEMORY_START: u64 = 0x2000_0000;

/// Functions of the C library that a program without `std` may use: copies and comparisons that the
/// compiler inserts, and the start code of every program.
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

/// Parts of the names of `core`'s functions that panic. All of them end in [`ABORT`], so a missing name
/// is still found there.
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

/// The function that only the programs' panic handler calls.
const ABORT: &str = "abort";

/// Parts of the names of Rust's and C's allocators.
const ALLOCATORS: &[&str] = &["__rust_alloc", "__rust_realloc", "__rg_", "__rdl_", "alloc"];

/// A forbidden symbol in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flaw {
    /// It can panic.
    Panic,
    /// It can allocate.
    Allocator,
    /// It needs another function of the C library.
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

/// The symbols and sizes of a linked program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Program {
    /// The defined symbols.
    defined: BTreeSet<String>,
    /// The undefined symbols.
    undefined: BTreeSet<String>,
    /// The size of code and constants, in bytes.
    pub(crate) size: u64,
    /// The bytes of flash and of static RAM that a program for a Cortex-M takes.
    pub(crate) flash: u64,
    pub(crate) memory: u64,
}

impl Program {
    /// Reads the program at `path`, an ELF file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or has no names of functions.
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
        let in_memory = file.segments().filter(|segment| segment.address() >= MEMORY_START);
        let mut program = Self {
            size: size(".text") + size(".rodata"),
            flash: file.segments().map(|segment| segment.file_range().1).sum(),
            memory: in_memory.map(|segment| segment.size()).sum(),
            ..Self::default()
        };
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            // Some linkers append the version of a library's symbol, as in `abort@GLIBC_2.2.5`.
            let name = symbol.name()?.split('@').next().unwrap_or_default();
            if symbol.is_undefined() && !name.is_empty() {
                program.undefined.insert(name.into());
            } else if symbol.is_definition() {
                program.defined.insert(name.into());
            }
        }
        Ok(program)
    }

    /// Returns every forbidden symbol with its reason.
    pub(crate) fn flaws(&self) -> BTreeSet<(Flaw, &str)> {
        let known = self.defined.iter().chain(&self.undefined);
        let known = known.filter_map(|name| Some((flaw_of(name)?, name.as_str())));
        let foreign = self.undefined.iter().map(String::as_str);
        let foreign = foreign.filter(|name| flaw_of(name).is_none() && !HARMLESS.contains(name));
        known.chain(foreign.map(|name| (Flaw::Foreign, name))).collect()
    }
}

/// Returns the reason why a symbol of this name is forbidden, if it is.
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
    fn undefined_symbols_are_harmless_or_named() {
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
