//! The microcontrollers that the project is built for.

use clap::ValueEnum;

/// A processor without an operating system, as the compiler calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// Cortex-M0: no atomic exchange, no division.
    #[value(name = "thumbv6m-none-eabi")]
    Thumbv6m,
    /// Cortex-M3: the one that QEMU runs.
    #[value(name = "thumbv7m-none-eabi")]
    Thumbv7m,
    /// Cortex-M4 and -M7.
    #[value(name = "thumbv7em-none-eabi")]
    Thumbv7em,
    /// Cortex-M4F and -M7F, which have floats in hardware.
    #[value(name = "thumbv7em-none-eabihf")]
    Thumbv7emHf,
    /// ESP32-C3 and its like: no atomics.
    #[value(name = "riscv32imc-unknown-none-elf")]
    Riscv32imc,
}

impl Target {
    /// Every target.
    pub(crate) const ALL: [Self; 5] =
        [Self::Thumbv6m, Self::Thumbv7m, Self::Thumbv7em, Self::Thumbv7emHf, Self::Riscv32imc];

    /// The compiler's name for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Thumbv6m => "thumbv6m-none-eabi",
            Self::Thumbv7m => "thumbv7m-none-eabi",
            Self::Thumbv7em => "thumbv7em-none-eabi",
            Self::Thumbv7emHf => "thumbv7em-none-eabihf",
            Self::Riscv32imc => "riscv32imc-unknown-none-elf",
        }
    }

    /// The variable that tells cargo which linker to take.
    pub(crate) fn linker_variable(self) -> String {
        let name = self.name().to_uppercase().replace('-', "_");
        format!("CARGO_TARGET_{name}_LINKER")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_has_the_names_of_the_compiler() {
        for target in Target::ALL {
            let word = target.to_possible_value().expect("no target is hidden");
            assert_eq!(word.get_name(), target.name());
        }
    }

    #[test]
    fn the_linker_is_told_by_a_variable_of_the_target() {
        let expected = "CARGO_TARGET_THUMBV7EM_NONE_EABIHF_LINKER";
        assert_eq!(Target::Thumbv7emHf.linker_variable(), expected);
    }
}
