//! The presets, held to the table of their definitions: by cases of this tree, and by the
//! design's vectors where they are present.

mod run;
mod situations;
mod table;
#[path = "../support/texts.rs"]
mod texts;
mod vectors;
