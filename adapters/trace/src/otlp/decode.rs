//! Decodes spans from OTLP's JSON, as SDKs, collectors and trace stores write it.
//!
//! Writers differ: 64-bit numbers are strings or numbers, enumerations are names or numbers, ids are in
//! hexadecimal digits or in base64, and some writers keep the names of the protobuf fields
//! (`resource_spans`).
//!
//! A request is read in one pass. The text was checked before, so that a broken one delivers no span.
//! Of a member that occurs twice, the last one counts, as in protobuf.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::dialect::{is_read, is_read_of_resource};
use super::name::cut_names;
use super::{Room, Span, SpanEvent, Status};
use crate::field::{check, kind_of, text_of_json};
use crate::format::RESOURCES;
use crate::pairing::digest;
use crate::problem::ProblemKind;
use crate::pull::Pull;

/// The names of the lists of a resource and of a scope.
const SCOPES: &[&str] = &["scopeSpans", "scope_spans", "instrumentationLibrarySpans"];
const SPANS: &[&str] = &["spans"];

/// The name of the list of a request in problems.
const FIELD: &str = "resourceSpans";

/// The names of what a resource and a scope have beside their lists.
const RESOURCE: &[&str] = &["resource"];
const SCOPE: &[&str] = &["scope", "instrumentationLibrary"];

/// The lists of requests with other signals, which a collector writes into the same file.
const OTHERS: &[&str] = &["resourceLogs", "resourceMetrics"];

/// Decodes one `ExportTraceServiceRequest`, an array of them, or an array of `resourceSpans`, and delivers
/// its spans in the order of the text. Returns the number of spans that could not be decoded, because
/// they have no id or are no objects.
///
/// # Errors
///
/// Returns an error if the text is not UTF-8, not JSON, or has no list of `resourceSpans`.
pub fn spans_of_json(json: &[u8], each: &mut dyn FnMut(Span)) -> Result<usize, ProblemKind> {
    let json = str::from_utf8(json)
        .map_err(|error| ProblemKind::NotUtf8 { column: error.valid_up_to() + 1 })?;
    check(json)?;
    let mut decoder = Decoder::new(json, each);
    if decoder.json.enter(b'[') {
        while decoder.json.goes_on() {
            decoder.request()?;
        }
    } else {
        decoder.request()?;
    }
    Ok(decoder.broken)
}

/// Decodes an object with `resourceSpans`, or an element of that list. The text was checked to be JSON.
pub(crate) fn checked_request(
    json: &str,
    each: &mut dyn FnMut(Span),
) -> Result<usize, ProblemKind> {
    let mut decoder = Decoder::new(json, each);
    decoder.request()?;
    Ok(decoder.broken)
}

/// A place in a request, from which on its spans are to be delivered.
struct Decoder<'j, 's> {
    json: Pull<'j>,
    /// The room for attributes and events. Those that do not fit are left out.
    room: Room,
    each: &'s mut dyn FnMut(Span),
    /// The number of spans that could not be decoded.
    broken: usize,
}

impl<'j, 's> Decoder<'j, 's> {
    fn new(json: &'j str, each: &'s mut dyn FnMut(Span)) -> Self {
        Self { json: Pull::new(json), room: Room::for_request(json.len()), each, broken: 0 }
    }

    /// Passes an object with `resourceSpans`, or an element of that list.
    fn request(&mut self) -> Result<(), ProblemKind> {
        let begin = self.json;
        if !self.json.enter(b'{') {
            return Err(ProblemKind::NotAnObject { found: kind_of(self.json.value()) });
        }
        let (mut is_request, mut is_other) = (false, false);
        while let Some(key) = self.json.key() {
            let is_absent = self.json.peek() == Some(b'n');
            let is = |names: &[&str]| !is_absent && names.contains(&&*key);
            if is(SCOPES) {
                self.json = begin;
                self.resource();
                return Ok(());
            }
            if is(RESOURCES) {
                is_request = true;
                if self.json.peek() != Some(b'[') {
                    return Err(ProblemKind::WrongType { field: FIELD, expected: "an array" });
                }
                self.list(Self::resource);
            } else {
                is_other |= is(OTHERS);
                self.json.skip();
            }
        }
        let missing = ProblemKind::Missing { record: "a request of OTLP", field: FIELD };
        if is_request || is_other { Ok(()) } else { Err(missing) }
    }

