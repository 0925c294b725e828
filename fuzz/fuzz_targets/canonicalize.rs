//! Runs libFuzzer on the check `canonicalize`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| unstuck_checks::canonicalize::check(bytes));
