//! The memory that lists and objects in the attributes of a request may take.

use serde_json::Value;

/// The least room, in bytes. Some ten thousand messages with a few parts each fit.
const ROOM_MIN: usize = 64 << 20;

/// The room for each byte of a longer request.
const PER_BYTE: usize = 4;

/// The bytes of an element of a list, of a member of an object, and of an object's first members.
const ELEMENT: usize = 64;
const MEMBER: usize = 128;
const OBJECT: usize = 640;

/// The room for the lists, objects and events in one request.
///
/// Two bytes of an empty value become 64 in memory, and a small object takes 640. So a short request could
/// fill the memory. A decoder takes room for each value, and leaves out an attribute that does not fit, because
/// a part of it may equal a part of another one.
///
/// ```
/// use unstuck_trace::otlp::Room;
///
/// let mut room = Room::for_request(1000);
/// let before = room;
/// while room.element() {}
/// assert!(room.is_exceeded());
/// // Without the attribute, there is as much room as before.
/// room = before;
/// assert!(room.object() && !room.is_exceeded());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Room {
    whole: usize,
    left: usize,
    is_exceeded: bool,
}

impl Room {
    /// Returns the room for a request of this length: four times as much, and at least 64 MiB.
    pub const fn for_request(length: usize) -> Self {
        let long = length.saturating_mul(PER_BYTE);
        let whole = if long > ROOM_MIN { long } else { ROOM_MIN };
        Self { whole, left: whole, is_exceeded: false }
    }

    /// Takes room for an element of a list. Returns whether it fits.
    pub const fn element(&mut self) -> bool {
        self.take(ELEMENT)
    }

    /// Takes room for a member of an object. Returns whether it fits.
    pub const fn member(&mut self, key: &str) -> bool {
        self.take(MEMBER + key.len())
    }

    /// Takes room for an object with members. Returns whether it fits.
    pub const fn object(&mut self) -> bool {
        self.take(OBJECT)
    }

    /// Takes room for an event. If it does not fit, the event alone is left out.
    pub const fn event(&mut self) -> bool {
        let left = self.left.checked_sub(OBJECT);
        if let Some(left) = left {
            self.left = left;
        }
        left.is_some()
    }

    /// Returns whether a part of an attribute did not fit.
    pub const fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }

    const fn take(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => self.is_exceeded = true,
        }
        !self.is_exceeded
    }

    /// Takes room for a value with all that is in it. If it does not fit, nothing is taken.
    pub(super) fn value(&mut self, value: &Value) -> bool {
        let before = *self;
        let fits = self.inner(value);
        if !fits {
            *self = before;
        }
        fits
    }

    /// Takes room for what is in a value. `serde_json` limits its depth.
    fn inner(&mut self, value: &Value) -> bool {
        match value {
            Value::Array(list) => list.iter().all(|element| self.element() && self.inner(element)),
            Value::Object(members) if !members.is_empty() => {
                self.object()
                    && members.iter().all(|(key, value)| self.member(key) && self.inner(value))
            }
            _ => true,
        }
    }

    /// Returns whether a text may be parsed: its values would take at most the whole room.
    pub(super) fn can_hold(&self, json: &str) -> bool {
        let (mut bytes, mut in_text, mut is_escaped) = (0_usize, false, false);
        for byte in json.bytes() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = in_text,
                b'"' => in_text = !in_text,
                b'{' if !in_text => bytes = bytes.saturating_add(OBJECT),
                b'[' | b',' if !in_text => bytes = bytes.saturating_add(MEMBER),
                _ => {}
            }
        }
        bytes <= self.whole
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_takes_room_for_all_that_is_in_it() {
        for (value, bytes) in [
            (json!("a text"), 0),
            (json!({}), 0),
            (json!([[], 1]), 2 * ELEMENT),
            (json!({"a": 1, "bc": [2]}), OBJECT + 2 * MEMBER + 3 + ELEMENT),
        ] {
            let mut room = Room::for_request(0);
            assert!(room.value(&value));
            assert_eq!(ROOM_MIN - room.left, bytes, "{value}");
            room.left = bytes;
            assert!(room.value(&value) && room.left == 0);
            room.left = bytes.saturating_sub(1);
            let left = room.left;
            assert_eq!(room.value(&value), bytes == 0);
            assert!(room.left == left && !room.is_exceeded());
        }
    }

    #[test]
    fn what_is_within_texts_takes_no_room() {
        let room = Room { whole: OBJECT + 2 * MEMBER, left: 0, is_exceeded: false };
        assert!(room.can_hold(r#"{"a":"[[[\"{{{,,,\\","b":[1]}"#));
        assert!(!room.can_hold(r#"{"a":"[[[","b":[1,2]}"#));
        assert!(!room.can_hold(r#"{"a":"\\",{}"#));
    }

    #[test]
    fn a_long_request_has_more_room() {
        assert_eq!(Room::for_request(20 << 20).left, 80 << 20);
        assert_eq!(Room::for_request(usize::MAX).left, usize::MAX);
    }
}
