//! Frames: `u32 LE length | u8 kind | body`.
pub const MAX_FRAME: usize = 8 << 20;
