//! From bytes to values that tell `serde` all that it can be told.

use std::fmt;

use arbitrary::{Arbitrary as _, Result, Unstructured};
use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::value::RawValue;

use crate::documents;
use crate::tree::Choices;

/// What a value says that refuses to be serialized.
pub(crate) const REFUSED: &str = "no";

/// How deep values nest at most, unless they are wrapped.
const DEPTH_MAX: usize = 4;

/// The most elements and members.
const LENGTH_MAX: u32 = 4;

/// How often a value is wrapped: hardly ever, or about as often as containers may nest.
const WRAPS: [u8; 8] = [0, 0, 0, 0, 1, 2, 60, 64];

/// The names of variants and fields, some with characters to be escaped.
const NAMES: [&str; 8] = ["a", "b", "", "path", "eight888", "é\t", "\"\\/", "a longer description"];

/// How often a text is repeated: some are longer than a block that is hashed at once.
const REPEATS: [usize; 8] = [1, 1, 1, 1, 1, 2, 40, 300];

/// A value, named by the method of `serde` that it calls.
#[derive(Debug)]
pub(crate) enum Node {
    Unit,
    Bool(bool),
    /// As the integer of that kind which has the lowest of these bits.
    Integer(u128, Integer),
    F32(f32),
    F64(f64),
    Char(char),
    Text(String),
    Bytes(Vec<u8>),
    /// A text that is told piece by piece.
    Shown(Shown),
    Raw(Box<RawValue>),
    Refused,
    None,
    Some(Box<Node>),
    UnitStruct,
    UnitVariant(&'static str),
    NewtypeStruct(Box<Node>),
    NewtypeVariant(&'static str, Box<Node>),
    Seq(Vec<Node>),
    Tuple(Vec<Node>),
    TupleStruct(Vec<Node>),
    TupleVariant(&'static str, Vec<Node>),
    Map(Vec<(Node, Node)>),
    Struct(Fields),
    StructVariant(&'static str, Fields),
}

type Fields = Vec<(&'static str, Node)>;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Integer {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
}

impl Integer {
    const ALL: [Self; 10] = [
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::I128,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::U128,
    ];
}

#[derive(Debug)]
pub(crate) struct Shown(Vec<String>);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| f.write_str(piece))
    }
}

impl Node {
    /// The value in the next of `bytes`.
    ///
    /// # Errors
    ///
    /// Those of `Unstructured`; too few bytes are none, since zeros follow them.
    pub(crate) fn new(bytes: &mut Unstructured<'_>) -> Result<Self> {
        let wraps = *bytes.choose(&WRAPS)?;
        let wrap = bytes.int_in_range(0..=2_u8)?;
        let mut node = node(bytes, DEPTH_MAX)?;
        for _ in 0..wraps {
            node = match wrap {
                0 => Self::Seq(vec![node]),
                1 => Self::NewtypeVariant("a", Box::new(node)),
                _ => Self::TupleVariant("b", vec![node]),
            };
        }
        Ok(node)
    }

    /// Whether a map in it has a key that is a float, at least to the serializer.
    pub(crate) fn has_float_key(&self) -> bool {
        match self {
            Self::Some(node) | Self::NewtypeStruct(node) | Self::NewtypeVariant(_, node) => {
                node.has_float_key()
            }
            Self::Seq(nodes)
            | Self::Tuple(nodes)
            | Self::TupleStruct(nodes)
            | Self::TupleVariant(_, nodes) => nodes.iter().any(Self::has_float_key),
            Self::Map(members) => {
                members.iter().any(|(key, value)| key.is_float() || value.has_float_key())
            }
            Self::Struct(fields) | Self::StructVariant(_, fields) => {
                fields.iter().any(|(_, value)| value.has_float_key())
            }
            _ => false,
        }
    }

