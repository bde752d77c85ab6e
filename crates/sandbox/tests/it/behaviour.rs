//! What a run promises code that means well, and the operator of it.
