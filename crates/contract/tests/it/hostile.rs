//! What must hold for any bytes at all. The fuzz targets call the same two functions.

use callgate_contract::{
    codec,
    frame::{FrameError, FrameReader},
    json,
};

/// Whatever decodes is a well-formed value, and has exactly one encoding.
pub fn check_value(bytes: &[u8]) {
    let trusted = codec::decode_trusted(bytes);
    if let Ok(value) = &trusted {
        assert_eq!(codec::encode(value).expect("decoded"), bytes);
        let _ = json::from_json(json::to_json(value));
    }
    if let Ok(value) = codec::decode(bytes) {
        assert_eq!(codec::encode(&value).expect("decoded"), bytes);
        assert!(trusted.is_ok(), "refused from a trusted sender: {value:?}");
    }
}

/// Frames come out the same, however the stream is split.
pub fn check_frames(bytes: &[u8]) {
    let whole = frames(bytes, usize::MAX);
    let split = usize::from(*bytes.first().unwrap_or(&0)) + 1;
    assert_eq!(whole, frames(bytes, 1));
    assert_eq!(whole, frames(bytes, split));
}

type Frames = (Vec<(u8, Vec<u8>)>, Option<FrameError>);

fn frames(bytes: &[u8], chunk: usize) -> Frames {
    let mut reader = FrameReader::new();
    let mut frames = Vec::new();
    for piece in bytes.chunks(chunk.min(bytes.len().max(1))) {
        reader.push(piece);
        loop {
            match reader.next_frame() {
                Ok(Some(frame)) => frames.push((frame.kind, frame.body.to_vec())),
                Ok(None) => break,
                Err(error) => return (frames, Some(error)),
            }
        }
    }
    (frames, None)
}
