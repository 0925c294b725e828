//! An agent's settings: a file of JSON with comments that lists the hooks.
//!
//! Settings are edited as text, because a JSON library would change numbers, order, comments and line ends. New
//! entries come last, because Codex remembers its trust by position.
//!
//! The concrete syntax tree of `jsonc-parser` 0.34 does not replace `splice`. Its `append` spreads a container that is on
//! one line over several, and `remove` leaves the line breaks. So 7 of the settings in `install/laws.txt` that must come
//! back byte for byte do not, for example `{"model":"opus"}`, and a comment behind a removed last item is lost.

mod document;
mod file;
mod line;
mod splice;

pub(crate) use document::{Entry, installed, listed, meaning, uninstalled};
pub(crate) use file::{Copy, Settings};
pub(crate) use line::Line;

/// Returns the boolean at a JSON pointer in settings, if there is one.
pub(crate) fn switch(settings: &str, pointer: &str) -> Option<bool> {
    meaning(settings)?.pointer(pointer)?.as_bool()
}