    /// Passes the spans of one resource.
    fn resource(&mut self) {
        self.headed(RESOURCE, Self::attributes_of_resource, SCOPES, |decoder, resource| {
            decoder.headed(SCOPE, Self::name_of_scope, SPANS, |decoder, scope| {
                match decoder.span(resource, scope) {
                    Some(span) => (decoder.each)(span),
                    None => decoder.broken += 1,
                }
            });
        });
    }

    /// Passes an object with a list whose elements need another member of it, the head. If the head comes behind
    /// the list, the list is read at the end.
    fn headed<H: Default>(
        &mut self,
        head: &[&str],
        read: fn(&mut Self) -> H,
        list: &[&str],
        mut element: impl FnMut(&mut Self, &H),
    ) {
        if !self.json.enter(b'{') {
            self.json.skip();
            self.broken += 1;
            return;
        }
        let (mut found, mut passed) = (None, None);
        while let Some(key) = self.json.key() {
            if head.contains(&&*key) {
                found = Some(read(self));
                continue;
            }
            match &found {
                Some(head) if list.contains(&&*key) => self.list(|decoder| element(decoder, head)),
                _ => {
                    passed = passed.or(list.contains(&&*key).then_some(self.json));
                    self.json.skip();
                }
            }
        }
        if let Some(place) = passed {
            let end = core::mem::replace(&mut self.json, place);
            let head = found.unwrap_or_default();
            self.list(|decoder| element(decoder, &head));
            self.json = end;
        }
    }

    /// Passes a list. Any other value has no elements.
    fn list(&mut self, mut element: impl FnMut(&mut Self)) {
        if !self.json.enter(b'[') {
            return self.json.skip();
        }
        while self.json.goes_on() {
            element(self);
        }
    }

    fn attributes_of_resource(&mut self) -> Arc<Map<String, Value>> {
        let mut attributes = Map::new();
        self.members(|decoder, key| match key {
            "attributes" => attributes = decoder.attributes(is_read_of_resource),
            _ => decoder.json.skip(),
        });
        cut_names(&mut attributes);
        Arc::new(attributes)
    }

    fn name_of_scope(&mut self) -> Arc<str> {
        let mut name = None;
        self.members(|decoder, key| match key {
            "name" => name = decoder.json.string(),
            _ => decoder.json.skip(),
        });
        name.unwrap_or_default().into()
    }

    /// Passes an object, where `member` passes the value of each member. Returns `false` for any other value.
    fn members(&mut self, mut member: impl FnMut(&mut Self, &str)) -> bool {
        if !self.json.enter(b'{') {
            self.json.skip();
            return false;
        }
        while let Some(key) = self.json.key() {
            member(self, &key);
        }
        true
    }

    /// Passes a span. Returns `None` if it has no id.
    fn span(&mut self, resource: &Arc<Map<String, Value>>, scope: &Arc<str>) -> Option<Span> {
        let before = self.room;
        let (mut trace, mut id) = (None, None);
        let mut span = Span::empty(resource, scope);
        self.members(|decoder, key| match key {
            "traceId" | "trace_id" => trace = decoder.id(),
            "spanId" | "span_id" => id = decoder.id(),
            "parentSpanId" | "parent_span_id" => span.parent = decoder.id(),
            "name" => span.name = decoder.text(),
            "startTimeUnixNano" | "start_time_unix_nano" => span.begin = decoder.number(),
            "endTimeUnixNano" | "end_time_unix_nano" => span.end = decoder.number(),
            "attributes" => span.attributes = decoder.attributes(is_read),
            "events" => {
                span.events.clear();
                decoder.list(|decoder| span.events.extend(decoder.event()));
            }
            "status" => (span.status, span.message) = decoder.status(),
            _ => decoder.json.skip(),
        });
        let (Some(trace), Some(id)) = (trace, id) else {
            self.room = before;
            return None;
        };
        Some(Span { trace, id, end: span.end.max(span.begin), ..span })
    }

