//! What must hold for any bytes at all. The fuzz targets call the same two functions; here
//! they are called with what those start from.

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

/// What the fuzz targets start from: the first word of a file's name says what becomes of it.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = format!("{}/../../fuzz/seeds/{target}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("the seeds");
    let files = files.map(|file| file.expect("a seed").path());
    let seeds = files.map(|path| {
        let name = path.file_name().expect("a name").to_string_lossy();
        (name.into_owned(), std::fs::read(&path).expect("a seed"))
    });
    seeds.collect()
}

#[test]
fn the_seeds_of_values_are_read_or_refused() {
    for (name, bytes) in seeds("value") {
        check_value(&bytes);
        let read = (
            codec::decode(&bytes).is_ok(),
            codec::decode_trusted(&bytes).is_ok(),
        );
        let expected = match name.split('_').next() {
            Some("data") => (true, true),
            Some("trusted") => (false, true),
            _ => (false, false),
        };
        assert_eq!(read, expected, "{name}");
    }
}

#[test]
fn the_seeds_of_frames_are_read_or_refused() {
    for (name, bytes) in seeds("frames") {
        check_frames(&bytes);
        let (_, refused) = frames(&bytes, usize::MAX);
        assert_eq!(refused.is_some(), name.starts_with("refused"), "{name}");
    }
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
