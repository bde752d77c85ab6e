//! What kind of image or sound some bytes are: by the bytes, never by a name somebody gave them.

/// The media type, of the kinds that models take.
pub fn media_type(bytes: &[u8]) -> Option<&'static str> {
    if let Some((b"RIFF", rest)) = bytes.split_first_chunk() {
        return match rest.get(4..8)? {
            b"WEBP" => Some("image/webp"),
            b"WAVE" => Some("audio/wav"),
            _ => None,
        };
    }
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'I', b'D', b'3', ..] | [0xFF, 0xFB, ..] => Some("audio/mpeg"),
        [b'O', b'g', b'g', b'S', ..] => Some("audio/ogg"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::media_type;

    #[test]
    fn the_first_bytes_tell() {
        for (bytes, expected) in [
            (b"\x89PNG\r\n\x1a\n....".as_slice(), Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a..", Some("image/gif")),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\0\0\0\0WAVEfmt ", Some("audio/wav")),
            (b"RIFF\0\0", None),
            (b"OggS", Some("audio/ogg")),
            (b"<svg/>", None),
            (b"", None),
        ] {
            assert_eq!(media_type(bytes), expected, "{bytes:?}");
        }
    }
}
