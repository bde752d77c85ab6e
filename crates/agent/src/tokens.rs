//! A guess at how many tokens a text takes, for budgets that must hold before a model has counted.
//! No provider's tokenizer: those differ, and a table of one would be wrong for the others.

use callgate_contract::{ModelMessage, ModelRequest, Part};

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

/// The most tokens that `text` is likely to take, for what must not be exceeded: beyond what any
/// common tokenizer makes of prose, code and JSON in any script. What has no words in it, such as a
/// key or a picture in letters, takes almost a token a character.
pub(crate) fn most(text: &str) -> u64 {
    let mut thousandths: u64 = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c.is_ascii_alphanumeric() {
            run + 1
        } else {
            0
        };
        thousandths += match c {
            'a'..='z' | 'A'..='Z' if run <= LONGEST_WORD => 350,
            'a'..='z' | 'A'..='Z' => 900,
            ' ' | '\n' | '\t' | '\r' => 300,
            '\0'..='\u{24F}' => 1_000,
            c if cost(c) == WIDE || cost(c) == OTHER_SCRIPT => 1_500,
            _ => 4_000,
        };
    }
    thousandths.div_ceil(1_000)
}

/// In letters and digits; beyond, it is none.
const LONGEST_WORD: usize = 24;

/// What stands around a message, a call or a tool.
const FRAME: u64 = 6;
/// A picture is cut into tiles; most models take half as much.
const PICTURE: u64 = 3_000;
/// Bytes of a sound, in base64, for each token of it.
const SOUND: u64 = 100;

/// The most tokens that a request is likely to take before the answer begins.
pub(crate) fn most_of(request: &ModelRequest) -> u64 {
    let messages = request.messages.iter().map(of_message);
    let tools = request.tools.iter().map(|tool| {
        let parameters = tool.parameters.to_string();
        2 * FRAME + most(&tool.name) + most(&tool.description) + most(&parameters)
    });
    let format = request.options.response_format.as_ref();
    messages.chain(tools).sum::<u64>() + format.map_or(0, |format| most(&format.to_string()))
}

fn of_message(message: &ModelMessage) -> u64 {
    FRAME
        + match message {
            ModelMessage::System { text } => most(text),
            ModelMessage::User { parts } | ModelMessage::Tool { parts, .. } => of_parts(parts),
            ModelMessage::Assistant {
                text,
                reasoning,
                tool_calls,
                media,
                extra,
            } => {
                let calls = tool_calls.iter().map(|call| {
                    let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
                    2 * FRAME + most(&call.name) + most(&arguments)
                });
                // Signed thoughts: their signatures are long and count for little.
                let extra = extra
                    .as_ref()
                    .map_or(0, |extra| extra.to_string().len() / 4);
                most(text) + most(reasoning) + calls.sum::<u64>() + of_parts(media) + extra as u64
            }
        }
}

fn of_parts(parts: &[Part]) -> u64 {
    let part = |part: &Part| match part {
        Part::Image { .. } => PICTURE,
        Part::Audio { url } => PICTURE.max(url.len() as u64 / SOUND),
        Part::File { name, url } => FRAME + most(name) + most(url),
        Part::Video { url } => FRAME + most(url),
        part => part.words().map_or(FRAME, |words| most(&words)),
    };
    parts.iter().map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::{estimate, most};

    #[test]
    fn the_most_is_more_than_any_tokenizer_takes() {
        for (text, taken) in [
            ("The quick brown fox jumps over the lazy dog.", 10),
            ("今天天气怎么样？我们去公园散步吧。", 21),
            ("明日の天気を教えてください。", 12),
            ("Привет, как дела? Завтра будет дождь.", 18),
            ("🎉🚀", 6),
            (
                "{\"name\": \"x\", \"count\": 12345, \"list\": [1, 2, 3]}",
                26,
            ),
            ("c2VjcmV0LWtleS13aXRoLW5vLXdvcmRzLWluLWl0LWF0LWFsbA", 34),
        ] {
            let (most, guess) = (most(text), estimate(text) as u64);
            assert!(most >= taken && most >= guess, "{text}: {most}");
        }
        assert_eq!(most(""), 0);
    }

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
