//! Runs libFuzzer on the check `canary`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| unstuck_checks::canary::check(bytes));
