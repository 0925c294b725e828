//! Characters that nobody has escaped, and values that must be text: names, and raw JSON.

use core::fmt::{self, Display, Write as _};

use serde::ser::{self, Impossible, Serialize};

use crate::blocks::Blocks;
use crate::cursor::Cursor;
use crate::error::{JsonError, JsonErrorKind};
use crate::escape::escape;
use crate::fingerprinter::{Numbers, Printer};
use crate::hash::Hash64;
use crate::value::ValueError;
use crate::value::serializer::raw;

/// The bytes of the longest integer of 128 bits, with its sign.
const INTEGER_MAX: usize = 40;

/// Takes values that can be written between quotes, for what they are as text.
pub(crate) struct Texts<'w, 'p, N, H, const DEPTH: usize> {
    pub(crate) printer: &'w mut Printer<'p, N, H, DEPTH>,
    pub(crate) role: Role,
}

/// What a text is.
#[derive(Clone, Copy)]
pub(crate) enum Role {
    /// The name of a member.
    Name,
    /// A value, in JSON.
    Raw,
}

/// The integer in decimal.
pub(crate) fn written(integer: impl Display) -> heapless::String<INTEGER_MAX> {
    let mut text = heapless::String::new();
    // There is room for all of it.
    let _ = write!(text, "{integer}");
    text
}

impl<N: Numbers, H: Hash64, const DEPTH: usize> Printer<'_, N, H, DEPTH> {
    /// The digest of a string or a name of these characters.
    pub(crate) fn characters(&self, text: &str) -> u64 {
        let mut end = Cursor::new(text.as_bytes());
        end.skip_plain(&mut 0);
        match end.peek() {
            None => self.text(text.as_bytes()),
            Some(_) => self.special(text),
        }
    }

    /// The digest of a string with characters to be escaped.
    #[cold]
    fn special(&self, text: &str) -> u64 {
        let mut blocks = self.blocks();
        add_escaped(&mut blocks, text);
        blocks.digest()
    }

    /// The digest of a string of what `value` displays.
    pub(crate) fn displayed<T: Display + ?Sized>(&self, value: &T) -> Result<u64, ValueError> {
        let mut escaper = Escaper(self.blocks());
        write!(escaper, "{value}").map_err(|fmt::Error| ValueError::Refused)?;
        Ok(escaper.0.digest())
    }
}

/// Escapes what is written to it.
struct Escaper<'h, H>(Blocks<'h, H>);

impl<H: Hash64> fmt::Write for Escaper<'_, H> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        add_escaped(&mut self.0, text);
        Ok(())
    }
}

/// Adds `text` in its RFC 8785 form.
fn add_escaped<H: Hash64>(blocks: &mut Blocks<'_, H>, text: &str) {
    let mut cursor = Cursor::new(text.as_bytes());
    loop {
        let start = cursor;
        cursor.skip_plain(&mut 0);
        blocks.add(start.until(&cursor));
        // What is not plain is ASCII, and so a character.
        let Some(byte) = cursor.next() else {
            return;
        };
        blocks.add(escape(char::from(byte), &mut [0; 6]));
    }
}

impl<N: Numbers, H: Hash64, const DEPTH: usize> Texts<'_, '_, N, H, DEPTH> {
    fn take(self, text: &str) -> Result<(), ValueError> {
        match self.role {
            Role::Name => {
                self.printer.tell_name(self.printer.characters(text));
                Ok(())
            }
            Role::Raw => raw(self.printer, text),
        }
    }

    /// What is no text is refused, whatever it was going to be.
    fn refuse<T>(&self) -> Result<T, ValueError> {
        Err(match self.role {
            Role::Name => ValueError::Key,
            Role::Raw => {
                ValueError::Raw(JsonError { kind: JsonErrorKind::ExpectedValue, offset: 0 })
            }
        })
    }
}

impl<N: Numbers, H: Hash64, const DEPTH: usize> ser::Serializer for Texts<'_, '_, N, H, DEPTH> {
    type Ok = ();
    type Error = ValueError;
    type SerializeSeq = Impossible<(), ValueError>;
    type SerializeTuple = Self::SerializeSeq;
    type SerializeTupleStruct = Self::SerializeSeq;
    type SerializeTupleVariant = Self::SerializeSeq;
    type SerializeMap = Self::SerializeSeq;
    type SerializeStruct = Self::SerializeSeq;
    type SerializeStructVariant = Self::SerializeSeq;

    fn serialize_bool(self, value: bool) -> Result<(), ValueError> {
        self.take(if value { "true" } else { "false" })
    }

    fn serialize_i8(self, value: i8) -> Result<(), ValueError> {
        self.take(&written(value))
    }

    fn serialize_i16(self, value: i16) -> Result<(), ValueError> {
        self.take(&written(value))
    }

    fn serialize_i32(self, value: i32) -> Result<(), ValueError> {
        self.take(&written(value))
    }

    fn serialize_i64(self, value: i64) -> Result<(), ValueError> {
        self.take(&written(value))
    }

    fn serialize_i128(self, value: i128) -> Result<(), ValueError> {
        self.take(&written(value))
    }

    fn serialize_u8(self, value: u8) -> Result<(), ValueError> {
        self.take(&written(value))
    }

    fn serialize_u16(self, value: u16) -> Result<(), ValueError> {
        self.take(&written(value))
    }

    fn serialize_u32(self, value: u32) -> Result<(), ValueError> {
        self.take(&written(value))
    }

    fn serialize_u64(self, value: u64) -> Result<(), ValueError> {
        self.take(&written(value))
    }

    fn serialize_u128(self, value: u128) -> Result<(), ValueError> {
        self.take(&written(value))
    }

    fn serialize_f32(self, _: f32) -> Result<(), ValueError> {
        self.refuse()
    }

    fn serialize_f64(self, _: f64) -> Result<(), ValueError> {
        self.refuse()
    }

    fn serialize_char(self, value: char) -> Result<(), ValueError> {
        self.take(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), ValueError> {
        self.take(value)
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), ValueError> {
        self.refuse()
    }

    fn serialize_none(self) -> Result<(), ValueError> {
        self.refuse()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), ValueError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), ValueError> {
        self.refuse()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), ValueError> {
        self.refuse()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), ValueError> {
        self.take(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), ValueError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), ValueError> {
        self.refuse()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, ValueError> {
        self.refuse()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, ValueError> {
        self.refuse()
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, ValueError> {
        self.refuse()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, ValueError> {
        self.refuse()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, ValueError> {
        self.refuse()
    }

    fn serialize_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStruct, ValueError> {
        self.refuse()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, ValueError> {
        self.refuse()
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), ValueError> {
        match self.role {
            Role::Name => {
                self.printer.tell_name(self.printer.displayed(value)?);
                Ok(())
            }
            // It would have to be kept to be read.
            Role::Raw => self.refuse(),
        }
    }
}
