//! The JSON view of a value.
