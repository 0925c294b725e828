//! An agent's settings: a file of JSON with comments that lists the hooks.

mod document;
mod file;
mod json;
mod line;
mod splice;

pub(crate) use document::{Entry, installed, listed, meaning, uninstalled};
pub(crate) use file::{Copy, Settings};
pub(crate) use line::Line;

/// Returns the boolean at a JSON pointer in settings, if there is one.
pub(crate) fn switch(settings: &str, pointer: &str) -> Option<bool> {
    meaning(settings)?.pointer(pointer)?.as_bool()
}
