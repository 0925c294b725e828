//! Fingerprints: a document is hashed as it is read, value by value.

use core::marker::PhantomData;

use heapless::Vec;
use unstuck_core::Digest;

use crate::blocks::{self, Blocks};
use crate::cursor::{Cursor, Fault};
use crate::error::JsonError;
use crate::hash::{Hash64, Rapid};
use crate::mix::{Kind, Mixer};
use crate::number::{Decimal, Digits, Number, Short, parts};
use crate::shape::{Shape, Shaper};
use crate::string::{Respelled, Sink as _, Text};
use crate::walk::{Container, Visitor, WIDE, Word, walk};

/// The default limit for nested arrays and objects of a [`Fingerprinter`]. For example, `[[1]]` is two
/// deep.
///
/// Open containers wait on a stack of fixed size, 24 bytes each, so that this limit takes
/// 1.5 KiB of the caller's stack. Arguments and results of tools nest some ten deep at most.
pub const DEPTH_MAX: usize = 64;

/// When two numbers are equal: [`Exact`] or [`Rfc8785`].
///
/// It is a type and not a value, so that a device that compares exactly does not carry the code
/// that reads doubles.
pub trait Numbers: sealed::Sealed {
    /// The mode.
    const MODE: Mode;
}

/// When two numbers are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// If their decimal values are.
    Exact,
    /// If the IEEE doubles nearest to them are, as RFC 8785 has it.
    Rfc8785,
}

/// Numbers are equal if their decimal values are: `1` = `1.0` = `10e-1`, and `-0` = `0`, but two
/// ids beyond 2⁵³ stay two.
#[derive(Clone, Copy, Debug)]
pub struct Exact;

/// Numbers are equal if the nearest IEEE doubles are. Two documents then have the same fingerprint
/// exactly if their RFC 8785 texts are equal, apart from hash collisions.
///
/// A number beyond the largest double is an error.
#[derive(Clone, Copy, Debug)]
pub struct Rfc8785;

mod sealed {
    /// Nobody else says when numbers are equal.
    pub trait Sealed {}
}

impl sealed::Sealed for Exact {}
impl sealed::Sealed for Rfc8785 {}

impl Numbers for Exact {
    const MODE: Mode = Mode::Exact;
}

impl Numbers for Rfc8785 {
    const MODE: Mode = Mode::Rfc8785;
}

/// Takes fingerprints: which numbers are equal, what texts are hashed by, under which seed, and
/// how deep a document may be.
///
/// Create one and keep it, because its keys are computed once. [`fingerprint`](crate::fingerprint)
/// uses `Fingerprinter::<Exact>::new(0)`, which gives the same digests in every process. Choose a
/// secret seed for each session if somebody who does not see the digests might construct documents
/// that collide.
///
/// ```
/// use unstuck_json::{Exact, Fingerprinter, Rfc8785};
///
/// let exact = Fingerprinter::<Exact>::new(7);
/// let doubles = Fingerprinter::<Rfc8785>::new(7);
/// let (id, next) = (b"9007199254740992", b"9007199254740993");
/// assert_ne!(exact.fingerprint(id)?, exact.fingerprint(next)?);
/// assert_eq!(doubles.fingerprint(id)?, doubles.fingerprint(next)?);
/// # Ok::<(), unstuck_json::JsonError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fingerprinter<N = Exact, H = Rapid, const DEPTH: usize = DEPTH_MAX> {
    hash: H,
    mixer: Mixer,
    numbers: PhantomData<N>,
}

impl<N> Fingerprinter<N> {
    /// Fingerprints under `seed`, by the default hash.
    pub const fn new(seed: u64) -> Self {
        Self::with_hash(Rapid::new(seed), seed)
    }
}

impl<N, H, const DEPTH: usize> Fingerprinter<N, H, DEPTH> {
    /// Fingerprints of texts hashed by `hash`, all else under `seed`.
    ///
    /// ```
    /// use unstuck_json::{Exact, Fingerprinter, Fnv, JsonErrorKind};
    ///
    /// /// As small as can be: a hash of a few instructions, and a stack for eight containers.
    /// const SMALL: Fingerprinter<Exact, Fnv, 8> = Fingerprinter::with_hash(Fnv::new(0), 0);
    ///
    /// assert!(SMALL.fingerprint(b"[[[[[[[[1]]]]]]]]").is_ok());
    /// let error = SMALL.fingerprint(b"[[[[[[[[[1]]]]]]]]]").unwrap_err();
    /// assert_eq!(error.kind, JsonErrorKind::DepthLimit(8));
    /// ```
    pub const fn with_hash(hash: H, seed: u64) -> Self {
        const { assert!(DEPTH < 1 << 16, "a depth of 65,535 is the most") };
        Self { hash, mixer: Mixer::new(seed), numbers: PhantomData }
    }
}

