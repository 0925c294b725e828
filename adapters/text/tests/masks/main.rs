//! The texts that each mask removes, and the texts that it keeps.

mod cases;
mod labelled;
mod properties;
#[path = "../support/cases.rs"]
mod support;
#[path = "../support/texts.rs"]
mod texts;
