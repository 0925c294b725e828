//! The microcontrollers, and WebAssembly, that the project is built for.

use std::str::FromStr;

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

impl FromStr for Target {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|target| target.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no target `{name}`; the targets are {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_parsed_from_its_name() {
        for target in Target::ALL {
            assert_eq!(target.name().parse(), Ok(target));
        }
        let error = Target::from_str("thumbv8m").expect_err("no such target");
        assert!(error.contains("thumbv6m-none-eabi, "), "{error}");
    }

    #[test]
    fn the_linker_variable_names_the_target() {
        let expected = "CARGO_TARGET_THUMBV7EM_NONE_EABIHF_LINKER";
        assert_eq!(Target::Thumbv7emHf.linker_variable(), expected);
    }
}
