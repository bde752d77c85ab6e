//! The little of PNG that is needed: walking its chunks for a text. Pixels are never looked at.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::CardError;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Length, type and checksum.
const FRAME: usize = 12;

pub(super) fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// The JSON of the character inside: of version 3 where it has both.
pub(super) fn character(bytes: &[u8]) -> Result<Vec<u8>, CardError> {
    let mut rest = bytes.get(SIGNATURE.len()..).unwrap_or_default();
    let (mut older, mut newer) = (None, None);
    while !rest.is_empty() {
        let Chunk {
            kind,
            data,
            rest: next,
        } = chunk(rest)?;
        if kind == b"tEXt"
            && let Some((keyword, text)) = split(data)
        {
            match keyword.to_ascii_lowercase().as_slice() {
                b"chara" => older = older.or(Some(text)),
                b"ccv3" => newer = newer.or(Some(text)),
                _ => {}
            }
        }
        if kind == b"IEND" {
            break;
        }
        rest = next;
    }
    let text = newer.or(older).ok_or(CardError::NoCharacter)?;
    STANDARD
        .decode(text.trim_ascii())
        .map_err(|error| CardError::Encoding(error.to_string()))
}

/// A chunk and what follows it.
struct Chunk<'a> {
    kind: &'a [u8; 4],
    data: &'a [u8],
    rest: &'a [u8],
}

/// The first chunk.
fn chunk(bytes: &[u8]) -> Result<Chunk<'_>, CardError> {
    let cut = CardError::Picture("it is cut off");
    let (head, _) = bytes.split_first_chunk::<4>().ok_or(cut)?;
    let length = u32::from_be_bytes(*head) as usize;
    let cut = || CardError::Picture("it is cut off");
    let whole = length.checked_add(FRAME).ok_or_else(cut)?;
    let (chunk, rest) = bytes.split_at_checked(whole).ok_or_else(cut)?;
    let body = chunk.get(4..whole - 4).ok_or_else(cut)?;
    let sum = chunk.last_chunk::<4>().ok_or_else(cut)?;
    if crc(body) != u32::from_be_bytes(*sum) {
        return Err(CardError::Picture("a checksum in it is wrong"));
    }
    let (kind, data) = body.split_first_chunk::<4>().ok_or_else(cut)?;
    Ok(Chunk { kind, data, rest })
}

fn split(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = data.iter().position(|byte| *byte == 0)?;
    Some((data.get(..end)?, data.get(end + 1..)?))
}

/// The checksum of PNG, ISO 3309, by a table of 256.
pub(super) fn crc(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    let fold = |sum: u32, byte: &u8| {
        let [low, ..] = (sum ^ u32::from(*byte)).to_le_bytes();
        TABLE[usize::from(low)] ^ (sum >> 8)
    };
    !bytes.iter().fold(!0, fold)
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut place = 0;
    while place < 256 {
        let mut value = place as u32;
        let mut bit = 0;
        while bit < 8 {
            value = match value & 1 {
                0 => value >> 1,
                _ => 0xEDB8_8320 ^ (value >> 1),
            };
            bit += 1;
        }
        table[place] = value;
        place += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_png() {
        // The one every PNG ends with.
        assert_eq!(crc(b"IEND"), 0xAE42_6082);
        assert_eq!(crc(b""), 0);
    }

    #[test]
    fn whatever_is_cut_off_or_broken_is_an_error() {
        let mut png = SIGNATURE.to_vec();
        for (kind, data) in [(b"tEXt", &b"chara\0e30="[..]), (b"IEND", b"")] {
            let body = [&kind[..], data].concat();
            png.extend((data.len() as u32).to_be_bytes());
            png.extend(&body);
            png.extend(crc(&body).to_be_bytes());
        }
        assert_eq!(character(&png), Ok(b"{}".to_vec()));
        for end in 9..png.len() - 12 {
            assert!(character(&png[..end]).is_err(), "{end}");
        }
        for place in SIGNATURE.len()..png.len() {
            let mut broken = png.clone();
            broken[place] ^= 0x40;
            assert!(character(&broken).is_err(), "{place}");
        }
        assert_eq!(character(SIGNATURE), Err(CardError::NoCharacter));
    }
}
