//! The sessions of coding agents on this machine: what hooks know of them, and the transcripts that agents write.
//!
//! `unstuck status` and `unstuck report` show what hooks know, which is in `agents/state`. It holds no arguments and no
//! results, so none are shown. `unstuck view` and `unstuck scan` read the transcripts, which hold all.

mod line;
pub(crate) mod options;
pub(crate) mod report;
pub(crate) mod status;
pub(crate) mod transcripts;
