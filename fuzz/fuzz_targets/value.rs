//! Any bytes as a value: `RUSTC_BOOTSTRAP=1 cargo fuzz run value corpus/value seeds/value`.
#![no_main]
#![allow(dead_code, reason = "the checks are shared with the test suite")]

#[path = "../../crates/contract/tests/it/hostile.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::check_value(bytes));
