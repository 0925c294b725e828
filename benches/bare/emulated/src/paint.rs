//! The depth of the stack, measured by painting the free part and reading it afterwards.

use core::hint::black_box;
use core::ptr;

use cortex_m::register::msp;

/// A word that events are very unlikely to write.
const PAINT: u32 = 0xC3A5_5A3C;

#[expect(unsafe_code, reason = "the linker says where the stack may end at the lowest")]
unsafe extern "C" {
    static _stack_end: u32;
}

/// Returns the bytes of stack that `event` takes, with its own frame and all calls below it.
///
/// The compiler does not know the address of `event`, so it cannot inline it into this function, whose
/// frame lies above the paint.
#[inline(never)]
pub fn depth<S>(state: &mut S, event: fn(&mut S)) -> u32 {
    let lowest = (&raw const _stack_end).addr();
    let here = usize::try_from(msp::read()).unwrap_or(lowest);
    paint(lowest, here);
    black_box(event)(state);
    let clean = (lowest..here).step_by(size_of::<u32>()).find(|&word| look(word) != PAINT);
    u32::try_from(here - clean.unwrap_or(here)).unwrap_or(u32::MAX)
}

/// Paints every word from `lowest` to `here`. It is always inlined, because the frame of a call would
/// lie below `here` and be painted over.
#[inline(always)]
#[expect(clippy::inline_always, reason = "its frame would lie where it paints")]
fn paint(lowest: usize, here: usize) {
    let mut word = lowest;
    while word < here {
        #[expect(
            unsafe_code,
            reason = "the memory between the end of the stack and here is unused"
        )]
        unsafe {
            ptr::write_volatile(ptr::with_exposed_provenance_mut(word), PAINT);
        }
        word += size_of::<u32>();
    }
}

/// Reads the word at the address `word`, which must lie inside the stack.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as for what paints")]
fn look(word: usize) -> u32 {
    #[expect(unsafe_code, reason = "it was painted before, and so is memory")]
    unsafe {
        ptr::read_volatile(ptr::with_exposed_provenance::<u32>(word))
    }
}
