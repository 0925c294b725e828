//! Shapes: the digest of a document, of its primary members alone, and of the others.

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
    /// The fingerprint of an object without its primary members. `None` if it has no primary members, or no
    /// others.
    pub others: Option<Digest>,
}

/// Takes the fingerprint of a document, and adds up the primary members of its outermost object.
pub(crate) struct Shaper<'p, 'k, N, H, const DEPTH: usize> {
    printer: Printer<'p, N, H, DEPTH>,
    names: &'k [&'k str],
    /// The sum of the primary members, or `None` if there are no such members.
    primary: Option<u64>,
    /// The sum of the other members, or `None` if there are no such members.
    others: Option<u64>,
    /// True if the member whose value follows is primary.
    is_primary: bool,
}

impl<'p, 'k, N: Numbers, H: Hash64, const DEPTH: usize> Shaper<'p, 'k, N, H, DEPTH> {
    pub(crate) const fn new(printer: Printer<'p, N, H, DEPTH>, names: &'k [&'k str]) -> Self {
        Self { printer, names, primary: None, others: None, is_primary: false }
    }

    /// Returns the shape of the document, which was read to its end.
    pub(crate) fn finish(&self) -> Shape {
        let [primary, others] =
            [self.primary, self.others].map(|sum| sum.map(|sum| self.printer.object(sum)));
        Shape { whole: self.printer.digest(), primary, others: primary.and(others) }
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
            self.is_primary = name.spells_any(self.names);
        }
        self.printer.name(name, place);
    }

    fn add(&mut self, container: Container) {
        self.printer.add(container);
        // Without names, every member is one of the others.
        let is_member = !self.names.is_empty() && container == Container::Object;
        if is_member && self.printer.depth() == 1 {
            let sum = if self.is_primary { &mut self.primary } else { &mut self.others };
            *sum = Some(sum.unwrap_or(0).wrapping_add(self.printer.member()));
        }
    }

    fn close(&mut self, container: Container) -> Result<Option<Container>, Fault> {
        self.printer.close(container)
    }
}