impl<N: Numbers, H: Hash64, const DEPTH: usize> Fingerprinter<N, H, DEPTH> {
    /// The digest of one JSON value, which may have white space around it; as
    /// [`fingerprint`](crate::fingerprint).
    ///
    /// # Errors
    ///
    /// The first byte that makes `json` something else than one JSON value, or that goes beyond a
    /// limit. A value cut short is an error at its end.
    pub fn fingerprint(&self, json: &[u8]) -> Result<Digest, JsonError> {
        let mut printer = Printer::new(self);
        walk::<DEPTH>(json, &mut printer)?;
        Ok(printer.digest())
    }

    /// Returns the fingerprint of a document and, if it is an object, of its `primary` members alone,
    /// in one pass.
    ///
    /// Names are compared unescaped, and only in the outermost object. A nested object counts as part
    /// of the member that holds it.
    ///
    /// # Errors
    ///
    /// The errors of [`Fingerprinter::fingerprint`], wherever in the document the error lies.
    ///
    /// ```
    /// use unstuck_json::{Exact, Fingerprinter};
    ///
    /// let print = Fingerprinter::<Exact>::new(0);
    /// let primary = ["query", "path"];
    /// let one = print.shape(br#"{"query": "fn main", "limit": 10}"#, &primary)?;
    /// let other = print.shape(br#"{"query": "fn main", "limit": 50}"#, &primary)?;
    /// assert_ne!(one.whole, other.whole);
    /// assert_eq!(one.primary, Some(print.fingerprint(br#"{"query": "fn main"}"#)?));
    /// assert_eq!(one.primary, other.primary);
    /// # Ok::<(), unstuck_json::JsonError>(())
    /// ```
    pub fn shape(&self, json: &[u8], primary: &[&str]) -> Result<Shape, JsonError> {
        let mut shaper = Shaper::new(Printer::new(self), primary);
        walk::<DEPTH>(json, &mut shaper)?;
        Ok(shaper.finish())
    }
}

/// The state of a document that is being hashed.
pub(crate) struct Printer<'p, N, H, const DEPTH: usize> {
    print: &'p Fingerprinter<N, H, DEPTH>,
    /// The digest of the latest value.
    value: u64,
    /// The digest of the latest string that is not spelled as RFC 8785 has it.
    respelled: u64,
    /// The container around it. Without a container it has no meaning.
    frame: Frame,
    /// The containers around that in `frame`.
    outer: Vec<(Frame, Option<Container>), DEPTH>,
}

/// An open array or object.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// An array: its elements so far, paired in their order. An object: the sum of its members so
    /// far, modulo 2⁶⁴, in which their order falls away; not an exclusive or, in which a member
    /// that occurs twice would vanish.
    contents: u64,
    /// The name of the member whose value follows.
    name: u64,
}

impl<'p, N: Numbers, H: Hash64, const DEPTH: usize> Printer<'p, N, H, DEPTH> {
    #[inline]
    pub(crate) const fn new(print: &'p Fingerprinter<N, H, DEPTH>) -> Self {
        Self {
            print,
            value: 0,
            respelled: 0,
            frame: Frame { contents: 0, name: 0 },
            outer: Vec::new(),
        }
    }

    /// Returns the digest of the document, which is its latest value.
    #[inline]
    pub(crate) const fn digest(&self) -> Digest {
        self.root(self.value)
    }

    /// Returns the number of open containers.
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.outer.len()
    }

    /// Returns the digest of the latest value as a member of the open object.
    #[inline]
    pub(crate) const fn member(&self) -> u64 {
        self.print.mixer.pair(self.frame.name, self.value)
    }

    /// The digest of the object whose members add up to `sum`.
    #[inline]
    pub(crate) const fn object(&self, sum: u64) -> Digest {
        self.root(self.print.mixer.tagged(Kind::Object, sum))
    }

    /// Returns the digest of a document whose value is `value`. One more combination hides the
    /// structure that the digest of a short text alone has.
    #[inline]
    const fn root(&self, value: u64) -> Digest {
        Digest::new(self.print.mixer.tagged(Kind::Root, value))
    }

    /// The digest of a text in its RFC 8785 form.
    #[inline]
    pub(crate) fn text(&self, text: &[u8]) -> u64 {
        blocks::digest(&self.print.hash, self.print.mixer, text)
    }

    /// An empty text, to which pieces are added.
    pub(crate) const fn blocks(&self) -> Blocks<'p, H> {
        Blocks::new(&self.print.hash, self.print.mixer)
    }

    /// The digest of a string or a name.
    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn digest_of(&self, text: Text<'_>) -> u64 {
        if WIDE && let Some((word, length)) = text.short() {
            return self.print.hash.hash_short(word, length);
        }
        match text.canonical() {
            Some(text) => self.text(text),
            None => self.respelled,
        }
    }

    /// Returns the digest of more than nineteen digits.
    #[cold]
    fn long(&self, digits: &[u8]) -> u64 {
        let mut blocks = self.blocks();
        parts(digits).for_each(|part| blocks.take(part));
        self.print.mixer.tagged(Kind::Long, blocks.digest())
    }
}

/// The digest of a number other than 0.
#[inline]
fn decimal(mixer: Mixer, negative: bool, digits: u64, exponent: i32) -> u64 {
    let kind = if negative { Kind::Negative } else { Kind::Positive };
    mixer.pair(mixer.tagged(kind, digits), i64::from(exponent).cast_unsigned())
}

