//! An agent's settings: a file of JSON with comments, in which this program has entries.

mod document;
mod file;
mod line;
mod splice;
mod written;

pub(crate) use document::{Entry, installed, listed, meaning, uninstalled};
pub(crate) use file::{Copy, Settings};
pub(crate) use line::Line;

/// Returns the boolean at a JSON pointer in settings, if there is one.
pub(crate) fn switch(settings: &str, pointer: &str) -> Option<bool> {
    meaning(settings)?.pointer(pointer)?.as_bool()
}
