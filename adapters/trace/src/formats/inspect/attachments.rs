//! Long texts of a sample, which are stored beside its events. The events refer to them by hash.

use core::cell::Cell;
use std::borrow::Cow;
use std::collections::BTreeMap;

use memchr::{memchr, memmem};
use serde_json::value::RawValue;

use crate::field::Raw;
use crate::problem::LINE_BYTES_MAX;

/// The beginning of a text that names an attachment.
const NAME: &str = "\"attachment://";

/// The bytes of attachments that are put into the events of one sample. Real samples name each once or twice.
const RESOLVED_BYTES_MAX: usize = 4 * LINE_BYTES_MAX;

/// The attachments of a sample.
#[derive(Default)]
pub(super) struct Attachments<'a> {
    texts: BTreeMap<Cow<'a, str>, &'a RawValue>,
    /// The bytes that have been put into events.
    resolved: Cell<usize>,
}

impl<'a> Attachments<'a> {
    pub(super) fn new(attachments: Raw<'a>) -> Self {
        let texts = attachments.and_then(|raw| serde_json::from_str(raw.get()).ok());
        Self { texts: texts.unwrap_or_default(), resolved: Cell::new(0) }
    }

    /// Returns a JSON text with the attachments in place of their names. A name stays as it is if its
    /// attachment is missing, or if a sample names too many: a long text that is named a million times
    /// would not fit into memory.
    pub(super) fn resolve<'j>(&self, json: &'j str) -> Cow<'j, str> {
        let mut rest = json;
        let mut resolved = String::new();
        while let Some((before, text, behind)) = self.next(rest) {
            resolved.push_str(before);
            resolved.push_str(text);
            rest = behind;
        }
        if rest.len() == json.len() {
            return Cow::Borrowed(json);
        }
        resolved.push_str(rest);
        Cow::Owned(resolved)
    }

    /// Returns the text before the next name of an attachment, the attachment, and the text behind the name.
    fn next<'j>(&self, json: &'j str) -> Option<(&'j str, &'a str, &'j str)> {
        if self.texts.is_empty() {
            return None;
        }
        memmem::find_iter(json.as_bytes(), NAME).find_map(|at| {
            let behind = json.get(at + NAME.len()..)?;
            let (hash, behind) = behind.split_at_checked(memchr(b'"', behind.as_bytes())?)?;
            let is_within = json.get(..at)?.ends_with('\\') || hash.ends_with('\\');
            let text = self.texts.get(hash)?.get();
            if is_within || !text.starts_with('"') {
                return None;
            }
            let resolved = self.resolved.get().saturating_add(text.len());
            if resolved > RESOLVED_BYTES_MAX {
                return None;
            }
            self.resolved.set(resolved);
            Some((json.get(..at)?, text, behind.get(1..)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{raw, rows};

    /// A case a line: JSON with names of attachments, and with the attachments in their place.
    const NAMED: &str = include_str!("../../../tests/tables/attachments.txt");

    #[test]
    fn names_of_attachments_are_replaced_wherever_they_are_a_whole_text() {
        let json = r#"{"a1":"long \"text\"","b2":"other","a1\\":"x","n":{}}"#;
        let attachments = Attachments::new(raw(json));
        for [json, resolved] in rows(NAMED) {
            assert_eq!(attachments.resolve(&json), resolved);
            assert_eq!(Attachments::default().resolve(&json), json);
        }
    }

    #[test]
    fn a_sample_does_not_grow_without_bound() {
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(1 << 20));
        let attachments = Attachments::new(serde_json::from_str(&long).ok());
        let names = format!("[{}]", ["\"attachment://a\""; 1000].join(","));
        let resolved = attachments.resolve(&names);
        assert!(resolved.len() <= RESOLVED_BYTES_MAX + names.len());
        assert!(resolved.ends_with("\"attachment://a\"]"));
    }
}
