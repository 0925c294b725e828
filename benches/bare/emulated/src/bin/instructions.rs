//! How many instructions events take, counted by the clock of an emulator to which each instruction
//! is one nanosecond.

#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m::Peripherals;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::entry;
use cortex_m_semihosting::hprintln;
use unstuck_emulated::{done, failed};
use unstuck_events::{Host, Work};

/// How many calls go before, until the window is full and every group is founded.
const BEFORE: u32 = 100;

/// Over how many calls is counted.
const CALLS: u32 = 1000;

/// The instructions of one tick: the processor's clock has 12.5 MHz.
const TICK: u32 = 80;

/// How often the loop runs whose instructions are known.
const LOOPS: u32 = 1_000_000;

#[entry]
fn main() -> ! {
    let Some(peripherals) = Peripherals::take() else { failed("the clock is taken") };
    let mut clock = peripherals.SYST;
    clock.set_clock_source(SystClkSource::Core);
    clock.set_reload(0x00FF_FFFF);
    clock.clear_current();
    clock.enable_counter();
    // A loop of two instructions tells whether the clock is what it is taken to be.
    let known = ticks(&mut clock, || cortex_m::asm::delay(LOOPS)) * TICK;
    if known.abs_diff(2 * LOOPS) > 2 * TICK {
        failed(format_args!(
            "{LOOPS} loops of 2 instructions were counted as {known}: is `-icount shift=0` on?"
        ));
    }
    for work in Work::ALL {
        let Some(mut host) = Host::new() else {
            failed("the default policy needs a longer window")
        };
        repeat(&mut host, work, BEFORE);
        let ticks = ticks(&mut clock, || repeat(&mut host, work, CALLS));
        hprintln!("{}\t{}", work.name(), ticks * TICK / CALLS);
    }
    done()
}

/// How many ticks `work` takes.
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
