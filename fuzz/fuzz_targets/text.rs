//! Runs libFuzzer on the check `text`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| unstuck_checks::text::check(bytes));
