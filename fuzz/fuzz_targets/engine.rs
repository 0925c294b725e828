//! Runs libFuzzer on the check `engine`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| unstuck_checks::engine::check(bytes));
