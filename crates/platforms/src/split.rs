//! Long texts in pieces that a platform takes: at paragraphs, else at lines, sentences or words, and in
//! the midst of a word only where there is nothing else. No piece is empty, and none is longer than it
//! may be; together they say what the text said.

/// Where a text is cut best, first come first.
const PARAGRAPH: &[&str] = &["\n\n"];
const LINE: &[&str] = &["\n"];
const SENTENCE: &[&str] = &[
    "。", "！", "？", "…", ". ", "! ", "? ", "; ", "；", ".\n", "!\n", "?\n",
];
const WORD: &[&str] = &[" ", "，", ", ", "、"];

/// `longest` counts characters.
pub(crate) fn split(text: &str, longest: usize) -> Vec<String> {
    split_by(text, longest, |_| 1)
}

/// `longest` counts whatever `length` says of a character.
pub(crate) fn split_by(text: &str, longest: usize, length: fn(char) -> usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_end();
    while let Some(window) = first_part(rest, longest, length) {
        let (piece, _) = rest.split_at(cut(window));
        push(&mut pieces, piece);
        rest = rest.get(piece.len()..).unwrap_or_default();
    }
    push(&mut pieces, rest);
    pieces
}

/// As much of it as may be in one piece, with one character at least; `None` if that is all.
fn first_part(text: &str, longest: usize, length: fn(char) -> usize) -> Option<&str> {
    let mut used = 0;
    let too_far = text.char_indices().find(|(at, c)| {
        used += length(*c);
        used > longest && *at > 0
    });
    too_far.map(|(end, _)| text.split_at(end).0)
}

/// A cut in the first quarter would leave a scrap.
fn cut(window: &str) -> usize {
    for marks in [PARAGRAPH, LINE, SENTENCE, WORD] {
        let ends = marks
            .iter()
            .filter_map(|mark| window.rfind(mark).map(|at| at + mark.len()));
        if let Some(end) = ends.max().filter(|end| *end > window.len() / 4) {
            return end;
        }
    }
    window.len()
}

fn push(pieces: &mut Vec<String>, piece: &str) {
    let piece = piece.trim_matches('\n').trim_end();
    if !piece.trim().is_empty() {
        pieces.push(piece.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::split;

    #[test]
    fn texts_are_cut_where_people_would_cut_them() {
        assert_eq!(split("short", 10), ["short"]);
        assert_eq!(split("", 10), [] as [&str; 0]);
        assert_eq!(split("one two\n\nthree", 10), ["one two", "three"]);
        assert_eq!(
            split("今天很好。明天也是。", 6),
            ["今天很好。", "明天也是。"]
        );
        assert_eq!(split("One is. Two is", 9), ["One is.", "Two is"]);
        assert_eq!(split("aaaaaaaaaa", 4), ["aaaa", "aaaa", "aa"]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_too_long(text in "[a-c。 \n.,，]{0,200}", longest in 1_usize..40) {
            let pieces = split(&text, longest);
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(solid(&pieces.concat()), solid(&text));
            for piece in &pieces {
                prop_assert!(!piece.is_empty() && piece.chars().count() <= longest);
            }
        }
    }
}
