//! The board: how it begins, how it is heard, and how it ends.

use core::panic::PanicInfo;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m::peripheral::SCB;
use cortex_m_rt::{ExceptionFrame, entry, exception};
// Linked for its logger.
use defmt_semihosting as _;
use semihosting::process::ExitCode;
use unstuck_firmware::{Ended, Entry, FLASH_SIZE, Flash, Level, run};

/// Where the memory ends that `memory.x` gives to the program. What comes behind it plays the part of
/// flash.
const MEMORY_END: usize = 0x2000_E000;

/// What `cortex-m-rt` paints the stack with.
const PAINT: u32 = cortex_m_rt::STACK_PAINT_VALUE;

/// How long the robot has been on, in milliseconds, as of the latest entry of its log.
static NOW: AtomicU32 = AtomicU32::new(0);

defmt::timestamp!("{=u32:ms}", NOW.load(Ordering::Relaxed));

#[entry]
fn main() -> ! {
    #[expect(
        unsafe_code,
        reason = "memory that the linker gives to nobody, and taken once a start"
    )]
    let memory = unsafe { &mut *ptr::with_exposed_provenance_mut::<[u8; FLASH_SIZE]>(MEMORY_END) };
    match run(Flash::over(memory), &mut log) {
        Ok(Ended::Reset) => SCB::sys_reset(),
        Ok(Ended::Home) => {
            defmt::trace!("{} bytes of stack were used", stack_used());
            ExitCode::SUCCESS.exit_process()
        }
        Err(error) => {
            defmt::error!("{}", error);
            ExitCode::FAILURE.exit_process()
        }
    }
}

/// How many bytes of stack were used since the latest start, at the deepest: those above the paint
/// that all of it is given before `main`.
fn stack_used() -> usize {
    let (top, bottom) = (MEMORY_END, cortex_m_rt::heap_start().addr());
    let words = (bottom..top).step_by(size_of::<u32>()).map(|place| {
        let word = ptr::with_exposed_provenance::<u32>(place);
        #[expect(unsafe_code, reason = "memory that is there, and read as what it is")]
        unsafe {
            word.read_volatile()
        }
    });
    let unused = words.take_while(|word| *word == PAINT).count();
    top - bottom - unused * size_of::<u32>()
}

/// Sends `entry` to the host, which has its words.
fn log(entry: Entry<'_>) {
    NOW.store(entry.at, Ordering::Relaxed);
    let event = entry.event;
    match event.level() {
        Level::Debug => defmt::debug!("{}", event),
        Level::Info => defmt::info!("{}", event),
        Level::Warn => defmt::warn!("{}", event),
        Level::Error => defmt::error!("{}", event),
    }
}

/// A panic is logged, and the run has failed.
#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    defmt::error!("{}", defmt::Display2Format(info));
    ExitCode::FAILURE.exit_process()
}

/// So has one that reached for memory that is not there.
#[allow(unsafe_code, reason = "the attribute asks for it; nothing here is unsafe")]
#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    ExitCode::FAILURE.exit_process()
}
