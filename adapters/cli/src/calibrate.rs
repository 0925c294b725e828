//! Scores policies on labelled runs, and makes them as patient as healthy runs require: `unstuck
//! eval` and `unstuck tune`.

pub(crate) mod eval;
mod figures;
mod interval;
mod labels;
pub(crate) mod options;
mod runs;
mod score;
pub(crate) mod tune;
