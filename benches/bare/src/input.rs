//! Numbers of which the compiler knows nothing, and what can be made from them.

use core::ffi::c_int;

use unstuck_core::{Action, Digest, Tag, Tool};

/// Numbers that all follow from the first one; which that is, only the run can tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input(Digest);

impl Input {
    /// The numbers that follow from the `count` of the program's arguments.
    pub(crate) fn new(count: c_int) -> Self {
        Self(Digest::new(count.unsigned_abs().into()))
    }

    /// The next number, any of 64 bits.
    fn number(&mut self) -> u64 {
        self.0 = self.0.mix(Digest::new(1));
        self.0.bits()
    }

    /// The lowest byte of the next number.
    pub(crate) fn byte(&mut self) -> u8 {
        let [byte, ..] = self.number().to_le_bytes();
        byte
    }

    /// A byte below `end`.
    pub(crate) fn below<const END: u8>(&mut self) -> u8 {
        self.byte() % END
    }

    /// True seven times out of eight.
    pub(crate) fn flag(&mut self) -> bool {
        self.below::<8>() > 0
    }

    /// One of two tools, so that calls come back.
    pub(crate) fn tool(&mut self) -> Tool {
        if self.flag() { Tool::named(self.text()) } else { Tool::new(u32::from(self.byte())) }
    }

    /// One of four digests, so that arguments and results come back.
    pub(crate) fn digest(&mut self) -> Digest {
        Digest::new(u64::from(self.below::<4>()))
    }

    /// One of the tags.
    pub(crate) fn tag(&mut self) -> Tag {
        let place = usize::from(self.below::<10>());
        Tag::ALL.get(place).copied().unwrap_or_default()
    }

    /// One of the actions.
    pub(crate) fn action(&mut self) -> Action {
        let place = usize::from(self.below::<6>());
        Action::ALL.get(place).copied().unwrap_or_default()
    }

    /// The beginning of a text, in letters of one to four bytes.
    pub(crate) fn text(&mut self) -> &'static str {
        let text = "grep ‘näh’ 🧵 \"\\\n";
        text.get(..usize::from(self.below::<32>())).unwrap_or(text)
    }
}
