//! Digests of JSON: one meaning, one fingerprint.