    fn is_float(&self) -> bool {
        match self {
            Self::F32(_) | Self::F64(_) => true,
            Self::Some(node) | Self::NewtypeStruct(node) => node.is_float(),
            _ => false,
        }
    }
}

/// A value that nests at most `depth` deep.
fn node(bytes: &mut Unstructured<'_>, depth: usize) -> Result<Node> {
    let kinds = if depth == 0 { 13 } else { 23 };
    match bytes.int_in_range(0..=kinds)? {
        kind @ 0..=13 => leaf(kind, bytes),
        kind => branch(kind, bytes, depth - 1),
    }
}

fn leaf(kind: u8, bytes: &mut Unstructured<'_>) -> Result<Node> {
    Ok(match kind {
        0 => Node::Unit,
        1 => Node::Bool(bool::arbitrary(bytes)?),
        2 => Node::Integer(integer(bytes)?, *bytes.choose(&Integer::ALL)?),
        3 => Node::F32(f32::arbitrary(bytes)?),
        4 => Node::F64(f64::arbitrary(bytes)?),
        5 => halfway(bytes)?,
        6 => Node::Char(char::arbitrary(bytes)?),
        7 => Node::Text(text(bytes)?),
        8 => Node::Bytes(text(bytes)?.into_bytes()),
        9 => Node::Shown(Shown(list(bytes, text)?)),
        10 => Node::Raw(raw(bytes)?),
        11 => Node::UnitStruct,
        12 => Node::UnitVariant(name(bytes)?),
        _ if bytes.ratio(1, 8)? => Node::Refused,
        _ => Node::None,
    })
}

fn branch(kind: u8, bytes: &mut Unstructured<'_>, depth: usize) -> Result<Node> {
    let inner = |bytes: &mut Unstructured<'_>| node(bytes, depth);
    let field = |bytes: &mut Unstructured<'_>| Ok((name(bytes)?, node(bytes, depth)?));
    Ok(match kind {
        14 => Node::Some(Box::new(inner(bytes)?)),
        15 => Node::NewtypeStruct(Box::new(inner(bytes)?)),
        16 => Node::NewtypeVariant(name(bytes)?, Box::new(inner(bytes)?)),
        17 => Node::Seq(list(bytes, inner)?),
        18 => Node::Tuple(list(bytes, inner)?),
        19 => Node::TupleStruct(list(bytes, inner)?),
        20 => Node::TupleVariant(name(bytes)?, list(bytes, inner)?),
        21 => Node::Map(list(bytes, |bytes| Ok((key(bytes, depth)?, inner(bytes)?)))?),
        22 => Node::Struct(list(bytes, field)?),
        _ => Node::StructVariant(name(bytes)?, list(bytes, field)?),
    })
}

/// Mostly what may be a key.
fn key(bytes: &mut Unstructured<'_>, depth: usize) -> Result<Node> {
    const KINDS: [u8; 7] = [1, 2, 6, 7, 7, 9, 12];
    if bytes.ratio(1, 16)? {
        return node(bytes, depth);
    }
    let key = leaf(*bytes.choose(&KINDS)?, bytes)?;
    Ok(match bytes.int_in_range(0..=7_u8)? {
        0 => Node::Some(Box::new(key)),
        1 => Node::NewtypeStruct(Box::new(key)),
        _ => key,
    })
}

fn list<T>(
    bytes: &mut Unstructured<'_>,
    mut item: impl FnMut(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    (0..bytes.int_in_range(0..=LENGTH_MAX)?).map(|_| item(bytes)).collect()
}

fn name(bytes: &mut Unstructured<'_>) -> Result<&'static str> {
    bytes.choose(&NAMES).copied()
}

fn text(bytes: &mut Unstructured<'_>) -> Result<String> {
    Ok(documents::string(bytes)?.repeat(*bytes.choose(&REPEATS)?))
}

/// The bits of an integer of any length.
fn integer(bytes: &mut Unstructured<'_>) -> Result<u128> {
    Ok(u128::arbitrary(bytes)? >> bytes.int_in_range(0..=127)?)
}

/// A float of few binary places: often right between two decimals of so many digits.
fn halfway(bytes: &mut Unstructured<'_>) -> Result<Node> {
    let (odd, places) = (u16::arbitrary(bytes)?, bytes.int_in_range(0..=30)?);
    Ok(if bool::arbitrary(bytes)? {
        Node::F32(f32::from(odd) / 2_f32.powi(places))
    } else {
        Node::F64(f64::from(odd) / 2_f64.powi(places))
    })
}

fn raw(bytes: &mut Unstructured<'_>) -> Result<Box<RawValue>> {
    let seed = u64::arbitrary(bytes)?;
    let json = documents::tree(bytes, 2)?.spelled(&mut Choices(seed));
    Ok(RawValue::from_string(json).expect("a spelling is JSON"))
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unit => s.serialize_unit(),
            Self::Bool(value) => s.serialize_bool(*value),
            Self::Integer(bits, integer) => integer.serialize(*bits, s),
            Self::F32(value) => s.serialize_f32(*value),
            Self::F64(value) => s.serialize_f64(*value),
            Self::Char(value) => s.serialize_char(*value),
            Self::Text(text) => s.serialize_str(text),
            Self::Bytes(bytes) => s.serialize_bytes(bytes),
            Self::Shown(shown) => s.collect_str(shown),
            Self::Raw(raw) => raw.serialize(s),
            Self::Refused => Err(S::Error::custom(REFUSED)),
            Self::None => s.serialize_none(),
            Self::Some(node) => s.serialize_some(node),
            Self::UnitStruct => s.serialize_unit_struct("Unit"),
            Self::UnitVariant(name) => s.serialize_unit_variant("Enum", 0, name),
            Self::NewtypeStruct(node) => s.serialize_newtype_struct("Newtype", node),
            Self::NewtypeVariant(name, node) => s.serialize_newtype_variant("Enum", 1, name, node),
            _ => self.serialize_contents(s),
        }
    }
}

impl Integer {
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are asked for")]
    fn serialize<S: Serializer>(self, bits: u128, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::I8 => s.serialize_i8((bits as u8).cast_signed()),
            Self::I16 => s.serialize_i16((bits as u16).cast_signed()),
            Self::I32 => s.serialize_i32((bits as u32).cast_signed()),
            Self::I64 => s.serialize_i64((bits as u64).cast_signed()),
            Self::I128 => s.serialize_i128(bits.cast_signed()),
            Self::U8 => s.serialize_u8(bits as u8),
            Self::U16 => s.serialize_u16(bits as u16),
            Self::U32 => s.serialize_u32(bits as u32),
            Self::U64 => s.serialize_u64(bits as u64),
            Self::U128 => s.serialize_u128(bits),
        }
    }
}

