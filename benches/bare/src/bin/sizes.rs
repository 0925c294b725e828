//! Prints the sizes of values.

#![no_std]
#![no_main]

#[path = "../emulated.rs"]
mod emulated;

use cortex_m_rt::entry;
use cortex_m_semihosting::hprintln;
use unstuck_bare::SIZES;

#[entry]
fn main() -> ! {
    for (name, bytes) in SIZES {
        hprintln!("{name}\t{bytes}");
    }
    emulated::done()
}
