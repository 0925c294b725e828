//! A masked text as a person reads it.

use core::fmt::{self, Write as _};
use core::str;

use super::Shown;
use super::kind::Mask;
use super::pieces::{Pieces, Sink};

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer { f, result: Ok(()) };
        Pieces::new(self.masker, self.text.as_bytes()).walk(&mut writer);
        writer.result
    }
}

struct Writer<'w, 'f> {
    f: &'w mut fmt::Formatter<'f>,
    result: fmt::Result,
}

impl Writer<'_, '_> {
    fn write(&mut self, text: &str) {
        self.result = self.result.and_then(|()| self.f.write_str(text));
    }
}

impl Sink for Writer<'_, '_> {
    fn text(&mut self, text: &[u8]) {
        // A piece of a text ends before or behind an ASCII character.
        self.write(str::from_utf8(text).unwrap_or_default());
    }

    fn number(&mut self, digits: &[u8]) {
        self.text(digits);
    }

    fn masked(&mut self, mask: Option<Mask>) {
        let name = mask.map_or("counter", Mask::name);
        self.result = self.result.and_then(|()| self.f.write_char('<'));
        self.write(name);
        self.result = self.result.and_then(|()| self.f.write_char('>'));
    }
}
