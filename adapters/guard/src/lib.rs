//! Notices when an agent that calls tools is stuck, and gets it out.

#![forbid(unsafe_code)]
