//! Numbers that the compiler cannot predict, and values made from them.

use core::ffi::c_int;

use unstuck_core::{Action, Digest, Tag, Tool};

/// A sequence of numbers. The first one is known only at run time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input(Digest);

impl Input {
    /// Returns the sequence for a program with `count` arguments.
    pub(crate) fn new(count: c_int) -> Self {
        Self(Digest::new(count.unsigned_abs().into()))
    }

    /// Returns the next number, of 64 bits.
    fn number(&mut self) -> u64 {
        self.0 = self.0.mix(Digest::new(1));
        self.0.bits()
    }

    /// Returns the lowest byte of the next number.
    pub(crate) fn byte(&mut self) -> u8 {
        let [byte, ..] = self.number().to_le_bytes();
        byte
    }

    /// Returns a byte below `end`.
    pub(crate) fn below<const END: u8>(&mut self) -> u8 {
        self.byte() % END
    }

    /// Returns true in seven of eight cases.
    pub(crate) fn flag(&mut self) -> bool {
        self.below::<8>() > 0
    }

    /// Returns one of two tools, so that calls repeat.
    pub(crate) fn tool(&mut self) -> Tool {
        if self.flag() { Tool::named(self.text()) } else { Tool::new(u32::from(self.byte())) }
    }

    /// Returns one of four digests, so that arguments and results repeat.
    pub(crate) fn digest(&mut self) -> Digest {
        Digest::new(u64::from(self.below::<4>()))
    }

    /// Returns one of the tags.
    pub(crate) fn tag(&mut self) -> Tag {
        let place = usize::from(self.below::<10>());
        Tag::ALL.get(place).copied().unwrap_or_default()
    }

    /// Returns one of the actions.
    pub(crate) fn action(&mut self) -> Action {
        let place = usize::from(self.below::<6>());
        Action::ALL.get(place).copied().unwrap_or_default()
    }

    /// Returns the beginning of a text of characters with one to four bytes.
    pub(crate) fn text(&mut self) -> &'static str {
        let text = "grep ‘näh’ 🧵 \"\\\n";
        text.get(..usize::from(self.below::<32>())).unwrap_or(text)
    }
}
