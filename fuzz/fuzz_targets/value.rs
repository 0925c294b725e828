//! Gives libFuzzer the check `value`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| unstuck_checks::value::check(bytes));
