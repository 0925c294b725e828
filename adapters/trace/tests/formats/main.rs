//! Transcripts of every format: `transcripts` has one small case for each trap that real files set, and the others
//! test what no file shows.

mod archives;
mod browser_use;
mod costs;
mod detection;
mod otlp;
mod otlp_limits;
mod properties;
mod reading;
mod real_files;
mod transcripts;
