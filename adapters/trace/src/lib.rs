//! Transcripts of real agents, read as a stream of events.
