//! A guess at how many tokens a text takes, for budgets that must hold before a model has counted.
//! No provider's tokenizer: those differ, and a table of one would be wrong for the others.

/// Thousandths of a token for each character. Rounded up from what current tokenizers take of
/// running text, so that a budget errs on the side of room: Latin prose takes about 0.23 a letter,
/// names in snake case 0.27, Chinese 0.6 to 0.8, Japanese and Korean 0.7 to 0.9.
const LATIN: usize = 300;
const DIGIT: usize = 400;
const WIDE: usize = 800;
/// Cyrillic, Greek, Arabic and the like, about half of it a letter.
const OTHER_SCRIPT: usize = 500;
/// Emoji and rare symbols fall into several byte tokens.
const SYMBOL: usize = 1_500;

/// How many tokens `text` is likely to take; an empty text takes none.
pub fn estimate(text: &str) -> usize {
    let thousandths: usize = text.chars().map(cost).sum();
    thousandths.div_ceil(1_000)
}

fn cost(c: char) -> usize {
    match c {
        '0'..='9' => DIGIT,
        '\0'..='\u{24F}' => LATIN,
        '\u{1100}'..='\u{11FF}'
        | '\u{2E80}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FE30}'..='\u{FE4F}'
        | '\u{FF00}'..='\u{FFEF}' => WIDE,
        c if c.is_alphabetic() && c <= '\u{FFFF}' => OTHER_SCRIPT,
        // Punctuation of typography: quotation marks, dashes, the ellipsis.
        '\u{2000}'..='\u{206F}' => OTHER_SCRIPT,
        _ => SYMBOL,
    }
}

#[cfg(test)]
mod tests {
    use super::estimate;

    /// Counted with a common tokenizer of 200,000 words; the guess may be above, hardly below.
    #[test]
    fn near_what_tokenizers_count_and_rather_above() {
        let check = |text: &str, counted: usize| {
            let guess = estimate(text);
            assert!(
                guess * 10 >= counted * 9 && guess <= counted * 2,
                "{text}: {guess} for {counted}"
            );
        };
        check("The quick brown fox jumps over the lazy dog.", 10);
        check(
            "get_weather_forecast, send_channel_message, list_calendar_events",
            14,
        );
        check("今天天气怎么样？我们去公园散步吧。", 12);
        check("明日の天気を教えてください。", 9);
    }

    #[test]
    fn empty_text_takes_nothing_and_any_other_something() {
        assert_eq!(estimate(""), 0);
        for text in ["a", "门", "🎉", "\n"] {
            assert!(estimate(text) >= 1, "{text:?}");
        }
    }

    #[test]
    fn pieces_never_take_less_than_their_whole() {
        let (one, other) = ("one half, ", "另一半");
        let whole = estimate(&format!("{one}{other}"));
        assert!(estimate(one) + estimate(other) >= whole);
    }
}
