//! Runs libFuzzer on the check `gossip`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| unstuck_checks::gossip::check(bytes));
