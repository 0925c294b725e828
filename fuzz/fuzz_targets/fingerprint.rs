//! Runs libFuzzer on the check `fingerprint`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| unstuck_checks::fingerprint::check(bytes));
