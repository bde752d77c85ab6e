//! Frames: `u32 LE length of what follows | u8 kind | body`, where the body is one encoded value.
//! Refuses a length of zero or beyond [`MAX_FRAME`] as soon as it is read, and takes memory only
//! for bytes that have arrived.

use crate::{
    Value,
    codec::{self, CodecError},
};

/// Longest frame, without its length field.
pub const MAX_FRAME: usize = 8 << 20;

/// Set in the kind of a frame whose body holds no extension tuples: Python need not look for them.
pub const PLAIN: u8 = 0x80;

const LENGTH: usize = 4;
const KIND: usize = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    pub kind: u8,
    pub body: &'a [u8],
}

/// The stream is beyond repair: where its next frame starts is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("a frame without a kind")]
    Empty,
    #[error("a frame of {length} bytes; the limit is {MAX_FRAME}")]
    TooLong { length: usize },
}

/// Appends a frame holding `value`, with [`PLAIN`] set where it applies. After an error `out` is
/// as before.
pub fn write_frame(out: &mut Vec<u8>, kind: u8, value: &Value) -> Result<(), CodecError> {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH + KIND]);
    let written = codec::encode_into(out, value).and_then(|plain| {
        let length = out.len() - start - LENGTH;
        match u32::try_from(length) {
            Ok(prefix) if length <= MAX_FRAME => Ok((plain, prefix)),
            _ => Err(CodecError::TooLong {
                bytes: length,
                limit: MAX_FRAME,
            }),
        }
    });
    match written {
        Ok((plain, length)) => {
            out[start..start + LENGTH].copy_from_slice(&length.to_le_bytes());
            out[start + LENGTH] = if plain { kind | PLAIN } else { kind };
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

/// Cuts a stream of bytes into frames, however the stream was split.
///
/// Either [`push`](Self::push) bytes, or read into [`spare`](Self::spare) and say how many with
/// [`filled`](Self::filled); then take frames until there is none.
#[derive(Debug, Default)]
pub struct FrameReader {
    /// Invariant: `start <= end <= buffer.len()`; received and not yet taken is `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl FrameReader {
    const CHUNK: usize = 16 << 10;

    pub fn new() -> Self {
        Self::default()
    }

    /// Room to read into, never empty. It at most doubles what has been received.
    pub fn spare(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.buffer.len() - self.end < Self::CHUNK / 4 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let wanted = (self.end * 2).max(Self::CHUNK);
            if self.buffer.len() < wanted {
                self.buffer.resize(wanted, 0);
            }
        }
        &mut self.buffer[self.end..]
    }

    /// The first `count` bytes of [`spare`](Self::spare) have been filled.
    pub fn filled(&mut self, count: usize) {
        self.end = self.buffer.len().min(self.end + count);
    }

    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let spare = self.spare();
            let count = spare.len().min(bytes.len());
            let (now, later) = bytes.split_at(count);
            spare[..count].copy_from_slice(now);
            self.filled(count);
            bytes = later;
        }
    }

    /// The next frame, if all of it has arrived. An error is final: it comes again on each call.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        let received = &self.buffer[self.start..self.end];
        let Some((length, rest)) = received.split_first_chunk::<LENGTH>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MAX_FRAME {
            return Err(FrameError::TooLong { length });
        }
        if length == 0 {
            return Err(FrameError::Empty);
        }
        match rest.get(..length) {
            Some([kind, body @ ..]) => {
                self.start += LENGTH + length;
                Ok(Some(Frame { kind: *kind, body }))
            }
            _ => Ok(None),
        }
    }

    /// Has the stream stopped inside a frame?
    pub fn is_partial(&self) -> bool {
        self.start != self.end
    }
}
