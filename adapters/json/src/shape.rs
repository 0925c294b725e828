//! Shapes: what of an object counts, when not all of it does.

use unstuck_core::Digest;

use crate::cursor::{Cursor, Fault};
use crate::fingerprinter::{Numbers, Printer};
use crate::hash::Hash64;
use crate::number::{Integer, Number};
use crate::string::Text;
use crate::walk::{Container, Visitor, Word};

/// Which members of an outermost object count in which part of its [`Shape`]; usually a constant
/// for each tool.
///
/// Names are compared unescaped, and in the outermost object only: what stands deeper is counted
/// or not with the member that holds it.
///
/// ```
/// use unstuck_json::{Exact, Fingerprinter, Members};
///
/// const SEARCH: Members = Members::ALL.primary(&["query", "path"]).volatile(&["request_id"]);
///
/// let print = Fingerprinter::<Exact>::new(0);
/// let one = print.shape(br#"{"query": "fn main", "limit": 10, "request_id": 1}"#, &SEARCH)?;
/// let two = print.shape(br#"{"query": "fn main", "limit": 10, "request_id": 2}"#, &SEARCH)?;
/// let other = print.shape(br#"{"query": "fn main", "limit": 50, "request_id": 3}"#, &SEARCH)?;
///
/// assert_ne!(one.whole, two.whole);
/// assert_eq!(one.stable, two.stable);
/// assert_ne!(one.stable, other.stable);
/// assert!(one.primary.is_some());
/// assert_eq!(one.primary, other.primary);
/// # Ok::<(), unstuck_json::JsonError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members<'k> {
    primary: &'k [&'k str],
    volatile: &'k [&'k str],
}

/// The digests of a document, and of two parts of it if it is an object.
///
/// Each part has the fingerprint of the object from which all other members were taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// All of the document: its fingerprint.
    pub whole: Digest,
    /// Only its primary members: what the call is about. `None` if there are none, or if the
    /// document is no object, so that the caller can fall back to the whole: else all calls
    /// without any of the names would be equal.
    pub primary: Option<Digest>,
    /// All but its volatile members: what the call does, without what differs from one time to
    /// the next. The whole, if the document is no object.
    pub stable: Digest,
}

impl<'k> Members<'k> {
    /// All members count, none is primary and none is volatile.
    pub const ALL: Self = Self { primary: &[], volatile: &[] };

    /// These members say what a call is about, like `path` or `command`.
    #[must_use]
    pub const fn primary(self, names: &'k [&'k str]) -> Self {
        Self { primary: names, ..self }
    }

    /// These members may differ between equal calls, like `description`, `timeout` or
    /// `request_id`.
    #[must_use]
    pub const fn volatile(self, names: &'k [&'k str]) -> Self {
        Self { volatile: names, ..self }
    }
}

/// Takes the fingerprint of a document, and adds up the parts of its outermost object on the way.
pub(crate) struct Shaper<'p, 'k, N, H, const DEPTH: usize> {
    printer: Printer<'p, N, H, DEPTH>,
    members: &'k Members<'k>,
    /// The sum of the primary members; `None` if there are none.
    primary: Option<u64>,
    /// The sum of all but the volatile members; `None` if there are none at all.
    stable: Option<u64>,
    /// Whether the member whose value follows is primary.
    is_primary: bool,
    /// Whether it is volatile.
    is_volatile: bool,
}

impl<'p, 'k, N: Numbers, H: Hash64, const DEPTH: usize> Shaper<'p, 'k, N, H, DEPTH> {
    pub(crate) const fn new(printer: Printer<'p, N, H, DEPTH>, members: &'k Members<'k>) -> Self {
        let (primary, stable, is_primary, is_volatile) = (None, None, false, false);
        Self { printer, members, primary, stable, is_primary, is_volatile }
    }

    /// The shape of the document, all of which was told.
    pub(crate) fn finish(&self) -> Shape {
        let whole = self.printer.digest();
        Shape {
            whole,
            primary: self.primary.map(|sum| self.printer.object(sum)),
            stable: self.stable.map_or(whole, |sum| self.printer.object(sum)),
        }
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

    fn integer(&mut self, integer: Integer) {
        self.printer.integer(integer);
    }

    fn number(&mut self, number: &Number<'a>) -> Result<(), Fault> {
        self.printer.number(number)
    }

    fn string(&mut self, text: Text<'a>) {
        self.printer.string(text);
    }

    fn open(&mut self, outer: Option<Container>) -> Option<()> {
        self.printer.open(outer)
    }

    fn name(&mut self, name: Text<'a>, place: Cursor<'a>) {
        if self.printer.depth() == 1 {
            let is_one_of = |names: &[&str]| names.iter().any(|one| name.spells(one));
            self.is_primary = is_one_of(self.members.primary);
            self.is_volatile = is_one_of(self.members.volatile);
        }
        self.printer.name(name, place);
    }

    fn add(&mut self, container: Container) {
        self.printer.add(container);
        if self.printer.depth() == 1 && container == Container::Object {
            let member = self.printer.member();
            let add = |sum: Option<u64>| sum.unwrap_or(0).wrapping_add(member);
            if self.is_primary {
                self.primary = Some(add(self.primary));
            }
            self.stable =
                Some(if self.is_volatile { self.stable.unwrap_or(0) } else { add(self.stable) });
        }
    }

    fn close(&mut self, container: Container) -> Result<Option<Container>, Fault> {
        self.printer.close(container)
    }
}
