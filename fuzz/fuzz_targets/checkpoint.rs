//! Runs libFuzzer on the check `checkpoint`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| unstuck_checks::checkpoint::check(bytes));
