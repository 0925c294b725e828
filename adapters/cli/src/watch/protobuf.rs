//! Protocol Buffers: the spans of an `ExportTraceServiceRequest`, read in bounded memory, and messages that are written.
//!
//! A library would build the whole message in memory before a limit could apply: two bytes of an empty span become two
//! hundred. Here a message is read one field at a time, without an allocation. Attributes that no dialect reads are
//! skipped, texts are cut, and lists and objects that do not fit are left out. So a request takes no more memory than a
//! few times its own length.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json};
use unstuck_trace::otlp::{Room, Span, SpanEvent, Status, cut_names, is_read, is_read_of_resource};

/// The longest text of an attribute, in bytes. The rest is cut off, which leaves equal texts equal.
pub(super) const TEXT_MAX: usize = 1 << 20;

/// The most attributes of a span or an event that are read. SDKs stop at 128 by default. SDKs that
/// flatten messages into attributes reach some thousand.
const ATTRIBUTES_MAX: usize = 4096;

/// The most events of a span that are read. SDKs stop at 128.
const EVENTS_MAX: usize = 1024;

/// The most lists and objects within each other.
const DEPTH_MAX: usize = 32;

/// Decodes a request and delivers its spans in order. Returns the number of spans that could not be decoded,
/// because they have no id.
///
/// # Errors
///
/// If the message breaks off, or a field has the type of another message. Spans before that place may have
/// been delivered.
pub(super) fn spans_of_protobuf(
    request: &[u8],
    each: &mut dyn FnMut(Span),
) -> Result<usize, Malformed> {
    let (mut broken, mut room) = (0, Room::for_request(request.len()));
    for of_resource in messages(request, 1) {
        let of_resource = of_resource?;
        let mut resource = Map::new();
        for message in messages(of_resource, 1) {
            attributes(message?, 1, &is_read_of_resource, &mut resource, &mut room)?;
        }
        cut_names(&mut resource);
        let resource = Arc::new(resource);
        for of_scope in messages(of_resource, 2) {
            broken += spans_of_scope(of_scope?, &resource, &mut room, each)?;
        }
    }
    Ok(broken)
}

fn spans_of_scope(
    of_scope: &[u8],
    resource: &Arc<Map<String, Json>>,
    room: &mut Room,
    each: &mut dyn FnMut(Span),
) -> Result<usize, Malformed> {
    let mut scope: Arc<str> = "".into();
    for message in messages(of_scope, 1) {
        for name in messages(message?, 1) {
            scope = text(name?)?.into();
        }
    }
    let mut broken = 0;
    for span in messages(of_scope, 2) {
        match self::span(span?, resource, &scope, room)? {
            Some(span) => each(span),
            None => broken += 1,
        }
    }
    Ok(broken)
}

/// Decodes a span. Returns `None` if an id is missing or has another length.
fn span(
    message: &[u8],
    resource: &Arc<Map<String, Json>>,
    scope: &Arc<str>,
    room: &mut Room,
) -> Result<Option<Span>, Malformed> {
    let (mut trace, mut id) = (None, None);
    let mut span = Span::empty(resource, scope);
    let mut count = 0;
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(bytes)) => trace = id_of(bytes),
            (2, Value::Bytes(bytes)) => id = id_of(bytes),
            (4, Value::Bytes(bytes)) => span.parent = id_of(bytes),
            (5, Value::Bytes(name)) => span.name = text(name)?,
            (7, Value::Eight(time)) => span.begin = time,
            (8, Value::Eight(time)) => span.end = time,
            (9, Value::Bytes(attribute)) if count < ATTRIBUTES_MAX => {
                count += usize::from(add(attribute, &is_read, &mut span.attributes, room)?);
            }
            (11, Value::Bytes(event)) if span.events.len() < EVENTS_MAX && room.event() => {
                span.events.push(self::event(event, room)?);
            }
            (15, Value::Bytes(status)) => (span.status, span.message) = self::status(status)?,
            (1 | 2 | 4 | 5 | 7 | 8, _) => return Err(Malformed),
            _ => {}
        }
    }
    let (Some(trace), Some(id)) = (trace, id) else { return Ok(None) };
    Ok(Some(Span { trace, id, ..span }))
}

