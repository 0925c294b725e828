//! Scores policies on labelled runs, makes them as patient as healthy runs require, and says what they would have done
//! in any runs: `unstuck eval`, `unstuck tune` and `unstuck scan --compare`.

pub(crate) mod compare;
pub(crate) mod eval;
pub(crate) mod figures;
mod labels;
pub(crate) mod options;
mod runs;
mod score;
pub(crate) mod tune;
