//! Shapes: the digest of a document, and of its primary members alone.

use unstuck_core::Digest;

use crate::cursor::{Cursor, Fault};
use crate::fingerprinter::{Numbers, Printer};
use crate::hash::Hash64;
use crate::number::{Number, Short};
use crate::string::{Respelled, Text};
use crate::walk::{Container, Visitor, Word};

/// The digests of a document and of its primary members; see
/// [`Fingerprinter::shape`](crate::Fingerprinter::shape).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The fingerprint of the whole document.
    pub whole: Digest,
    /// The fingerprint of an object that has only the primary members.
    ///
    /// `None` if there are no such members, or if the document is not an object. The caller can
    /// then fall back to the whole; otherwise all calls without a primary member would be equal.
    pub primary: Option<Digest>,
}

/// Takes the fingerprint of a document, and adds up the primary members of its outermost object.
pub(crate) struct Shaper<'p, 'k, N, H, const DEPTH: usize> {
    printer: Printer<'p, N, H, DEPTH>,
    names: &'k [&'k str],
    /// The sum of the primary members, or `None` if there are no such members.
    primary: Option<u64>,
    /// True if the member whose value follows is primary.
    is_primary: bool,
}

impl<'p, 'k, N: Numbers, H: Hash64, const DEPTH: usize> Shaper<'p, 'k, N, H, DEPTH> {
    pub(crate) const fn new(printer: Printer<'p, N, H, DEPTH>, names: &'k [&'k str]) -> Self {
        Self { printer, names, primary: None, is_primary: false }
    }

    /// Returns the shape of the document, which was read to its end.
    pub(crate) fn finish(&self) -> Shape {
        let primary = self.primary.map(|sum| self.printer.object(sum));
        Shape { whole: self.printer.digest(), primary }
    }
}

impl<'a, N, H, const DEPTH: usize> Visitor<'a> for Shaper<'_, '_, N, H, DEPTH>
where
    N: Numbers,
    H: Hash64,
{
    fn word(&mut self, word: Word) {
        self.printer.word(word);
    }

    fn short(&mut self, short: Short) -> bool {
        self.printer.short(short)
    }

    fn number(&mut self, number: &Number<'a>) -> Result<(), Fault> {
        self.printer.number(number)
    }

    fn respelled(&mut self, text: Respelled<'a>) -> Result<(Text<'a>, Cursor<'a>), Fault> {
        self.printer.respelled(text)
    }

    fn string(&mut self, text: Text<'a>) {
        self.printer.string(text);
    }

    fn open(&mut self, outer: Option<Container>) -> Option<()> {
        self.printer.open(outer)
    }

    fn name(&mut self, name: Text<'a>, place: Cursor<'a>) {
        if self.printer.depth() == 1 {
            self.is_primary = self.names.iter().any(|one| name.spells(one));
        }
        self.printer.name(name, place);
    }

    fn add(&mut self, container: Container) {
        self.printer.add(container);
        if self.is_primary && self.printer.depth() == 1 && container == Container::Object {
            let sum = self.primary.unwrap_or(0);
            self.primary = Some(sum.wrapping_add(self.printer.member()));
        }
    }

    fn close(&mut self, container: Container) -> Result<Option<Container>, Fault> {
        self.printer.close(container)
    }
}