    /// Passes an event. Returns `None` if it has no name, or if there is no room for it.
    fn event(&mut self) -> Option<SpanEvent> {
        let before = self.room;
        if self.json.peek() != Some(b'{') || !self.room.event() {
            self.json.skip();
            return None;
        }
        let (mut name, mut time, mut attributes) = (None, 0, Map::new());
        self.members(|decoder, key| match key {
            "name" => name = decoder.json.string(),
            "timeUnixNano" | "time_unix_nano" => time = decoder.number(),
            "attributes" => attributes = decoder.attributes(is_read),
            _ => decoder.json.skip(),
        });
        if name.is_none() {
            self.room = before;
        }
        Some(SpanEvent { name: name?.into_owned(), time, attributes })
    }

    /// Passes the status of a span, and returns it with its message.
    fn status(&mut self) -> (Status, String) {
        let (mut code, mut message) = ("", String::new());
        self.members(|decoder, key| match key {
            "code" => code = decoder.json.value(),
            "message" => message = decoder.text(),
            _ => decoder.json.skip(),
        });
        let status = match text_of_json(code).as_deref() {
            Some("STATUS_CODE_OK" | "Ok" | "OK") => Status::Ok,
            Some("STATUS_CODE_ERROR" | "Error" | "ERROR") => Status::Error,
            Some(_) | None => Status::of_code(number(code).try_into().unwrap_or(0)),
        };
        (status, message)
    }

    /// Passes a string, and returns its text. Any other value has none.
    fn text(&mut self) -> String {
        self.json.string().unwrap_or_default().into_owned()
    }

    fn number(&mut self) -> u64 {
        number(self.json.value())
    }

    /// Passes an id: hexadecimal digits, or base64 as the JSON of protobuf has bytes. An id of zeros is none.
    fn id<const N: usize>(&mut self) -> Option<[u8; N]> {
        let text = self.json.string()?;
        let id = if text.len() == 2 * N { of_hexadecimal(&text) } else { of_base64(&text) };
        id.filter(|id| id.iter().any(|byte| *byte != 0))
    }

    /// Passes attributes, and returns those that are wanted. Some stores have them in an object and not in a list.
    fn attributes(&mut self, is_wanted: fn(&str) -> bool) -> Map<String, Value> {
        let mut attributes = Map::new();
        if self.json.peek() == Some(b'{') {
            let all = Some(self.json.value()).filter(|json| self.room.can_hold(json));
            let all = all.and_then(|json| serde_json::from_str::<Map<String, Value>>(json).ok());
            let wanted = all.unwrap_or_default().into_iter().filter(|(key, _)| is_wanted(key));
            attributes.extend(wanted.filter(|(_, value)| self.room.value(value)));
        } else {
            self.list(|decoder| attributes.extend(decoder.attribute(is_wanted)));
        }
        attributes
    }

    /// Passes an attribute, and returns it if it is wanted and there is room for it.
    fn attribute(&mut self, is_wanted: fn(&str) -> bool) -> Option<(String, Value)> {
        let (mut key, mut value, mut passed) = (None, None, None);
        self.members(|decoder, name| match name {
            "key" => key = decoder.json.string().filter(|key| is_wanted(key)),
            "value" if key.is_some() => value = decoder.any_value(),
            "value" => {
                passed = Some(decoder.json);
                decoder.json.skip();
            }
            _ => decoder.json.skip(),
        });
        let key = key?.into_owned();
        // A value before its key was passed.
        if let Some(place) = passed {
            let end = core::mem::replace(&mut self.json, place);
            value = self.any_value();
            self.json = end;
        }
        Some((key, value?))
    }

