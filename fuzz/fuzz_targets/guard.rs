//! Runs libFuzzer on the check `guard`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| unstuck_checks::guard::check(bytes));
