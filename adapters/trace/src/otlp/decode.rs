//! Decodes spans from OTLP's JSON, as SDKs, collectors and trace stores write it.
//!
//! Writers differ: 64-bit numbers are strings or numbers, enumerations are names or numbers, ids are in
//! hexadecimal digits or in base64, and some writers keep the names of the protobuf fields
//! (`resource_spans`).

use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::dialect::{is_read, is_read_of_resource};
use super::name::cut_names;
use super::{Room, Span, SpanEvent, Status};
use crate::field::{Raw, each_element, nested, object, string};
use crate::members;
use crate::problem::ProblemKind;

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
    if !json.trim_start().starts_with('[') {
        return request(json, each);
    }
    if !members::is_json(json) {
        serde_json::from_str::<IgnoredAny>(json).map_err(|error| ProblemKind::not_json(&error))?;
    }
    let (mut broken, mut room) = (0, Room::for_request(json.len()));
    for element in members::each_element(json).map_while(Result::ok) {
        broken += request_within(element.get(), &mut room, each)?;
    }
    Ok(broken)
}

/// Decodes an object with `resourceSpans`, or an element of that list.
pub(crate) fn request(json: &str, each: &mut dyn FnMut(Span)) -> Result<usize, ProblemKind> {
    request_within(json, &mut Room::for_request(json.len()), each)
}

/// Decodes a request. Attributes for which there is no room are left out.
fn request_within(
    json: &str,
    room: &mut Room,
    each: &mut dyn FnMut(Span),
) -> Result<usize, ProblemKind> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
    struct Request<'a> {
        #[serde(alias = "resource_spans")]
        resource_spans: Raw<'a>,
        resource: Raw<'a>,
        #[serde(alias = "scope_spans", alias = "instrumentationLibrarySpans")]
        scope_spans: Raw<'a>,
        #[serde(alias = "resourceMetrics")]
        resource_logs: Raw<'a>,
    }
    let request = object::<Request<'_>>(json)?;
    if request.resource_spans.is_none() && request.resource_logs.is_some() {
        // A collector writes logs and metrics into the same file.
        return Ok(0);
    }
    if request.scope_spans.is_some() {
        return Ok(of_resource(request.resource, request.scope_spans, room, each));
    }
    let mut broken = 0;
    for element in list(request.resource_spans)? {
        match nested::<Request<'_>>(Some(element)) {
            Some(of) => broken += of_resource(of.resource, of.scope_spans, room, each),
            None => broken += 1,
        }
    }
    Ok(broken)
}

/// Returns the elements of the list of `resourceSpans`.
fn list(raw: Raw<'_>) -> Result<impl Iterator<Item = &RawValue>, ProblemKind> {
    const FIELD: &str = "resourceSpans";
    match raw.map(RawValue::get) {
        None => Err(ProblemKind::Missing { record: "a request of OTLP", field: FIELD }),
        Some(json) if json.starts_with('[') => Ok(each_element(raw)),
        Some(_) => Err(ProblemKind::WrongType { field: FIELD, expected: "an array" }),
    }
}

/// Decodes the spans of one resource.
fn of_resource(
    resource: Raw<'_>,
    scopes: Raw<'_>,
    room: &mut Room,
    each: &mut dyn FnMut(Span),
) -> usize {
    #[derive(Deserialize)]
    struct Resource<'a> {
        #[serde(borrow)]
        attributes: Raw<'a>,
    }
    #[derive(Deserialize)]
    struct Scope<'a> {
        #[serde(borrow)]
        name: Raw<'a>,
    }
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Scoped<'a> {
        #[serde(alias = "instrumentationLibrary")]
        scope: Raw<'a>,
        spans: Raw<'a>,
    }
    let resource = nested::<Resource<'_>>(resource).and_then(|resource| resource.attributes);
    let mut resource = attributes(resource, is_read_of_resource, room);
    cut_names(&mut resource);
    let resource = Arc::new(resource);
    let mut broken = 0;
    for json in each_element(scopes) {
        let Some(of) = nested::<Scoped<'_>>(Some(json)) else {
            broken += 1;
            continue;
        };
        let scope = nested::<Scope<'_>>(of.scope).and_then(|scope| string(scope.name));
        let scope: Arc<str> = scope.unwrap_or_default().into();
        for json in each_element(of.spans) {
            match span(json, &resource, &scope, room) {
                Some(span) => each(span),
                None => broken += 1,
            }
        }
    }
    broken
}

