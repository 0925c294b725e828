//! Volatile text: what differs between two answers that say the same.
//!
//! A clock time, a process id or the path of a temporary file makes two answers differ that mean
//! the same to an agent. A mask recognises one kind of such text by its shape and removes it.
//! Possible progress stays: percentages, counts, sizes, line numbers and exit codes.
//!
//! The steps that a scaffold has left go; a host with other budgets adds a [`Counter`]. A result that is only a time or a hash stays as well, because it answers a tool that was asked
//! for it.

mod cost;
mod counter;
mod digest;
mod digits;
mod elapsed;
mod hex;
mod id;
mod kind;
mod label;
mod labelled;
mod number;
mod path;
mod pieces;
mod scan;
mod step;
mod time;
mod tokens;
mod trim;
mod view;
mod word_end;

pub use digest::Masked;
pub(crate) use digest::raw;
use unstuck_core::Digest;

pub use counter::{Counter, CounterError};
pub use kind::{Mask, Masker, Masks};
use pieces::Pieces;
pub(crate) use pieces::Sink;
pub(crate) use trim::Trimmed;

impl Masks {
    /// These masks, and counters of the host's own.
    pub const fn and<'p>(self, counters: &'p [Counter<'p>]) -> Masker<'p> {
        Masker { masks: self, counters }
    }

    /// `text` with a word in the place of all that is masked, to be looked at.
    pub const fn show(self, text: &str) -> Shown<'_> {
        self.and(&[]).show(text)
    }

    /// Returns the digests of `text` without its volatile parts. O(n), in constant memory.
    pub fn digest(self, text: &[u8]) -> Masked {
        self.and(&[]).digest(text)
    }
}

impl<'p> Masker<'p> {
    /// `text` with a word in the place of all that is masked, to be looked at.
    pub const fn show<'t>(self, text: &'t str) -> Shown<'t>
    where
        'p: 't,
    {
        Shown { masker: self, text }
    }

    /// Returns the digests of `text` without its volatile parts. O(n), in constant memory. Each
    /// counter is tried at each number.
    ///
    /// Without masks and counters every byte counts, and only equal texts are near.
    pub fn digest(self, text: &[u8]) -> Masked {
        if self.is_none() {
            let whole = raw(text);
            return Masked { result: whole, near: whole };
        }
        digest::digest(self.pieces(text))
    }

    /// Like [`Masker::digest`], but also calls `each` with each line that shows anything, without the number that a pager
    /// adds, and with the digest of what is left of it.
    pub(crate) fn digest_by_line(self, text: &[u8], each: &mut dyn FnMut(&[u8], Digest)) -> Masked {
        let masked = digest::digest_by_line(self.pieces(text), each);
        if self.is_none() { self.digest(text) } else { masked }
    }

    /// Hands the pieces of `text` to `sink`. O(n).
    pub(crate) fn walk(self, text: &[u8], sink: &mut impl Sink) {
        self.pieces(text).walk(sink);
    }

    fn pieces<'t>(self, text: &'t [u8]) -> Pieces<'t>
    where
        'p: 't,
    {
        Pieces::new(self, text)
    }
}

/// A text whose volatile parts are replaced by the names of their masks.
///
/// Masking the shown text again does not change it.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'t> {
    masker: Masker<'t>,
    text: &'t str,
}
