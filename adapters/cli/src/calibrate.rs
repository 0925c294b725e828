//! Scores policies on labelled runs and fits them: `unstuck eval` and `unstuck tune`.

pub(crate) mod digested;
pub(crate) mod eval;
pub(crate) mod figures;
pub(crate) mod fit;
pub(crate) mod labels;
pub(crate) mod options;
pub(crate) mod score;
pub(crate) mod tune;
