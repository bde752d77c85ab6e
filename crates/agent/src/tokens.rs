//! A guess at how many tokens a text takes, for budgets that must hold before a model has counted.
//! No provider's tokenizer: those differ, and a table of one would be wrong for the others.

/// Thousandths of a token for each character, chosen between what an older and a newer common
/// tokenizer take (cl100k, o200k) and rather above: English takes 0.23 and 0.23 a character, names
/// in snake case 0.19 and 0.19, Chinese 1.24 and 0.76, Japanese 0.86 and 0.64, Russian 0.49 and
/// 0.32, an emoji 3 and 2 tokens.
const LATIN: usize = 300;
const DIGIT: usize = 400;
const WIDE: usize = 900;
const OTHER_SCRIPT: usize = 500;
const SYMBOL: usize = 2_500;

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

    #[test]
    fn never_below_a_new_tokenizer_nor_twice_an_old_one() {
        for (text, o200k, cl100k) in [
            ("The quick brown fox jumps over the lazy dog.", 10, 10),
            (
                "get_weather_forecast, send_channel_message, list_calendar_events",
                12,
                12,
            ),
            ("今天天气怎么样？我们去公园散步吧。", 13, 21),
            ("明日の天気を教えてください。", 9, 12),
            ("Привет, как дела? Завтра будет дождь.", 12, 18),
            ("🎉🚀", 4, 6),
        ] {
            let guess = estimate(text);
            assert!(guess >= o200k && guess <= 2 * cl100k, "{text}: {guess}");
        }
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
