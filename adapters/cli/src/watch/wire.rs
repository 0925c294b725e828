//! Reads and writes the wire format of Protocol Buffers, one field at a time.
//!
//! A library would build the whole message in memory before a limit could apply: two bytes of an empty
//! span become two hundred. This reader allocates nothing, so its caller can apply limits.

/// A field that breaks off, or has a type that no message of OTLP has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
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
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) const fn of(message: &'a [u8]) -> Self {
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

    use super::*;

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
