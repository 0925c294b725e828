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

    pub(crate) fn byte(&mut self) -> u8 {
        self.0 = self.0.mix(Digest::new(1));
        let [byte, ..] = self.0.bits().to_le_bytes();
        byte
    }

    pub(crate) fn below<const END: u8>(&mut self) -> u8 {
        self.byte() % END
    }

    /// Returns true in seven of eight cases.
    pub(crate) fn flag(&mut self) -> bool {
        self.below::<8>() > 0
    }

    /// Returns the first few items of `all`, from no item to all items.
    pub(crate) fn some_of<'s, T>(&mut self, all: &'s [T]) -> &'s [T] {
        let most = if self.flag() { self.below::<16>() } else { self.byte() };
        all.get(..most.into()).unwrap_or(all)
    }

    /// Returns one of few tools, so that calls repeat.
    pub(crate) fn tool(&mut self) -> Tool {
        if self.flag() { Tool::named(self.text()) } else { Tool::new(self.byte().into()) }
    }

    /// Returns one of four digests, so that arguments and results repeat.
    pub(crate) fn digest(&mut self) -> Digest {
        Digest::new(self.below::<4>().into())
    }

    pub(crate) fn tag(&mut self) -> Tag {
        one_of(Tag::ALL, self)
    }

    pub(crate) fn action(&mut self) -> Action {
        one_of(Action::ALL, self)
    }

    /// Returns the beginning of a text of characters with one to four bytes.
    pub(crate) fn text(&mut self) -> &'static str {
        let text = "grep ‘näh’ 🧵 \"\\\n";
        text.get(..usize::from(self.below::<32>())).unwrap_or(text)
    }
}

/// Returns one of `all`. It is no method, because what is made for `all` takes numbers, too.
pub(crate) fn one_of<T: Copy, const N: usize>(all: [T; N], input: &mut Input) -> T {
    all[usize::from(input.byte()) % N]
}
