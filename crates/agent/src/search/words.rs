//! From text to what is compared: words without their endings, pairs of characters where a script
//! has no spaces, and the concept that a word stands for.

use super::synonyms;

/// Weight of a concept against the word itself: the very word is the better sign. A word of several
/// concepts is a weaker sign of each.
const CONCEPT: f32 = 0.9;
/// Longest word of a script without spaces that is looked up, in characters.
const MAX_COMPOUND: usize = 8;

/// Words that say nothing about what is wanted.
const EMPTY: [&str; 78] = [
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can",
    "could", "did", "do", "does", "for", "from", "get", "give", "has", "have", "he", "her", "him",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "like", "me", "my",
    "need", "no", "of", "on", "or", "our", "out", "please", "put", "she", "should", "so", "some",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "to", "up", "us",
    "want", "was", "we", "were", "what", "when", "which", "will", "with", "would", "you", "your",
];
/// Characters that only hold a sentence together.
const EMPTY_CHARACTERS: &str = "的了吗呢吧啊呀把被给我你他她它们这那个是在有和与或请帮想要能会不没一下都就也还很\
                                のをにはがでともへやかなだですますくださいしてるれたこそあ";

/// Several words that mean one thing; some of them are empty by themselves.
const PHRASES: [(&str, &str); 6] = [
    ("to-do", "todo"),
    ("to do", "todo"),
    ("e-mail", "email"),
    ("look up", "search"),
    ("pull request", "pr"),
    ("check in", "checkin"),
];

/// Each term of `text` with its weight, as often as it occurs.
pub(super) fn terms(text: &str) -> Vec<(String, f32)> {
    let mut found = Vec::new();
    let mut text = text.replace('_', " ");
    for (phrase, word) in PHRASES {
        text = text.replace(phrase, word);
    }
    for run in runs(&text) {
        match run {
            CharacterRun::Spaced(word) => spaced(&word, &mut found),
            CharacterRun::Unspaced(characters) => unspaced(&characters, &mut found),
        }
    }
    found
}

fn spaced(word: &str, found: &mut Vec<(String, f32)>) {
    let is_letter = word.len() == 1 && word.chars().all(char::is_alphabetic);
    if is_letter || EMPTY.contains(&word) {
        return;
    }
    let stem = stem(word);
    found.extend(concepts(&stem));
    found.push((stem, 1.0));
}

fn unspaced(characters: &[char], found: &mut Vec<(String, f32)>) {
    let mut at = 0;
    while at < characters.len() {
        at += match compound(characters.get(at..).unwrap_or_default()) {
            Some((length, concepts)) => {
                found.extend(concepts);
                length
            }
            None => 1,
        };
    }
    let telling = |c: &char| !EMPTY_CHARACTERS.contains(*c);
    if let [only] = characters {
        found.extend(telling(only).then(|| (only.to_string(), 1.0)));
    }
    for pair in characters.windows(2) {
        // Half a word counts half.
        let weight = match pair.iter().filter(|c| telling(c)).count() {
            2 => 1.0,
            1 => 0.3,
            _ => continue,
        };
        found.push((pair.iter().collect(), weight));
    }
}

/// The longest known word that `characters` begin with.
fn compound(characters: &[char]) -> Option<(usize, Vec<(String, f32)>)> {
    let longest = characters.len().min(MAX_COMPOUND);
    (1..=longest).rev().find_map(|length| {
        let word: String = characters.iter().take(length).collect();
        let concepts: Vec<_> = concepts(&word).collect();
        (!concepts.is_empty()).then_some((length, concepts))
    })
}

/// A concept is written as no word can be.
fn concepts(word: &str) -> impl Iterator<Item = (String, f32)> {
    let numbers = synonyms::concepts(word);
    let weight = CONCEPT / (numbers.len().max(1) as f32).sqrt();
    numbers
        .iter()
        .map(move |number| (format!("#{number}"), weight))
}

enum CharacterRun {
    Spaced(String),
    Unspaced(Vec<char>),
}