    /// Passes an `AnyValue`, and returns its JSON if there is room for it.
    fn any_value(&mut self) -> Option<Value> {
        let mut place = self.json;
        let is_null = place.peek() == Some(b'n');
        let mut text = None;
        // Mostly, it is a string, and only here may it be half a character.
        self.members(|decoder, key| match key {
            "stringValue" | "string_value" => text = decoder.json.string(),
            _ => decoder.json.skip(),
        });
        if text.is_some() || is_null {
            return text.map(|text| Value::String(text.into_owned()));
        }
        let value = Some(place.value()).filter(|json| self.room.can_hold(json));
        let value = plain(serde_json::from_str(value?).ok()?);
        Some(value).filter(|value| self.room.value(value))
    }
}

/// Returns a whole number, which may be in a string. Any other value is 0.
fn number(json: &str) -> u64 {
    json.trim_matches('"').parse().unwrap_or(0)
}

/// Returns an id for a text: its hexadecimal digits, such as those of a UUID, or else a digest of the text.
pub(crate) fn id_of_text<const N: usize>(text: &str) -> [u8; N] {
    let digits = text.trim_start_matches("0x").replace('-', "");
    let id = Some(digits).filter(|digits| digits.len() == 2 * N);
    id.and_then(|digits| of_hexadecimal(&digits)).unwrap_or_else(|| {
        let digest = digest(text).to_be_bytes();
        core::array::from_fn(|place| digest[place % digest.len()])
    })
}

fn of_hexadecimal<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut id = [0; N];
    let (pairs, _) = text.as_bytes().as_chunks::<2>();
    for (byte, pair) in id.iter_mut().zip(pairs) {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
    }
    Some(id)
}

fn of_base64<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.trim_end_matches('=').as_bytes();
    if digits.len() != (N * 8).div_ceil(6) {
        return None;
    }
    let (mut id, mut at, mut bits, mut held) = ([0; N], 0, 0_u32, 0_u8);
    for digit in digits {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            if let Some(byte) = id.get_mut(at) {
                *byte = (bits >> held).to_le_bytes()[0];
            }
            at += 1;
        }
    }
    Some(id)
}

/// Makes plain JSON of an `AnyValue`. `serde_json` limits its depth.
fn plain(value: Value) -> Value {
    let Value::Object(mut fields) = value else { return value };
    let mut take = |names: [&str; 2]| names.into_iter().find_map(|name| fields.remove(name));
    if let Some(value) = take(["boolValue", "bool_value"])
        .or_else(|| take(["stringValue", "string_value"]))
        .or_else(|| take(["doubleValue", "double_value"]))
        .or_else(|| take(["bytesValue", "bytes_value"]))
    {
        return value;
    }
    if let Some(value) = take(["intValue", "int_value"]) {
        let parsed = value.as_str().and_then(|text| text.parse::<i64>().ok());
        return parsed.map_or(value, Value::from);
    }
    if let Some(Value::Object(mut list)) = take(["arrayValue", "array_value"]) {
        let values = elements_of(list.remove("values"));
        return values.into_iter().map(plain).collect();
    }
    if let Some(Value::Object(mut list)) = take(["kvlistValue", "kvlist_value"]) {
        let members = elements_of(list.remove("values"));
        return Value::Object(members.into_iter().filter_map(member).collect());
    }
    Value::Null
}

/// Returns a member of a `kvlistValue`.
fn member(value: Value) -> Option<(String, Value)> {
    let Value::Object(mut fields) = value else { return None };
    let Some(Value::String(key)) = fields.remove("key") else { return None };
    Some((key, fields.remove("value").map_or(Value::Null, plain)))
}

fn elements_of(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(elements)) => elements,
        _ => Vec::new(),
    }
}
