//! Recorded runs as inputs: which there are, and how they are read on several threads.

pub(crate) mod inputs;
pub(crate) mod jobs;
pub(crate) mod progress;
pub(crate) mod reading;
