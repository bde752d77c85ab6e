//! The codecs as a whole: against themselves, against hostile bytes, and against real Python.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod codec;
mod frames;
mod hostile;
mod json;
mod peer;
mod python;
mod values;
