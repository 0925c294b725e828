//! Values at random: those that `serde_json` parses to, and those of types that are derived.

use std::collections::BTreeMap;
use std::fmt;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

/// A value of every kind that `serde` knows.
#[derive(Clone, Debug, Serialize)]
pub(crate) enum Node {
    Empty,
    Nothing(()),
    Marker(Marker),
    Flag(bool),
    Narrow(i8, u8, i16, u16, i32, u32),
    Wide(i64, u64, i128, u128),
    Floats(f32, f64),
    Letter(char),
    Text(String),
    Bytes(Bytes),
    Shown(Shown),
    Raw(Box<RawValue>),
    Newtype(Newtype),
    Maybe(Option<Box<Node>>),
    Choice(Option<Colour>),
    List(Vec<Node>),
    Pair(Box<(Node, Node)>),
    Record {
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
        #[serde(rename = "a \"b\"\n")]
        rest: Box<Node>,
    },
    Flat(Flat),
    ByText(BTreeMap<String, Node>),
    ByLetter(BTreeMap<char, Node>),
    ByNumber(BTreeMap<i64, u8>),
    ByWide(BTreeMap<u128, i8>),
    ByFlag(BTreeMap<bool, Option<bool>>),
    ByColour(BTreeMap<Colour, Colour>),
    ByNewtype(BTreeMap<Newtype, String>),
    ByShown(BTreeMap<Shown, Shown>),
    #[serde(untagged)]
    Untagged(Vec<Option<f64>>),
}

/// A structure without contents.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Marker;

/// A structure that counts as what it holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Newtype(Option<String>);

/// Variants without contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) enum Colour {
    #[serde(rename = "é\t")]
    Red,
    Green,
}

/// A structure whose members are not known before.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Flat {
    text: String,
    #[serde(flatten)]
    rest: BTreeMap<String, Node>,
}

/// Bytes that are told as such.
#[derive(Clone, Debug)]
pub(crate) struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

/// A text that is told piece by piece.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shown(pub(crate) Vec<String>);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| f.write_str(piece))
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn texts() -> BoxedStrategy<String> {
    let words =
        vec!["", "a", "path", "seven77", "eight888", "/", "\\", "\"", "\0", "\n", "é", "😂"];
    prop_oneof![
        3 => select(words).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[a-z\n]{250,270}",
    ]
    .boxed()
}

fn shown() -> impl Strategy<Value = Shown> {
    vec(texts(), 0..4).prop_map(Shown)
}

/// Values as `serde_json` parses them.
pub(crate) fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-9..9_i8).prop_map(Value::from),
        any::<f64>().prop_map(|float| Number::from_f64(float).map_or(Value::Null, Value::Number)),
        texts().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 32, 4, |inner| {
        let members = vec((texts(), inner.clone()), 0..4);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::Array),
            members.prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

fn raw() -> impl Strategy<Value = Box<RawValue>> {
    let space = select(vec!["", " ", "\n"]);
    (values(), space).prop_map(|(value, space)| {
        let json = format!("[{space}{value}{space}, 1.50, \"\\/\"]");
        RawValue::from_string(json).expect("JSON")
    })
}

/// Values of every kind that `serde` knows.
pub(crate) fn nodes() -> impl Strategy<Value = Node> {
    leaves().prop_recursive(4, 24, 4, |inner| {
        let list = vec(inner.clone(), 0..4);
        let boxed = inner.clone().prop_map(Box::new);
        let by_text = btree_map(texts(), inner.clone(), 0..4);
        prop_oneof![
            prop::option::of(boxed.clone()).prop_map(Node::Maybe),
            list.prop_map(Node::List),
            (inner.clone(), inner.clone()).prop_map(|pair| Node::Pair(Box::new(pair))),
            (texts(), any::<Option<u64>>(), boxed).prop_map(|(name, limit, rest)| Node::Record {
                name,
                limit,
                rest
            }),
            (texts(), by_text.clone()).prop_map(|(text, rest)| Node::Flat(Flat { text, rest })),
            by_text.prop_map(Node::ByText),
            btree_map(any::<char>(), inner, 0..4).prop_map(Node::ByLetter),
        ]
    })
}

fn leaves() -> impl Strategy<Value = Node> {
    prop_oneof![scalars(), maps()]
}

fn scalars() -> impl Strategy<Value = Node> {
    let newtypes = prop::option::of(texts()).prop_map(Newtype);
    prop_oneof![
        Just(Node::Empty),
        Just(Node::Nothing(())),
        Just(Node::Marker(Marker)),
        any::<bool>().prop_map(Node::Flag),
        any::<(i8, u8, i16, u16, i32, u32)>()
            .prop_map(|(a, b, c, d, e, f)| Node::Narrow(a, b, c, d, e, f)),
        any::<(i64, u64, i128, u128)>().prop_map(|(a, b, c, d)| Node::Wide(a, b, c, d)),
        any::<(f32, f64)>().prop_map(|(a, b)| Node::Floats(a, b)),
        any::<char>().prop_map(Node::Letter),
        texts().prop_map(Node::Text),
        vec(any::<u8>(), 0..20).prop_map(|bytes| Node::Bytes(Bytes(bytes))),
        shown().prop_map(Node::Shown),
        raw().prop_map(Node::Raw),
        newtypes.prop_map(Node::Newtype),
        prop::option::of(colours()).prop_map(Node::Choice),
        vec(any::<Option<f64>>(), 0..4).prop_map(Node::Untagged),
    ]
}

fn colours() -> impl Strategy<Value = Colour> {
    select(vec![Colour::Red, Colour::Green])
}

fn maps() -> impl Strategy<Value = Node> {
    // A key is never `None`, which has no text.
    let keys = texts().prop_map(|text| Newtype(Some(text)));
    prop_oneof![
        btree_map(any::<i64>(), any::<u8>(), 0..4).prop_map(Node::ByNumber),
        btree_map(any::<u128>(), any::<i8>(), 0..4).prop_map(Node::ByWide),
        btree_map(any::<bool>(), any::<Option<bool>>(), 0..3).prop_map(Node::ByFlag),
        btree_map(colours(), colours(), 0..3).prop_map(Node::ByColour),
        btree_map(keys, texts(), 0..4).prop_map(Node::ByNewtype),
        btree_map(shown(), shown(), 0..4).prop_map(Node::ByShown),
    ]
}
