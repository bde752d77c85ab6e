//! What of an answer that has only begun can be told to people already: words that are no code,
//! however it goes on. A judgement on the safe side: what is held back here is told at its end.

/// Where a fence or a thought may begin.
const MARKS: [&str; 4] = ["```", "~~~", "<think", "</think"];
/// Words of Python with which a statement goes on, or begins.
const PYTHON: [&str; 33] = [
    "and", "as", "assert", "async", "await", "case", "class", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "match",
    "nonlocal", "not", "or", "raise", "return", "try", "type", "while", "with", "yield", "print",
];

/// The part of `draft`, an answer of code mode on its way, that is surely words to people.
pub fn sure_words(draft: &str) -> &str {
    let draft = draft.trim_start();
    let mut lines = draft.lines();
    // A comment of Python, or a heading.
    let first = lines.find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    if !first.is_some_and(is_prose) {
        return "";
    }
    let lower = draft.to_ascii_lowercase();
    let marks = MARKS.iter().filter_map(|mark| lower.find(mark));
    let end = marks.min().unwrap_or_else(|| before_half_a_mark(&lower));
    draft.get(..end).unwrap_or_default().trim_end()
}

/// Where the last characters begin that may turn out to be a mark.
fn before_half_a_mark(draft: &str) -> usize {
    let halves = MARKS.iter().flat_map(|mark| {
        let ends = mark.char_indices().map(|(end, _)| end).skip(1);
        ends.filter_map(|end| mark.get(..end))
    });
    let found = halves.filter_map(|half| draft.strip_suffix(half));
    found.map(str::len).min().unwrap_or(draft.len())
}

/// Can a line that begins so be no statement of Python? Two words side by side cannot, nor can what
/// is not written in Latin letters.
fn is_prose(line: &str) -> bool {
    if !line.starts_with(|letter: char| letter.is_ascii()) {
        return true;
    }
    let end = line.find(['"', '`', '(', '[', '{', '#', '=', ':', '\\', ';', '@']);
    let plain = line.get(..end.unwrap_or(line.len())).unwrap_or_default();
    // The last one may not be whole yet.
    let mut words: Vec<&str> = plain.split(' ').collect();
    if end.is_none() {
        words.pop();
    }
    let exclaims = |word: &&str| word.ends_with(['!', '?']);
    let pairs = words.iter().zip(words.iter().skip(1));
    let mut pairs = pairs.filter(|(one, other)| {
        let other = other.trim_end_matches([',', '.']);
        is_word(one) && is_word(other)
    });
    words.iter().any(exclaims) || pairs.next().is_some()
}

/// `I'm` is a word of people's, `f'm` begins a text of Python's.
fn is_word(text: &str) -> bool {
    let (head, tail) = text.split_once(['\'', '’']).unwrap_or((text, ""));
    let letters = |text: &str| text.chars().all(char::is_alphanumeric);
    let prefix = !tail.is_empty() && ["f", "r", "b", "u"].contains(&head);
    !head.is_empty() && letters(head) && letters(tail) && !prefix && !PYTHON.contains(&head)
}

#[cfg(test)]
mod tests {
    use super::sure_words;

    #[test]
    fn words_are_told_as_they_come_and_code_never() {
        for (draft, told) in [
            ("", ""),
            ("He", ""),
            ("Hello there", ""),
            ("Hello there,", ""),
            ("Hello there, I", "Hello there, I"),
            (" Hello! How", "Hello! How"),
            ("I'm fine and", "I'm fine and"),
            ("你好", "你好"),
            ("1. First do this", "1. First do this"),
            ("Use the `now` method", "Use the `now` method"),
            ("Let me look now.\n\n", "Let me look now."),
            ("Let me look now.\n``", "Let me look now."),
            ("Let me look now.\n```python\nlook()", "Let me look now."),
            ("I see it now <thi", "I see it now"),
            ("I see it now <this", "I see it now <this"),
            ("```python\nlook()", ""),
            ("look('a b c')", ""),
            ("import json as j", ""),
            ("x, y = 1, 2", ""),
            ("for item in items", ""),
            ("print('the end of it')", ""),
            ("a is not b and c", ""),
            ("# Say the word now\nsay('a b')", ""),
            ("x = \"\"\"\nHello there you", ""),
            ("return not f'a b' or c", ""),
        ] {
            assert_eq!(sure_words(draft), told, "{draft:?}");
        }
    }
}