/// Words in lower case, split at every border: `getHTTPPage_2` is `get`, `http`, `page`, `2`.
fn runs(text: &str) -> Vec<CharacterRun> {
    let mut runs = Vec::new();
    let mut word = String::new();
    let mut characters: Vec<char> = Vec::new();
    let mut letters = text.chars();
    let mut before = ' ';
    while let Some(c) = letters.next() {
        let unspaced = is_unspaced(c);
        if !unspaced && !characters.is_empty() {
            runs.push(CharacterRun::Unspaced(std::mem::take(&mut characters)));
        }
        let mut ahead = letters.clone();
        let (next, then) = (ahead.next(), ahead.next());
        // `PRs` is one word, `HTTPPage` two.
        let plural = next == Some('s') && !then.is_some_and(char::is_alphabetic);
        let starts_word = c.is_uppercase()
            && (before.is_lowercase() || (next.is_some_and(char::is_lowercase) && !plural));
        let changes = starts_word || c.is_ascii_digit() != before.is_ascii_digit();
        let ends = unspaced || !c.is_alphanumeric() || changes;
        if ends && !word.is_empty() {
            runs.push(CharacterRun::Spaced(std::mem::take(&mut word)));
        }
        if unspaced {
            characters.push(c);
        } else if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    if !characters.is_empty() {
        runs.push(CharacterRun::Unspaced(characters));
    }
    if !word.is_empty() {
        runs.push(CharacterRun::Spaced(word));
    }
    runs
}

fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '々')
}

/// A word without the commonest English endings, so that `files`, `filed` and `filing` meet. What
/// is left need not be a word.
pub(super) fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() < 3 {
        return word.to_owned();
    }
    let singular = match word {
        word if word.ends_with("ies") && word.len() > 4 => {
            format!("{}y", word.trim_end_matches("ies"))
        }
        word if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") => {
            word.to_owned()
        }
        word => word.strip_suffix('s').unwrap_or(word).to_owned(),
    };
    let cut = |ending: &str| {
        let rest = singular.strip_suffix(ending)?;
        let vowel = rest.contains(['a', 'e', 'i', 'o', 'u', 'y']);
        (rest.len() >= 3 && vowel).then(|| undoubled(rest))
    };
    let stem = ["ing", "ed", "er", "or"]
        .iter()
        .find_map(|ending| cut(ending));
    let stem = stem.unwrap_or(singular);
    let stem = stem
        .strip_suffix("ly")
        .filter(|rest| rest.len() > 3)
        .unwrap_or(&stem);
    match stem.strip_suffix('e') {
        Some(rest) if rest.len() >= 3 => rest.to_owned(),
        _ => stem.to_owned(),
    }
}

/// `runn` is `run`; `call` stays.
fn undoubled(stem: &str) -> String {
    let mut letters: Vec<char> = stem.chars().collect();
    if let [.., one, other] = letters.as_slice()
        && one == other
        && !"aeiouls".contains(*one)
    {
        letters.pop();
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        let words = |text| {
            let runs = runs(text).into_iter();
            runs.map(|run| match run {
                CharacterRun::Spaced(word) => word,
                CharacterRun::Unspaced(characters) => characters.into_iter().collect(),
            })
            .collect::<Vec<String>>()
        };
        assert_eq!(words("get_http_page2"), ["get", "http", "page", "2"]);
        assert_eq!(words("getHTTPPage"), ["get", "http", "page"]);
        assert_eq!(words("open PRs"), ["open", "prs"]);
        assert_eq!(words("mcp:git-hub"), ["mcp", "git", "hub"]);
        assert_eq!(words("查天气API在Tokyo"), ["查天气", "api", "在", "tokyo"]);
    }

    #[test]
    fn forms_of_a_word_meet() {
        for forms in [
            &["file", "files", "filed", "filing"][..],
            &["search", "searches", "searching", "searched"],
            &["reply", "replies"],
            &["translate", "translates", "translating", "translator"],
            &["run", "running", "runs"],
            &["status"],
        ] {
            let first = stem(forms[0]);
            for form in forms {
                assert!(
                    stem(form).starts_with(&first) || first == stem(form),
                    "{form}"
                );
            }
        }
        assert_eq!(stem("address"), "address");
    }

    #[test]
    fn words_of_three_languages_share_a_concept() {
        let concepts = |text: &str| {
            let found = terms(text).into_iter().map(|(term, _)| term);
            let mut found: Vec<String> = found.filter(|term| term.starts_with('#')).collect();
            found.sort();
            found
        };
        assert!(!concepts("weather").is_empty());
        assert_eq!(concepts("weather"), concepts("天气"));
        assert_eq!(concepts("weather"), concepts("天気"));
    }
}