impl<'a, N: Numbers, H: Hash64, const DEPTH: usize> Visitor<'a> for Printer<'_, N, H, DEPTH> {
    #[inline]
    fn word(&mut self, word: Word) {
        self.value = self.print.mixer.bare(match word {
            Word::Null => Kind::Null,
            Word::True => Kind::True,
            Word::False => Kind::False,
        });
    }

    #[inline]
    fn short(&mut self, short: Short) -> bool {
        let mixer = self.print.mixer;
        self.value = match N::MODE {
            Mode::Rfc8785 => match short.double() {
                None => return false,
                Some(double) => mixer.tagged(Kind::Double, double.to_bits()),
            },
            Mode::Exact => match short.few_digits() {
                None => mixer.bare(Kind::Zero),
                Some(digits) => decimal(mixer, short.negative, digits, short.exponent),
            },
        };
        true
    }

    fn number(&mut self, number: &Number<'a>) -> Result<(), Fault> {
        let mixer = self.print.mixer;
        self.value = match N::MODE {
            Mode::Rfc8785 => mixer.tagged(Kind::Double, number.double()?.to_bits()),
            Mode::Exact => match number.decimal()? {
                None => mixer.bare(Kind::Zero),
                Some(Decimal { digits, exponent }) => {
                    let digits = match digits {
                        Digits::Few(digits) => digits,
                        Digits::Many(digits) => self.long(digits),
                    };
                    decimal(mixer, number.negative, digits, exponent)
                }
            },
        };
        Ok(())
    }

    #[cold]
    fn respelled(&mut self, text: Respelled<'a>) -> Result<(Text<'a>, Cursor<'a>), Fault> {
        let mut blocks = self.blocks();
        let read = text.read(&mut blocks)?;
        self.respelled = blocks.digest();
        Ok(read)
    }

    #[inline]
    fn string(&mut self, text: Text<'a>) {
        self.value = self.digest_of(text);
    }

    #[inline]
    fn open(&mut self, outer: Option<Container>) -> Option<()> {
        self.outer.push((self.frame, outer)).ok()?;
        self.frame = Frame::default();
        Some(())
    }

    #[inline]
    fn name(&mut self, name: Text<'a>, _: Cursor<'a>) {
        self.frame.name = self.digest_of(name);
    }

    #[inline]
    fn add(&mut self, container: Container) {
        let contents = self.frame.contents;
        self.frame.contents = match container {
            Container::Array => self.print.mixer.pair(contents, self.value),
            Container::Object => contents.wrapping_add(self.member()),
        };
    }

    #[inline]
    fn close(&mut self, container: Container) -> Result<Option<Container>, Fault> {
        let kind = match container {
            Container::Array => Kind::Array,
            Container::Object => Kind::Object,
        };
        self.value = self.print.mixer.tagged(kind, self.frame.contents);
        let outer;
        (self.frame, outer) = self.outer.pop().unwrap_or_default();
        Ok(outer)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::{Exact, Fingerprinter, Frame, Rfc8785};
    use crate::walk::Container;
    use crate::{Fnv, Rapid};

    #[test]
    fn every_hash_and_every_seed_tells_the_same_documents_apart() {
        let documents: [&[u8]; 7] =
            [b"{}", b"[]", b"\"\"", b"0", b"{\"a\":1,\"b\":2}", b"[1,2]", b"{\"a\":[1,2]}"];
        let respelled: [&[u8]; 7] = [
            b"{ }",
            b"[ ]",
            b" \"\"",
            b"-0.0",
            b"{\"b\":2.0,\"\\u0061\":1}",
            b"[1e0,20e-1]",
            b"{\"a\":[1,2]}",
        ];
        for seed in [0, 1, u64::MAX] {
            let rapid = Fingerprinter::<Exact>::new(seed);
            let doubles = Fingerprinter::<Rfc8785>::new(seed);
            let fnv = Fingerprinter::<Exact, Fnv>::with_hash(Fnv::new(seed), seed);
            let mixed = Fingerprinter::<Exact, Rapid, 4>::with_hash(Rapid::new(seed), !seed);
            for (i, one) in documents.iter().enumerate() {
                for (k, other) in respelled.iter().enumerate() {
                    for (one, other) in [
                        (rapid.fingerprint(one), rapid.fingerprint(other)),
                        (doubles.fingerprint(one), doubles.fingerprint(other)),
                        (fnv.fingerprint(one), fnv.fingerprint(other)),
                        (mixed.fingerprint(one), mixed.fingerprint(other)),
                    ] {
                        assert_eq!(one.unwrap() == other.unwrap(), i == k, "{i} and {k}");
                    }
                }
                let other = Fingerprinter::<Exact>::new(seed.wrapping_add(7));
                assert_ne!(rapid.fingerprint(one), other.fingerprint(one), "{i}");
            }
        }
    }

    #[test]
    fn a_frame_keeps_the_promise_about_the_stack() {
        assert!(size_of::<(Frame, Option<Container>)>() <= 24);
    }
}
