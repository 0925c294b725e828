//! How deep the stack gets: what is free of it is painted, and looked at afterwards.

use core::hint::black_box;
use core::ptr;

use cortex_m::register::msp;

/// What no event writes, but by a very unlikely chance.
const PAINT: u32 = 0xC3A5_5A3C;

#[expect(unsafe_code, reason = "the linker says where the stack may end at the lowest")]
unsafe extern "C" {
    static _stack_end: u32;
}

/// How many bytes of stack `event` takes, its own frame and all beneath it.
///
/// It is called by an address that the compiler does not know. So it is not put into this function,
/// whose frame lies above the paint.
#[inline(never)]
pub fn depth<S>(state: &mut S, event: fn(&mut S)) -> u32 {
    let lowest = (&raw const _stack_end).addr();
    let here = usize::try_from(msp::read()).unwrap_or(lowest);
    paint(lowest, here);
    black_box(event)(state);
    let clean = (lowest..here).step_by(size_of::<u32>()).find(|&word| look(word) != PAINT);
    u32::try_from(here - clean.unwrap_or(here)).unwrap_or(u32::MAX)
}

/// Paints every word from `lowest` to `here`. Never a call: what a call leaves below `here` would be
/// painted over.
#[inline(always)]
#[expect(clippy::inline_always, reason = "its frame would lie where it paints")]
fn paint(lowest: usize, here: usize) {
    let mut word = lowest;
    while word < here {
        #[expect(
            unsafe_code,
            reason = "nobody uses the memory between the end of the stack and here"
        )]
        unsafe {
            ptr::write_volatile(ptr::with_exposed_provenance_mut(word), PAINT);
        }
        word += size_of::<u32>();
    }
}

/// The word at the address `word`, between the end of the stack and its beginning.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as for what paints")]
fn look(word: usize) -> u32 {
    #[expect(unsafe_code, reason = "it was painted before, and so is memory")]
    unsafe {
        ptr::read_volatile(ptr::with_exposed_provenance::<u32>(word))
    }
}
