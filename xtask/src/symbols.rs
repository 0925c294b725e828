//! Reads the symbols of a linked program, to find panics and allocators.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;

use object::{File, Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _};

use crate::machine::root;
use crate::step::{Done, failed, failed_at};

/// The first address of RAM on all Cortex-M processors. Everything below it is in flash.
const MEMORY_START: u64 = 0x2000_0000;

/// Functions of the C library that a program without `std` may use: copies and comparisons that the
/// compiler inserts, and the start code of every program.
const HARMLESS: &str = "bcmp memcmp memcpy memmove memset _ITM_deregisterTMCloneTable \
    _ITM_registerTMCloneTable __cxa_finalize __gmon_start__ __libc_start_main";

/// Parts of the names of `core`'s functions that panic. All of them end in `abort`, which only the programs' panic handler
/// calls, so a missing name is still found there.
const PANICS: &str = "panic begin_unwind unwrap_failed expect_failed assert_failed slice_error_fail \
    index_fail mismatch_fail";

/// Parts of the names of Rust's and C's allocators.
const ALLOCATORS: &str = "__rust_alloc __rust_realloc __rg_ __rdl_ alloc";

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
#[derive(Debug, Default)]
pub(crate) struct Program {
    defined: BTreeSet<String>,
    undefined: BTreeSet<String>,
    /// The size of code and constants, in bytes.
    pub(crate) size: u64,
    /// The bytes of flash and of static RAM that a program for a Cortex-M takes.
    pub(crate) flash: u64,
    pub(crate) memory: u64,
}

impl Program {
    /// Reads the program at `path`, an ELF file. The path is relative to the root of the repository.
    pub(crate) fn read(path: &str) -> Done<Self> {
        let bytes = fs::read(root().join(path)).map_err(failed_at(path.as_ref()))?;
        match Self::parse(&bytes) {
            Ok(program) if program.defined.is_empty() => {
                failed(format!("{path}: no symbols; was it stripped?"))
            }
            parsed => parsed.or_else(|error| failed(format!("{path}: {error}"))),
        }
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
        let is_harmless = |name: &str| HARMLESS.split(' ').any(|harmless| harmless == name);
        let foreign = self.undefined.iter().map(String::as_str);
        let foreign = foreign.filter(|name| flaw_of(name).is_none() && !is_harmless(name));
        known.chain(foreign.map(|name| (Flaw::Foreign, name))).collect()
    }
}

/// Returns the reason why a symbol of this name is forbidden, if it is.
fn flaw_of(name: &str) -> Option<Flaw> {
    let has = |words: &str| words.split(' ').any(|word| name.contains(word));
    if has(PANICS) || name == "abort" {
        Some(Flaw::Panic)
    } else {
        (has(ALLOCATORS) || name == "free").then_some(Flaw::Allocator)
    }
}
