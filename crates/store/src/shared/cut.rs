//! Cutting a text into chunks where its own content says so: what two texts have in common is cut alike,
//! wherever in them it stands. A chunk is known by its digest.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

/// Bytes of a chunk at least. As many as [`fold`] looks back, so that nothing before them has a say.
const LEAST: usize = 64;
/// Bytes of a chunk at most, but for the rest of a character.
const MOST: usize = 2_048;
/// A place is a cut where these bits of the fold are zero: after 128 bytes more, on average.
const CUT: u64 = 0x7F << 57;

/// Long enough that nobody finds two texts of one digest.
pub(crate) type Digest = [u8; 16];

pub(super) struct Chunk {
    pub(super) digest: Digest,
    pub(super) range: Range<usize>,
}

impl Chunk {
    pub(super) fn of<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.range.clone()).unwrap_or_default()
    }
}

/// All of the text, in order.
pub(super) fn cut(text: &str) -> Vec<Chunk> {
    let mut chunks = Vec::with_capacity(text.len() / LEAST / 4);
    let mut start = 0;
    while start < text.len() {
        let end = end_of_chunk(text, start);
        let hash = Sha256::digest(&text.as_bytes()[start..end]);
        let mut digest = Digest::default();
        digest.copy_from_slice(&hash[..size_of::<Digest>()]);
        chunks.push(Chunk {
            digest,
            range: start..end,
        });
        start = end;
    }
    chunks
}

fn end_of_chunk(text: &str, start: usize) -> usize {
    let bytes = &text.as_bytes()[start..];
    let mut folded = 0;
    let cut = bytes.iter().enumerate().position(|(place, byte)| {
        folded = fold(folded, *byte);
        place + 1 >= MOST || (place + 1 >= LEAST && folded & CUT == 0)
    });
    match cut {
        Some(place) => text.ceil_char_boundary(start + place + 1),
        None => text.len(),
    }
}

/// Of the last 64 bytes: each moves what was there one bit further out.
fn fold(folded: u64, byte: u8) -> u64 {
    (folded << 1).wrapping_add(NUMBERS[byte as usize])
}

/// A number for each byte, all bits of it as good as random (splitmix64).
const NUMBERS: [u64; 256] = {
    let mut numbers = [0; 256];
    let (mut place, mut state) = (0, 0_u64);
    while place < numbers.len() {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        numbers[place] = mixed ^ (mixed >> 31);
        place += 1;
    }
    numbers
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::row;

    /// Lines of one length, none like another.
    fn prose(lines: usize) -> String {
        let line = |number: usize| {
            let random = row::hash(&number.to_le_bytes());
            format!("第 {number} 行: {random}\n")
        };
        (0..lines).map(line).collect()
    }

    #[test]
    fn chunks_are_the_text_in_order() {
        for text in [String::new(), "短".into(), "a".repeat(9_999), prose(200)] {
            let chunks = cut(&text);
            let joined: String = chunks.iter().map(|chunk| chunk.of(&text)).collect();
            assert_eq!(joined, text);
            let longest = chunks.iter().map(|it| it.range.len()).max();
            assert!(longest.unwrap_or_default() < MOST + 4);
        }
    }

    #[test]
    fn what_stays_is_cut_as_before() {
        let before = prose(100);
        let (head, tail) = before.split_at(before.len() / 2);
        let after = format!("A new beginning. {head} and a change {tail} and more.");
        let known: HashSet<Digest> = cut(&before).iter().map(|chunk| chunk.digest).collect();
        let new = cut(&after);
        let new = new.iter().filter(|chunk| !known.contains(&chunk.digest));
        let bytes: usize = new.map(|chunk| chunk.range.len()).sum();
        assert!(bytes < 4_000, "{bytes} of {}", after.len());
    }
}
