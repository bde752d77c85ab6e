//! One file per attack. Each shows that it is denied, that the host is unharmed, and (through the
//! harness) that the next run in the same session is fine.

mod mounts;