fn event(message: &[u8], room: &mut Room) -> Result<SpanEvent, Malformed> {
    let mut event = SpanEvent { name: String::new(), time: 0, attributes: Map::new() };
    for field in Fields::of(message) {
        match field? {
            (1, Value::Eight(time)) => event.time = time,
            (2, Value::Bytes(name)) => event.name = text(name)?,
            _ => {}
        }
    }
    attributes(message, 3, &is_read, &mut event.attributes, room)?;
    Ok(event)
}

fn status(message: &[u8]) -> Result<(Status, String), Malformed> {
    let mut status = (Status::Unset, String::new());
    for field in Fields::of(message) {
        match field? {
            (2, Value::Bytes(message)) => status.1 = text(message)?,
            (3, Value::Varint(code)) => {
                status.0 = Status::of_code(i64::try_from(code).unwrap_or_default());
            }
            _ => {}
        }
    }
    Ok(status)
}

/// Adds the wanted attributes in the fields `number` of a message.
fn attributes(
    message: &[u8],
    number: u32,
    is_wanted: &dyn Fn(&str) -> bool,
    all: &mut Map<String, Json>,
    room: &mut Room,
) -> Result<(), Malformed> {
    let mut count = 0;
    for attribute in messages(message, number) {
        if count == ATTRIBUTES_MAX {
            break;
        }
        count += usize::from(add(attribute?, is_wanted, all, room)?);
    }
    Ok(())
}

/// Adds an attribute, if it is wanted and there is room for it. Returns whether it was added.
fn add(
    attribute: &[u8],
    is_wanted: &dyn Fn(&str) -> bool,
    all: &mut Map<String, Json>,
    room: &mut Room,
) -> Result<bool, Malformed> {
    let (mut key, mut value) = (&[][..], None);
    for field in Fields::of(attribute) {
        match field? {
            (1, Value::Bytes(bytes)) => key = bytes,
            (2, Value::Bytes(bytes)) => value = Some(bytes),
            _ => {}
        }
    }
    let key = str::from_utf8(key).map_err(|_| Malformed)?;
    let Some(value) = value.filter(|_| is_wanted(key)) else { return Ok(false) };
    let before = *room;
    let value = any_value(value, DEPTH_MAX, room)?;
    if room.is_exceeded() {
        *room = before;
        return Ok(false);
    }
    all.insert(key.to_owned(), value);
    Ok(true)
}

/// Decodes an `AnyValue` as JSON. Values that nest too deep become null. A list or an object ends where there is
/// no more room.
fn any_value(message: &[u8], depth: usize, room: &mut Room) -> Result<Json, Malformed> {
    let mut value = Json::Null;
    for field in Fields::of(message) {
        value = match field? {
            (1, Value::Bytes(bytes)) => text(bytes)?.into(),
            (2, Value::Varint(number)) => (number != 0).into(),
            (3, Value::Varint(number)) => number.cast_signed().into(),
            (4, Value::Eight(bits)) => f64::from_bits(bits).into(),
            (5, Value::Bytes(list)) if depth > 0 => array(list, depth - 1, room)?,
            (6, Value::Bytes(list)) if depth > 0 => object(list, depth - 1, room)?,
            (7, Value::Bytes(bytes)) => STANDARD.encode(&bytes[..bytes.len().min(TEXT_MAX)]).into(),
            _ => value,
        };
    }
    Ok(value)
}

fn array(list: &[u8], depth: usize, room: &mut Room) -> Result<Json, Malformed> {
    let mut values = Vec::new();
    for value in messages(list, 1) {
        let value = value?;
        if !room.element() {
            break;
        }
        values.push(any_value(value, depth, room)?);
    }
    Ok(Json::Array(values))
}

fn object(list: &[u8], depth: usize, room: &mut Room) -> Result<Json, Malformed> {
    let mut members = Map::new();
    for member in messages(list, 1) {
        let (mut key, mut value) = (String::new(), Json::Null);
        if members.is_empty() && !room.object() {
            break;
        }
        for field in Fields::of(member?) {
            match field? {
                (1, Value::Bytes(bytes)) => key = text(bytes)?,
                (2, Value::Bytes(bytes)) => value = any_value(bytes, depth, room)?,
                _ => {}
            }
        }
        if !room.member(&key) {
            break;
        }
        members.insert(key, value);
    }
    Ok(Json::Object(members))
}

/// Returns the messages in the fields `number` of a message. Another type in such a field is an error.
fn messages(message: &[u8], number: u32) -> impl Iterator<Item = Result<&[u8], Malformed>> {
    Fields::of(message).filter_map(move |field| match field {
        Ok((of, Value::Bytes(bytes))) if of == number => Some(Ok(bytes)),
        Ok((of, _)) if of == number => Some(Err(Malformed)),
        Ok(_) => None,
        Err(malformed) => Some(Err(malformed)),
    })
}