/// Decodes a span. Returns `None` if it has no id.
fn span(
    json: &RawValue,
    resource: &Arc<Map<String, Value>>,
    scope: &Arc<str>,
    room: &mut Room,
) -> Option<Span> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
    struct Fields<'a> {
        #[serde(alias = "trace_id")]
        trace_id: Raw<'a>,
        #[serde(alias = "span_id")]
        span_id: Raw<'a>,
        #[serde(alias = "parent_span_id")]
        parent_span_id: Raw<'a>,
        name: Raw<'a>,
        #[serde(alias = "start_time_unix_nano")]
        start_time_unix_nano: Raw<'a>,
        #[serde(alias = "end_time_unix_nano")]
        end_time_unix_nano: Raw<'a>,
        attributes: Raw<'a>,
        events: Raw<'a>,
        status: Raw<'a>,
    }
    let fields = nested::<Fields<'_>>(Some(json))?;
    let begin = number(fields.start_time_unix_nano);
    let (status, message) = status(fields.status);
    Some(Span {
        trace: id::<16>(fields.trace_id)?,
        id: id::<8>(fields.span_id)?,
        parent: id::<8>(fields.parent_span_id),
        name: string(fields.name).unwrap_or_default().into_owned(),
        begin,
        end: number(fields.end_time_unix_nano).max(begin),
        status,
        message,
        attributes: attributes(fields.attributes, is_read, room),
        events: each_element(fields.events).filter_map(|json| event(json, room)).collect(),
        resource: Arc::clone(resource),
        scope: Arc::clone(scope),
    })
}

/// Decodes an event. Returns `None` if it has no name, or if there is no room for it.
fn event(json: &RawValue, room: &mut Room) -> Option<SpanEvent> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
    struct Fields<'a> {
        name: Raw<'a>,
        #[serde(alias = "time_unix_nano")]
        time_unix_nano: Raw<'a>,
        attributes: Raw<'a>,
    }
    let fields = nested::<Fields<'_>>(Some(json))?;
    let name = string(fields.name).filter(|_| room.event())?.into_owned();
    Some(SpanEvent {
        name,
        time: number(fields.time_unix_nano),
        attributes: attributes(fields.attributes, is_read, room),
    })
}

/// Returns the status of a span and its message.
fn status(raw: Raw<'_>) -> (Status, String) {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Fields<'a> {
        code: Raw<'a>,
        message: Raw<'a>,
    }
    let Some(fields) = nested::<Fields<'_>>(raw) else { return (Status::Unset, String::new()) };
    let status = match string(fields.code).as_deref() {
        Some("STATUS_CODE_OK" | "Ok" | "OK") => Status::Ok,
        Some("STATUS_CODE_ERROR" | "Error" | "ERROR") => Status::Error,
        Some(_) | None => Status::of_code(number(fields.code).try_into().unwrap_or(0)),
    };
    (status, string(fields.message).unwrap_or_default().into_owned())
}

/// Returns the whole number in a field, which may be in a string. Any other field is 0.
fn number(raw: Raw<'_>) -> u64 {
    let Some(json) = raw.map(RawValue::get) else { return 0 };
    json.trim_matches('"').parse().unwrap_or(0)
}

/// Returns the id in a field: hexadecimal digits, or base64 as the JSON of protobuf has bytes. An id of
/// zeros is none.
fn id<const N: usize>(raw: Raw<'_>) -> Option<[u8; N]> {
    let text = string(raw)?;
    let id = if text.len() == 2 * N { of_hexadecimal(&text) } else { of_base64(&text) };
    id.filter(|id| id.iter().any(|byte| *byte != 0))
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

/// Returns the attributes that are wanted. Some stores have them in an object and not in a list.
fn attributes(raw: Raw<'_>, is_wanted: fn(&str) -> bool, room: &mut Room) -> Map<String, Value> {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Attribute<'a> {
        key: Raw<'a>,
        value: Raw<'a>,
    }
    let Some(json) = raw.map(RawValue::get) else { return Map::new() };
    if json.starts_with('{') {
        let all = Some(json).filter(|json| room.can_hold(json));
        let all = all.and_then(|json| serde_json::from_str::<Map<String, Value>>(json).ok());
        let wanted = all.unwrap_or_default().into_iter().filter(|(key, _)| is_wanted(key));
        return wanted.filter(|(_, value)| room.value(value)).collect();
    }
    let list = each_element(raw).filter_map(|json| {
        let attribute = nested::<Attribute<'_>>(Some(json))?;
        let key = string(attribute.key).filter(|key| is_wanted(key))?;
        Some((key.into_owned(), any_value(attribute.value?, room)?))
    });
    list.collect()
}

/// Returns the JSON of an `AnyValue`, if there is room for it.
fn any_value(raw: &RawValue, room: &mut Room) -> Option<Value> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Fields<'a> {
        #[serde(borrow, alias = "string_value")]
        string_value: Raw<'a>,
    }
    // Mostly, it is a string, and only here may it be half a character.
    if let Some(text) = nested::<Fields<'_>>(Some(raw)).and_then(|of| string(of.string_value)) {
        return Some(Value::String(text.into_owned()));
    }
    let value = Some(raw.get()).filter(|json| room.can_hold(json));
    let value = plain(serde_json::from_str(value?).ok()?);
    Some(value).filter(|value| room.value(value))
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
