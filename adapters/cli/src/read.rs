//! Finds recorded runs and reads them on several threads.

pub(crate) mod inputs;
pub(crate) mod jobs;
pub(crate) mod progress;