/// Returns an id of the right length that is not all zeros.
fn id_of<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok().filter(|id| *id != [0; N])
}

/// Returns a text, at most [`TEXT_MAX`] bytes of it.
fn text(bytes: &[u8]) -> Result<String, Malformed> {
    let text = str::from_utf8(bytes).map_err(|_| Malformed)?;
    Ok(beginning(text).to_owned())
}

/// Returns the part of a text that is kept.
fn beginning(text: &str) -> &str {
    if text.len() <= TEXT_MAX {
        return text;
    }
    let end = (0..=TEXT_MAX).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// A field that breaks off, or has a type that no message of OTLP has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value<'a> {
    /// A number of variable length: integers, enumerations, `bool`.
    Varint(u64),
    /// Eight bytes: `fixed64`, `double`.
    Eight(u64),
    /// A text, bytes, or a message.
    Bytes(&'a [u8]),
    /// Four bytes. No field that is read has this type.
    Four,
}

/// The fields of a message, in the order in which they were written.
#[derive(Clone, Debug)]
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    const fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(Malformed)?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed)
    }

    fn field(&mut self) -> Result<(u32, Value<'a>), Malformed> {
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).map_err(|_| Malformed)?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => {
                let bytes = self.take(8)?.try_into().map_err(|_| Malformed)?;
                Value::Eight(u64::from_le_bytes(bytes))
            }
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| Malformed)?;
                Value::Bytes(self.take(length)?)
            }
            5 => {
                self.take(4)?;
                Value::Four
            }
            _ => return Err(Malformed),
        };
        if number == 0 { Err(Malformed) } else { Ok((number, value)) }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// A message that is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    fn key(&mut self, number: u32, wire: u32) {
        self.varint(u64::from(number << 3 | wire));
    }

    fn varint(&mut self, mut number: u64) {
        while number > 0x7f {
            // The lowest seven bits, and the mark that more follow.
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    /// Adds a field with a number of variable length.
    pub(super) fn number(mut self, field: u32, value: u64) -> Self {
        self.key(field, 0);
        self.varint(value);
        self
    }

    /// Adds a field of eight bytes.
    pub(super) fn eight(mut self, field: u32, value: u64) -> Self {
        self.key(field, 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Adds a field with a text or bytes.
    pub(super) fn bytes(mut self, field: u32, value: impl AsRef<[u8]>) -> Self {
        self.key(field, 2);
        self.varint(value.as_ref().len() as u64);
        self.0.extend(value.as_ref());
        self
    }

    /// Adds a field with a message.
    pub(super) fn message(self, field: u32, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::deliver::{attribute, text as of_text};
    use super::*;

    /// Returns a span with an id, and these further fields.
    fn span(fields: impl FnOnce(Message) -> Message) -> Message {
        fields(Message::default().bytes(1, [7; 16]).bytes(2, [8; 8]))
    }

    fn request(spans: &[Message]) -> Vec<u8> {
        let scope = Message::default().message(1, &Message::default().bytes(1, "lib"));
        let of_scope = spans.iter().fold(scope, |all, span| all.message(2, span));
        let unread = attribute("service.name", &of_text("s"));
        let resource = Message::default().message(1, &unread);
        let resource = resource.message(1, &attribute("session.id", &of_text("s")));
        // A writer may put the resource last.
        let of_resource = Message::default().message(2, &of_scope).message(1, &resource);
        Message::default().message(1, &of_resource).into_bytes()
    }

    fn decoded(request: &[u8]) -> Result<(Vec<Span>, usize), Malformed> {
        let mut spans = Vec::new();
        let broken = spans_of_protobuf(request, &mut |span| spans.push(span))?;
        Ok((spans, broken))
    }

    #[test]
    fn every_field_is_read() {
        let key = "gen_ai.tool.call.arguments";
        let list =
            Message::default().message(1, &Message::default().number(3, 1_u64.wrapping_neg()));
        let member = attribute("a", &Message::default().message(5, &list));
        let arguments = Message::default().message(6, &Message::default().message(1, &member));
        let event =
            Message::default().eight(1, 5).bytes(2, "e").message(3, &attribute(key, &of_text("x")));
        let status = Message::default().bytes(2, "no").number(3, 2);
        let span = span(|span| {
            let span = span.bytes(4, [9; 8]).bytes(5, "n").number(6, 1).eight(7, 1).eight(8, 2);
            let span = span.message(9, &attribute(key, &arguments));
            let span = span.message(9, &attribute("unread", &of_text("x")));
            span.message(11, &event).message(15, &status)
        });
        let (spans, broken) = decoded(&request(&[span])).expect("a request");
        assert_eq!((spans.len(), broken), (1, 0));
        let Span {
            trace, id, parent, name, begin, end, status, message, attributes, events, ..
        } = &spans[0];
        assert_eq!((*trace, *id, *parent), ([7; 16], [8; 8], Some([9; 8])));
        assert_eq!((name.as_str(), *begin, *end), ("n", 1, 2));
        assert_eq!((*status, message.as_str()), (Status::Error, "no"));
        assert_eq!(Json::Object(attributes.clone()), json!({key: {"a": [-1]}}));
        assert_eq!((events[0].name.as_str(), events[0].time), ("e", 5));
        assert_eq!(Json::Object(events[0].attributes.clone()), json!({key: "x"}));
        assert_eq!(Json::Object((*spans[0].resource).clone()), json!({"session.id": "s"}));
        assert_eq!(&*spans[0].scope, "lib");
    }

    #[test]
    fn spans_without_an_id_are_counted() {
        let none = Message::default().bytes(5, "n");
        let zero = Message::default().bytes(1, [0; 16]).bytes(2, [1; 8]);
        let (spans, broken) =
            decoded(&request(&[none, span(|span| span), zero])).expect("a request");
        assert_eq!((spans.len(), broken), (1, 2));
    }

    #[test]
    fn values_of_each_type_are_json() {
        for (value, expected) in [
            (of_text("é"), json!("é")),
            (Message::default().number(2, 1), json!(true)),
            (Message::default().number(3, 5), json!(5)),
            (Message::default().eight(4, 0.5_f64.to_bits()), json!(0.5)),
            (Message::default().eight(4, f64::NAN.to_bits()), json!(null)),
            (Message::default().bytes(7, [1, 2]), json!("AQI=")),
            (Message::default(), json!(null)),
        ] {
            let value = any_value(&value.into_bytes(), DEPTH_MAX, &mut Room::for_request(0));
            assert_eq!(value, Ok(expected));
        }
    }

    #[test]
    fn large_values_are_bounded() {
        let long = "é".repeat(TEXT_MAX);
        assert_eq!(text(long.as_bytes()).map(|text| text.len()), Ok(TEXT_MAX));
        let mut deep = of_text("x");
        for _ in 0..1000 {
            deep = Message::default().message(5, &Message::default().message(1, &deep));
        }
        let deep =
            any_value(&deep.into_bytes(), DEPTH_MAX, &mut Room::for_request(0)).expect("a value");
        assert_eq!(deep.to_string().matches('[').count(), DEPTH_MAX);
        let events = span(|span| (0..2 * EVENTS_MAX).fold(span, |span, _| span.bytes(11, "")));
        let (spans, _) = decoded(&request(&[events])).expect("a request");
        assert_eq!(spans[0].events.len(), EVENTS_MAX);
    }

    #[test]
    fn all_attributes_of_a_request_share_the_room() {
        let empty = Message::default().bytes(1, "").into_bytes();
        let list = Message::default().bytes(5, empty.repeat(300_000));
        let member = Message::default().message(1, &attribute("", &of_text("")));
        let object = Message::default().bytes(6, member.into_bytes().repeat(150_000));
        for value in [list, object] {
            let spans: Vec<Message> = (0..6)
                .map(|_| {
                    let arguments = attribute("gen_ai.tool.call.arguments", &value);
                    let result = attribute("gen_ai.tool.call.result", &of_text("ok"));
                    span(|span| span.message(9, &arguments).message(9, &result))
                })
                .collect();
            let (spans, _) = decoded(&request(&spans)).expect("a request");
            let attributes = spans.iter().map(|span| span.attributes.len());
            // Arguments that do not fit are left out as a whole. The short results stay.
            let expected = (0..6).map(|n| 1 + usize::from(n < 3));
            assert!(attributes.clone().eq(expected), "{:?}", attributes.collect::<Vec<_>>());
        }
        let events = span(|span| (0..1000).fold(span, |span, _| span.bytes(11, "")));
        let (spans, _) = decoded(&request(&vec![events; 200])).expect("a request");
        let count: usize = spans.iter().map(|span| span.events.len()).sum();
        assert!((100_000..110_000).contains(&count), "{count}");
    }

    #[test]
    fn attributes_of_a_resource_are_read_only_if_they_name_a_session() {
        let of = |key: &str, value: &[u8]| {
            let attribute = Message::default().bytes(1, key).bytes(2, value);
            let resource = Message::default().message(1, &attribute);
            let of_resource = Message::default().message(1, &resource);
            let scope = Message::default().message(2, &span(|span| span));
            let of_resource = of_resource.message(2, &scope);
            decoded(&Message::default().message(1, &of_resource).into_bytes())
        };
        let broken = b"\x0a\x05";
        assert_eq!(of("session.id", broken).err(), Some(Malformed));
        assert!(
            of("process.command_args", broken).is_ok_and(|(spans, _)| spans[0].resource.is_empty())
        );
        let long = of_text(&"x".repeat(1 << 20)).into_bytes();
        let (spans, _) = of("session.id", &long).expect("a request");
        let name = spans[0].resource["session.id"].as_str();
        assert!(name.is_some_and(|name| name.len() == 256), "all spans would copy it");
    }

    #[test]
    fn a_message_of_another_type_is_malformed() {
        for bytes in [&b"\x08\x01"[..], b"{}", b"not protobuf", &[0x0a, 0x05, 0x12]] {
            assert_eq!(decoded(bytes).err(), Some(Malformed), "{bytes:?}");
        }
        assert_eq!(decoded(b"").map(|(spans, broken)| (spans.len(), broken)), Ok((0, 0)));
    }

    proptest! {
        #[test]
        fn a_request_that_is_damaged_is_read_or_refused(at in 0..400_usize, byte in any::<u8>(), tail in vec(any::<u8>(), 0..40)) {
            let arguments = attribute("gen_ai.tool.call.arguments", &of_text("{\"a\":1}"));
            let spans = [span(|span| span.message(9, &arguments)), span(|span| span.bytes(5, "n"))];
            let mut bytes = request(&spans);
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.extend(tail);
            if let Ok((spans, broken)) = decoded(&bytes) {
                prop_assert!(spans.len() + broken <= bytes.len());
            }
        }
    }

    fn read(bytes: &[u8]) -> Result<Vec<(u32, Value<'_>)>, Malformed> {
        Fields::of(bytes).collect()
    }

    #[test]
    fn bytes_of_the_specification_are_read() {
        for (bytes, fields) in [
            (&[][..], Ok(vec![])),
            (&[0x08, 0x96, 0x01], Ok(vec![(1, Value::Varint(150))])),
            (b"\x12\x07testing", Ok(vec![(2, Value::Bytes(b"testing"))])),
            (&[0x19, 1, 0, 0, 0, 0, 0, 0, 0], Ok(vec![(3, Value::Eight(1))])),
            (&[0x25, 1, 2, 3, 4], Ok(vec![(4, Value::Four)])),
            (&[0x08], Err(Malformed)),
            (&[0x08, 0x80], Err(Malformed)),
            (&[0x12, 0x02, 0x00], Err(Malformed)),
            (&[0x19, 1, 2, 3], Err(Malformed)),
            // Groups, the number 0, and a number of more than ten bytes.
            (&[0x0b, 0x0c], Err(Malformed)),
            (&[0x00, 0x00], Err(Malformed)),
            (&[0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], Err(Malformed)),
        ] {
            assert_eq!(read(bytes), fields, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(fields in vec((1_u32..9000, any::<u64>(), vec(any::<u8>(), 0..300)), 0..9)) {
            let mut message = Message::default();
            for (field, number, bytes) in &fields {
                message = message.number(*field, *number).eight(*field, *number).bytes(*field, bytes);
            }
            let bytes = message.into_bytes();
            let expected: Vec<_> = fields.iter().flat_map(|(field, number, bytes)| {
                [Value::Varint(*number), Value::Eight(*number), Value::Bytes(bytes)].map(|value| (*field, value))
            }).collect();
            prop_assert_eq!(read(&bytes), Ok(expected));
        }

        #[test]
        fn any_bytes_have_an_end(bytes in vec(any::<u8>(), 0..400)) {
            prop_assert!(Fields::of(&bytes).count() <= bytes.len());
        }
    }
}
