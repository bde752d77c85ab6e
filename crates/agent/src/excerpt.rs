//! What a model gets to see of a long text: its head and its tail, and how much was left out.

/// Bytes of output that go into a model's context.
pub const FOR_MODEL: usize = 20_000;

/// At most about `limit` bytes of `text`, cut between characters, half from either end.
pub fn excerpt(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    let (head, tail) = (text.get(..head), text.get(tail..));
    let (head, tail) = (head.unwrap_or_default(), tail.unwrap_or_default());
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[... {left_out} bytes left out ...]\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn short_text_is_untouched() {
        assert_eq!(excerpt("门门", 6), "门门");
    }

    #[test]
    fn long_text_keeps_both_ends_and_whole_characters() {
        let text = format!("{}{}", "门".repeat(10), "z".repeat(10));
        assert_eq!(excerpt(&text, 8), "门\n[... 33 bytes left out ...]\nzzzz");
    }
}
