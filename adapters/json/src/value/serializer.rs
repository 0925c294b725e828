//! A value told to a [`Printer`], as its text would be.

use core::fmt::Display;

use serde::ser::{self, Serialize};

use crate::fingerprinter::{Mode, Numbers, Printer};
use crate::hash::Hash64;
use crate::number::{DIGITS_MAX, Integer};
use crate::value::ValueError;
use crate::value::contents::{Contents, Place};
use crate::value::text::written;
use crate::walk::{Container, Visitor as _, Word, walk};

/// The structures as which `serde_json` hands over what is JSON already: a number of arbitrary
/// precision, and a raw value. Each has one member, of the same name.
const RAW: [&str; 2] = ["$serde_json::private::Number", "$serde_json::private::RawValue"];

/// Tells values to a printer.
pub(crate) struct Values<'w, 'p, N, H, const DEPTH: usize>(
    pub(crate) &'w mut Printer<'p, N, H, DEPTH>,
);

/// The integer, if it has no more digits than an [`Integer`] may.
fn integer(value: i128) -> Option<Integer> {
    let magnitude = u64::try_from(value.unsigned_abs()).ok()?;
    let digits = magnitude.checked_ilog10().map_or(0, |log| log.saturating_add(1));
    let digits = usize::try_from(digits).ok().filter(|digits| *digits <= DIGITS_MAX)?;
    Some(Integer { negative: value < 0, magnitude, digits })
}

impl<'w, 'p, N: Numbers, H: Hash64, const DEPTH: usize> Values<'w, 'p, N, H, DEPTH> {
    fn integer(self, value: i128) -> Result<(), ValueError> {
        let Some(integer) = integer(value) else {
            return raw(self.0, &written(value));
        };
        self.0.integer(integer);
        Ok(())
    }

    /// A float, by its shortest digits. Of two that are as near, `zmij` takes the even one, as
    /// `serde_json` does, and not the upper one, as `core` does.
    fn float(self, value: impl zmij::Float) -> Result<(), ValueError> {
        raw(self.0, zmij::Buffer::new().format_finite(value))
    }

    /// An array or object begins; where it is a variant's, within an object.
    fn open(
        self,
        container: Container,
        variant: Option<&str>,
    ) -> Result<Contents<'w, 'p, N, H, DEPTH>, ValueError> {
        if let Some(variant) = variant {
            open(self.0)?;
            self.0.tell_name(self.0.characters(variant));
        }
        open(self.0)?;
        let place = variant.map_or(Place::Alone, |_| Place::Variant);
        Ok(Contents { printer: self.0, container, place })
    }
}

/// An array or object begins. What it stands in is known here by the one who called, and need not
/// be remembered.
fn open<N: Numbers, H: Hash64, const DEPTH: usize>(
    printer: &mut Printer<'_, N, H, DEPTH>,
) -> Result<(), ValueError> {
    let depth_max = u16::try_from(DEPTH).unwrap_or(u16::MAX);
    printer.open(None).ok_or(ValueError::DepthLimit(depth_max))
}

/// What is JSON already, one value.
pub(crate) fn raw<N: Numbers, H: Hash64, const DEPTH: usize>(
    printer: &mut Printer<'_, N, H, DEPTH>,
    json: &str,
) -> Result<(), ValueError> {
    walk::<DEPTH>(json.as_bytes(), printer).map_err(ValueError::Raw)
}

impl<'w, 'p, N, H, const DEPTH: usize> ser::Serializer for Values<'w, 'p, N, H, DEPTH>
where
    N: Numbers,
    H: Hash64,
{
    type Ok = ();
    type Error = ValueError;
    type SerializeSeq = Contents<'w, 'p, N, H, DEPTH>;
    type SerializeTuple = Self::SerializeSeq;
    type SerializeTupleStruct = Self::SerializeSeq;
    type SerializeTupleVariant = Self::SerializeSeq;
    type SerializeMap = Self::SerializeSeq;
    type SerializeStruct = Self::SerializeSeq;
    type SerializeStructVariant = Self::SerializeSeq;

    fn serialize_bool(self, value: bool) -> Result<(), ValueError> {
        self.0.word(if value { Word::True } else { Word::False });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), ValueError> {
        self.integer(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), ValueError> {
        self.integer(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), ValueError> {
        self.integer(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), ValueError> {
        self.integer(value.into())
    }

    fn serialize_i128(self, value: i128) -> Result<(), ValueError> {
        self.integer(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), ValueError> {
        self.integer(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), ValueError> {
        self.integer(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), ValueError> {
        self.integer(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), ValueError> {
        self.integer(value.into())
    }

    fn serialize_u128(self, value: u128) -> Result<(), ValueError> {
        match i128::try_from(value) {
            Ok(value) => self.integer(value),
            Err(_) => raw(self.0, &written(value)),
        }
    }

    fn serialize_f32(self, value: f32) -> Result<(), ValueError> {
        if !value.is_finite() {
            return self.serialize_unit();
        }
        self.float(value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), ValueError> {
        if !value.is_finite() {
            return self.serialize_unit();
        }
        match N::MODE {
            Mode::Exact => self.float(value),
            Mode::Rfc8785 => {
                self.0.tell_double(value);
                Ok(())
            }
        }
    }

    fn serialize_char(self, value: char) -> Result<(), ValueError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), ValueError> {
        self.0.tell_string(self.0.characters(value));
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), ValueError> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), ValueError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), ValueError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), ValueError> {
        self.0.word(Word::Null);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), ValueError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), ValueError> {
        self.serialize_str(variant)
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
        variant: &'static str,
        value: &T,
    ) -> Result<(), ValueError> {
        let mut object = self.open(Container::Object, None)?;
        object.member(variant, value)?;
        object.close();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, ValueError> {
        self.open(Container::Array, None)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, ValueError> {
        self.open(Container::Array, None)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, ValueError> {
        self.open(Container::Array, None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, ValueError> {
        self.open(Container::Array, Some(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, ValueError> {
        self.open(Container::Object, None)
    }

    fn serialize_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStruct, ValueError> {
        if RAW.contains(&name) {
            let (container, place) = (Container::Object, Place::Raw);
            return Ok(Contents { printer: self.0, container, place });
        }
        self.open(Container::Object, None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, ValueError> {
        self.open(Container::Object, Some(variant))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), ValueError> {
        self.0.tell_string(self.0.displayed(value)?);
        Ok(())
    }
}