/// Tells a container to the one of `serde`'s methods that takes it, and all it holds to another.
macro_rules! tell {
    ($open:expr, $add:ident, $contents:expr) => {{
        let mut open = $open?;
        for item in $contents {
            tell!(@ $add open item);
        }
        open.end()
    }};
    (@ serialize_element $open:ident $item:ident) => { $open.serialize_element($item)? };
    (@ serialize_entry $open:ident $item:ident) => { $open.serialize_entry(&$item.0, &$item.1)? };
    (@ serialize_item $open:ident $item:ident) => { $open.serialize_field($item)? };
    (@ serialize_field $open:ident $item:ident) => { $open.serialize_field($item.0, &$item.1)? };
}

impl Node {
    /// Tells one of the values that hold many.
    fn serialize_contents<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Seq(nodes) => tell!(s.serialize_seq(None), serialize_element, nodes),
            Self::Tuple(nodes) => tell!(s.serialize_tuple(nodes.len()), serialize_element, nodes),
            Self::TupleStruct(nodes) => {
                tell!(s.serialize_tuple_struct("Tuple", nodes.len()), serialize_item, nodes)
            }
            Self::TupleVariant(name, nodes) => {
                let open = s.serialize_tuple_variant("Enum", 2, name, nodes.len());
                tell!(open, serialize_item, nodes)
            }
            Self::Map(members) => tell!(s.serialize_map(None), serialize_entry, members),
            Self::Struct(fields) => {
                tell!(s.serialize_struct("Struct", fields.len()), serialize_field, fields)
            }
            Self::StructVariant(name, fields) => {
                let open = s.serialize_struct_variant("Enum", 3, name, fields.len());
                tell!(open, serialize_field, fields)
            }
            leaf => unreachable!("{leaf:?} holds nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::documents::tests::noise;

    /// The kinds of value, by their names.
    const KINDS: [&str; 24] = [
        "Unit",
        "Bool",
        "Integer",
        "F32",
        "F64",
        "Char",
        "Text",
        "Bytes",
        "Shown",
        "Raw",
        "Refused",
        "None",
        "Some",
        "UnitStruct",
        "UnitVariant",
        "NewtypeStruct",
        "NewtypeVariant",
        "Seq",
        "Tuple",
        "TupleStruct",
        "TupleVariant",
        "Map",
        "Struct",
        "StructVariant",
    ];

    #[test]
    fn every_kind_of_value_is_made_and_most_have_a_text() {
        let (mut kinds, mut texts, mut float_keys, mut deep) = (BTreeMap::new(), 0, 0, 0);
        for seed in 0..4_000 {
            let node = Node::new(&mut Unstructured::new(&noise(seed, 300)))
                .expect("no end of bytes is an error");
            let words = format!("{node:?}");
            for kind in words.split(|letter: char| !letter.is_alphanumeric()) {
                *kinds.entry(kind.to_owned()).or_insert(0) += 1;
            }
            texts += i32::from(serde_json::to_string(&node).is_ok());
            float_keys += i32::from(node.has_float_key());
            deep += i32::from(words.starts_with(&"TupleVariant(\"b\", [".repeat(60)));
        }
        for kind in KINDS {
            assert!(kinds.get(kind).is_some_and(|count| *count > 20), "{kind}: {kinds:?}");
        }
        assert!(texts > 3_000, "{texts}");
        assert!(float_keys > 0 && deep > 100, "{float_keys} and {deep}");
    }
}
