//! Runs libFuzzer on the check `trace`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| unstuck_checks::trace::check(bytes));
