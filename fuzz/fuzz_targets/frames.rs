//! Any bytes as a stream of frames: `RUSTC_BOOTSTRAP=1 cargo fuzz run frames corpus/frames seeds/frames`.
#![no_main]
#![allow(dead_code, reason = "the checks are shared with the test suite")]

#[path = "../../crates/contract/tests/it/hostile.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::check_frames(bytes));
