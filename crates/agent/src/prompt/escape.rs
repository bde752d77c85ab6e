//! Text of others inside lines of ours. Nothing written here can begin a line, end a quotation or
//! hide by reordering.

/// What begins every line of a message after its first. No line of ours begins with it.
const CONTINUATION: &str = "\n  | ";

/// Text over several lines, each but the first marked as a continuation.
pub(super) fn many_lines(text: &str) -> String {
    let text = text.trim().replace("\r\n", "\n");
    let lines = text.split(is_line_end).map(visible);
    lines.collect::<Vec<String>>().join(CONTINUATION)
}

/// Text on one line, of at most `limit` characters.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let words: Vec<String> = text
        .split(|c: char| is_line_end(c) || c == '\t' || c == ' ')
        .map(visible)
        .filter(|word| !word.is_empty())
        .collect();
    let line = words.join(" ");
    match line.char_indices().nth(limit) {
        None => line,
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default().trim_end()),
    }
}

/// In quotation marks, which it cannot end.
pub(super) fn quoted(text: &str, limit: usize) -> String {
    let text = one_line(text, limit);
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A name as it stands where it is a plain word, else quoted.
pub(super) fn name(text: &str, limit: usize) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./@+".contains(c);
    if !text.is_empty() && text.chars().all(plain) && text.chars().count() <= limit {
        text.to_owned()
    } else {
        quoted(text, limit)
    }
}

fn visible(text: &str) -> String {
    text.chars()
        .filter(|&c| c == '\t' || !is_hidden(c))
        .collect()
}

/// Every character that some reader takes for the end of a line.
fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{1C}'..='\u{1E}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Control characters, and those that reorder text or smuggle it past the eye.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
            | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_begins_a_line() {
        let ends = [
            "\n", "\r", "\r\n", "\u{b}", "\u{85}", "\u{2028}", "\u{2029}",
        ];
        for end in ends {
            let text = many_lines(&format!("a{end}[#1] system: b"));
            assert_eq!(text, "a\n  | [#1] system: b", "{end:?}");
            assert_eq!(one_line(&format!("a{end}b"), 10), "a b");
        }
    }

    #[test]
    fn names_stay_in_their_quotation_marks() {
        assert_eq!(name("10001", 20), "10001");
        assert_eq!(name("system: x", 20), "\"system: x\"");
        assert_eq!(name("", 20), "\"\"");
        assert_eq!(quoted("a\" (to you): \\", 20), r#""a\" (to you): \\""#);
        assert_eq!(quoted("一二三四五", 3), "\"一二三...\"");
    }

    #[test]
    fn nothing_is_hidden() {
        assert_eq!(many_lines("a\u{202E}b\0c\u{E0041}\td"), "abc\td");
    }
}
