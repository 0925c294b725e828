//! The webhook of a program that is built without servers: it can tell a person on the desktop only.

use crate::agents::state::Entry;
use crate::lacking::how;

pub(super) fn state(_: &str) -> Result<String, String> {
    Err(how("a URL"))
}

pub(super) fn send(_: &str, _: &Entry) -> Result<(), String> {
    Err(how("a webhook"))
}
