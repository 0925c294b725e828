//! The microcontrollers, and WebAssembly, that the project is built for.

use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// A machine without an operating system, named as the compiler names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Cortex-M0: no atomic exchange, no division.
    Thumbv6m,
    /// Cortex-M3, which QEMU emulates.
    Thumbv7m,
    /// Cortex-M4 and -M7.
    Thumbv7em,
    /// Cortex-M4F and -M7F, which have floats in hardware.
    Thumbv7emHf,
    /// ESP32-C3 and similar chips: no atomics.
    Riscv32imc,
    /// WebAssembly, for JavaScript. It has `std`.
    Wasm32,
}

impl Target {
    /// Every microcontroller.
    pub(crate) const ALL: [Self; 5] =
        [Self::Thumbv6m, Self::Thumbv7m, Self::Thumbv7em, Self::Thumbv7emHf, Self::Riscv32imc];

    /// Returns the compiler's name for the target.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Thumbv6m => "thumbv6m-none-eabi",
            Self::Thumbv7m => "thumbv7m-none-eabi",
            Self::Thumbv7em => "thumbv7em-none-eabi",
            Self::Thumbv7emHf => "thumbv7em-none-eabihf",
            Self::Riscv32imc => "riscv32imc-unknown-none-elf",
            Self::Wasm32 => "wasm32-unknown-unknown",
        }
    }

    /// Returns the linker, which Debian's package `lld` has.
    pub(crate) const fn linker(self) -> &'static str {
        match self {
            Self::Wasm32 => "wasm-ld",
            _ => "ld.lld",
        }
    }

    /// Returns the environment variable that sets cargo's linker for the target.
    pub(crate) fn linker_variable(self) -> String {
        let name = self.name().to_uppercase().replace('-', "_");
        format!("CARGO_TARGET_{name}_LINKER")
    }
}

impl ValueEnum for Target {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        <Self as ValueEnum>::from_str(name, false)
    }
}
