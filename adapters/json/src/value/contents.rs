//! What arrays and objects hold, told value by value.

use serde::ser::{self, Serialize};

use crate::fingerprinter::{Numbers, Printer};
use crate::hash::Hash64;
use crate::value::ValueError;
use crate::value::serializer::Values;
use crate::value::text::{Role, Texts};
use crate::walk::{Container, Visitor as _};

/// Tells what an array or an object holds.
pub(crate) struct Contents<'w, 'p, N, H, const DEPTH: usize> {
    pub(crate) printer: &'w mut Printer<'p, N, H, DEPTH>,
    pub(crate) container: Container,
    pub(crate) place: Place,
}

/// Where an array or object stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// By itself.
    Alone,
    /// In an object that has nothing else, under the name of a variant.
    Variant,
    /// Nowhere, since it is none of the two but one of `serde_json`'s structures for raw text.
    Raw,
}

impl<N: Numbers, H: Hash64, const DEPTH: usize> Contents<'_, '_, N, H, DEPTH> {
    /// The next value: an element, or that of the member named last.
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ValueError> {
        value.serialize(Values(self.printer))?;
        self.printer.add(self.container);
        Ok(())
    }

    /// The next member.
    pub(crate) fn member<T: Serialize + ?Sized>(
        &mut self,
        name: &str,
        value: &T,
    ) -> Result<(), ValueError> {
        if self.place == Place::Raw {
            return value.serialize(Texts { printer: self.printer, role: Role::Raw });
        }
        self.printer.tell_name(self.printer.characters(name));
        self.value(value)
    }

    /// All was told.
    pub(crate) fn close(self) {
        // A printer refuses no end.
        if self.place != Place::Raw {
            let _ = self.printer.close(self.container);
        }
        if self.place == Place::Variant {
            self.printer.add(Container::Object);
            let _ = self.printer.close(Container::Object);
        }
    }
}

/// Implements what `serde` has four traits for: the contents of an array.
macro_rules! elements {
    ($($kind:ident $method:ident),*) => { $(
        impl<N: Numbers, H: Hash64, const DEPTH: usize> ser::$kind for Contents<'_, '_, N, H, DEPTH> {
            type Ok = ();
            type Error = ValueError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ValueError> {
                self.value(value)
            }

            fn end(self) -> Result<(), ValueError> {
                self.close();
                Ok(())
            }
        }
    )* };
}

/// Implements what `serde` has two traits for: the contents of an object with known names.
macro_rules! fields {
    ($($kind:ident),*) => { $(
        impl<N: Numbers, H: Hash64, const DEPTH: usize> ser::$kind for Contents<'_, '_, N, H, DEPTH> {
            type Ok = ();
            type Error = ValueError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), ValueError> {
                self.member(name, value)
            }

            fn end(self) -> Result<(), ValueError> {
                self.close();
                Ok(())
            }
        }
    )* };
}

elements!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);
fields!(SerializeStruct, SerializeStructVariant);

impl<N: Numbers, H: Hash64, const DEPTH: usize> ser::SerializeMap
    for Contents<'_, '_, N, H, DEPTH>
{
    type Ok = ();
    type Error = ValueError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), ValueError> {
        key.serialize(Texts { printer: self.printer, role: Role::Name })
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ValueError> {
        self.value(value)
    }

    fn end(self) -> Result<(), ValueError> {
        self.close();
        Ok(())
    }
}
