//! The single pass: reads the grammar of RFC 8259 and calls a visitor for each token.

use crate::cursor::{Cursor, Fault};
use crate::error::{JsonError, JsonErrorKind};
use crate::number::{Number, Short};
use crate::string::{Respelled, Text};

/// The bytes that a document may have: 1 GiB.
///
/// The limit bounds the time of a fingerprint to about a second, and lets counts of bytes fit into
/// 32 bits. Arguments of tools are shorter. The bytes of a longer document can be hashed as they
/// are.
pub const LENGTH_MAX: usize = 1 << 30;

/// True if there is room for code that only adds speed. On a microcontroller, its bytes matter
/// more.
///
/// `--cfg unstuck_narrow` leaves it out elsewhere, too, so that what is left can be tested.
pub(crate) const WIDE: bool = cfg!(target_pointer_width = "64") && !cfg!(unstuck_narrow);

/// The parts of a document, in order. Every part that a visitor gets is well-formed. Without a method for a part, the
/// visitor passes over it.
pub(crate) trait Visitor<'a> {
    /// A value that is a word.
    #[inline]
    fn word(&mut self, _: Word) {}
    /// A value that is a short number. Returns whether that is enough to know it: if not, it follows
    /// as any other number.
    #[inline]
    fn short(&mut self, _: Short) -> bool {
        true
    }
    /// A value that is any other number; refused if the number is beyond a limit.
    #[inline]
    fn number(&mut self, _: &Number<'a>) -> Result<(), Fault> {
        Ok(())
    }
    /// The next string or name is not spelled as RFC 8785 has it. Reads it to its end, and returns
    /// what follows it, too. A visitor that wants its RFC 8785 form can have it in the same pass.
    #[inline]
    fn respelled(&mut self, text: Respelled<'a>) -> Result<(Text<'a>, Cursor<'a>), Fault> {
        text.read(&mut ())
    }
    /// A value that is a string.
    #[inline]
    fn string(&mut self, _: Text<'a>) {}
    /// An array or object begins. To be remembered is `outer`, in which it stands, if in any;
    /// `None` if there is no room for that, since it stands too deep.
    fn open(&mut self, outer: Option<Container>) -> Option<()>;
    /// The name of a member, whose opening quote is at `place`; its value follows.
    #[inline]
    fn name(&mut self, _name: Text<'a>, _place: Cursor<'a>) {}
    /// The latest value is the next element or member of the container around it.
    #[inline]
    fn add(&mut self, _: Container) {}
    /// The container opened last ends, and is now the latest value. Returns the container that was
    /// passed to `open`.
    fn close(&mut self, container: Container) -> Result<Option<Container>, Fault>;
}

/// The words of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Null,
    True,
    False,
}

impl Word {
    /// Returns the spelling of the word.
    pub(crate) const fn spelling(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::True => "true",
            Self::False => "false",
        }
    }

    /// Reads the word, whose first byte is at the cursor.
    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn read(self, cursor: &mut Cursor<'_>) -> Result<Self, Fault> {
        if WIDE && cursor.eat_word(self.spelling()) {
            return Ok(self);
        }
        for &byte in self.spelling().as_bytes() {
            if !cursor.eat(byte) {
                return Err(cursor.error(JsonErrorKind::MisspelledWord));
            }
        }
        Ok(self)
    }
}

/// The two kinds of containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Array,
    Object,
}

/// Reads all of `json`, which must be one value, at most `DEPTH` containers deep.
#[inline]
pub(crate) fn walk<'a, const DEPTH: usize>(
    json: &'a [u8],
    visitor: &mut impl Visitor<'a>,
) -> Result<(), JsonError> {
    let cursor = Cursor::new(json);
    if json.len() > LENGTH_MAX {
        let fault = cursor.error_after(LENGTH_MAX, JsonErrorKind::LengthLimit);
        return Err(fault.within(json.len()));
    }
    document::<_, DEPTH>(cursor, visitor).map_err(|fault| fault.within(json.len()))
}

/// The tokens that may come at the cursor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    /// The name of an object's first member.
    FirstName,
    /// The name of a member, after a comma.
    Name,
}

/// Reads one value and what surrounds it, to the end of the input.
#[inline]
fn document<'a, V: Visitor<'a>, const DEPTH: usize>(
    mut cursor: Cursor<'a>,
    visitor: &mut V,
) -> Result<(), Fault> {
    let cursor = &mut cursor;
    let mut inside: Option<Container> = None;
    let mut expected = Expected::Value;
    cursor.skip_space();
    loop {
        if expected != Expected::Value {
            let place = *cursor;
            if !cursor.eat(b'"') {
                return Err(cursor.error(match expected {
                    Expected::FirstName => JsonErrorKind::ExpectedNameOrBrace,
                    _ => JsonErrorKind::ExpectedName,
                }));
            }
            if let Err(plain) = Text::read_short(cursor, |text| visitor.name(text, place)) {
                Text::read(cursor, plain, visitor, |visitor, text| visitor.name(text, place))?;
            }
            if !cursor.eat_behind_space(b':') {
                return Err(cursor.error(JsonErrorKind::ExpectedColon));
            }
            cursor.skip_space();
            expected = Expected::Value;
        }
        // A value begins here.
        match cursor.peek() {
            Some(b'"') => {
                cursor.advance(1);
                if let Err(plain) = Text::read_short(cursor, |text| visitor.string(text)) {
                    Text::read(cursor, plain, visitor, V::string)?;
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                let start = *cursor;
                if !(WIDE && Short::read(cursor, |short| visitor.short(short))) {
                    let number;
                    (number, *cursor) = Number::read(start)?;
                    visitor.number(&number)?;
                }
            }
            Some(bracket @ (b'{' | b'[')) => {
                let (container, end) = match bracket {
                    b'{' => (Container::Object, b'}'),
                    _ => (Container::Array, b']'),
                };
                if visitor.open(inside).is_none() {
                    let depth_max = u16::try_from(DEPTH).unwrap_or(u16::MAX);
                    return Err(cursor.error(JsonErrorKind::DepthLimit(depth_max)));
                }
                cursor.advance(1);
                cursor.skip_space();
                if !cursor.eat(end) {
                    inside = Some(container);
                    if container == Container::Object {
                        expected = Expected::FirstName;
                    }
                    continue;
                }
                inside = visitor.close(container)?;
            }
            Some(b'n') => visitor.word(Word::Null.read(cursor)?),
            Some(b't') => visitor.word(Word::True.read(cursor)?),
            Some(b'f') => visitor.word(Word::False.read(cursor)?),
            _ => return Err(cursor.error(JsonErrorKind::ExpectedValue)),
        }
        // A value ended here, and with it perhaps what holds it.
        loop {
            let Some(container) = inside else {
                return end(cursor);
            };
            visitor.add(container);
            if cursor.eat_behind_space(b',') {
                cursor.skip_space();
                if container == Container::Object {
                    expected = Expected::Name;
                }
                break;
            }
            let (bracket, otherwise) = match container {
                Container::Array => (b']', JsonErrorKind::ExpectedCommaOrBracket),
                Container::Object => (b'}', JsonErrorKind::ExpectedCommaOrBrace),
            };
            if !cursor.eat(bracket) {
                return Err(cursor.error(otherwise));
            }
            inside = visitor.close(container)?;
        }
    }
}

/// Tells whether the input ends behind the white space at the cursor, as it must.
fn end(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    cursor.skip_space();
    match cursor.peek() {
        None => Ok(()),
        Some(_) => Err(cursor.error(JsonErrorKind::TrailingData)),
    }
}
