//! The presets, held to the table of their definitions: by cases of this tree, and by the
//! design's vectors where they are present.

mod run;
mod situations;
#[path = "../support/cases.rs"]
mod support;
mod table;
mod vectors;
