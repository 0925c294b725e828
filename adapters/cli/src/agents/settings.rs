//! An agent's settings: a file of JSON with comments that lists the hooks.
//!
//! Settings are edited as text, because a JSON library would change numbers, order, comments and line ends. New
//! entries come last, because Codex remembers its trust by position.

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
