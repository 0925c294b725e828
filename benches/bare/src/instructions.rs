//! Prints the instructions of events, counted by the clock of an emulator that takes one nanosecond for
//! each instruction.

use core::hint::black_box;

use cortex_m::Peripherals;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_semihosting::hprintln;
use unstuck_bare::{Host, Work};

use crate::failed;

/// The number of calls before the measurement, which fill the window and the record of similar calls.
const BEFORE: u32 = 100;

/// The number of measured calls.
const CALLS: u32 = 1000;

/// The instructions of one tick of the processor's clock, which runs at 25 MHz.
const TICK: u32 = 40;

/// The iterations of the loop that calibrates the clock.
const LOOPS: u32 = 1_000_000;

/// Prints a line for each work.
pub(crate) fn print() {
    let Some(peripherals) = Peripherals::take() else { failed("the clock is taken") };
    let mut clock = peripherals.SYST;
    clock.set_clock_source(SystClkSource::Core);
    clock.set_reload(0x00FF_FFFF);
    clock.clear_current();
    clock.enable_counter();
    // A loop of two instructions checks the rate of the clock.
    let known = ticks(&mut clock, || cortex_m::asm::delay(LOOPS)) * TICK;
    if known.abs_diff(2 * LOOPS) > 2 * TICK {
        failed(format_args!(
            "{LOOPS} loops of 2 instructions were counted as {known}: is `-icount shift=0` on?"
        ));
    }
    for (name, work) in Work::ALL {
        let Some(mut host) = Host::new() else {
            failed("the default policy needs a longer window")
        };
        repeat(&mut host, work, BEFORE);
        let ticks = ticks(&mut clock, || repeat(&mut host, work, CALLS));
        hprintln!("{name}\t{}", ticks * TICK / CALLS);
    }
}

/// Returns the ticks that `work` takes.
fn ticks(clock: &mut SYST, work: impl FnOnce()) -> u32 {
    clock.clear_current();
    let before = SYST::get_current();
    work();
    before.wrapping_sub(SYST::get_current()) & 0x00FF_FFFF
}

#[inline(never)]
fn repeat(host: &mut Host, work: Work, calls: u32) {
    for _ in 0..calls {
        black_box(host.call(black_box(work)));
    }
}
