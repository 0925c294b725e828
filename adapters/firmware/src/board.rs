//! The board: its entry point, its log, and its exit.

use core::panic::PanicInfo;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m::peripheral::SCB;
use cortex_m_rt::{ExceptionFrame, entry, exception};
// Linked for its logger.
use defmt_semihosting as _;
use semihosting::process::ExitCode;
use unstuck_firmware::{Entry, Exit, FLASH_SIZE, Flash, Level, run};

/// The end of the memory that `memory.x` gives to the program. The memory behind it stands in for flash.
const MEMORY_END: usize = 0x2000_E000;

/// The word that `cortex-m-rt` fills the stack with.
const PAINT: u32 = cortex_m_rt::STACK_PAINT_VALUE;

/// The time of the latest log entry, in milliseconds since the robot was first switched on.
static NOW: AtomicU32 = AtomicU32::new(0);

defmt::timestamp!("{=u32:ms}", NOW.load(Ordering::Relaxed));

#[entry]
fn main() -> ! {
    #[expect(
        unsafe_code,
        reason = "the linker gives this memory to no other part, and `main` runs once"
    )]
    let memory = unsafe { &mut *ptr::with_exposed_provenance_mut::<[u8; FLASH_SIZE]>(MEMORY_END) };
    match run(Flash::over(memory), &mut log) {
        Ok(Exit::Reset) => SCB::sys_reset(),
        Ok(Exit::Home) => {
            defmt::trace!("{} bytes of stack were used", stack_used());
            ExitCode::SUCCESS.exit_process()
        }
        Err(error) => {
            defmt::error!("{}", error);
            ExitCode::FAILURE.exit_process()
        }
    }
}

/// Returns the largest number of bytes of stack that were used since the latest start. The whole stack
/// is painted before `main`; the bytes above the remaining paint were used.
fn stack_used() -> usize {
    let (top, bottom) = (MEMORY_END, cortex_m_rt::heap_start().addr());
    let words = (bottom..top).step_by(size_of::<u32>()).map(|place| {
        let word = ptr::with_exposed_provenance::<u32>(place);
        #[expect(unsafe_code, reason = "the address is within RAM, and any bytes are a word")]
        unsafe {
            word.read_volatile()
        }
    });
    let unused = words.take_while(|word| *word == PAINT).count();
    top - bottom - unused * size_of::<u32>()
}

/// Sends `entry` to the host, which has its format.
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

/// Logs a panic and fails the run.
#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    defmt::error!("{}", defmt::Display2Format(info));
    ExitCode::FAILURE.exit_process()
}

/// Fails the run after an access to memory that does not exist.
#[allow(unsafe_code, reason = "the attribute asks for it; nothing here is unsafe")]
#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    ExitCode::FAILURE.exit_process()
}
