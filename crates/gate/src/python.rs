//! Python as text: names, literals and the way `str` and `repr` write a value. It produces text
//! for models and stubs and never reads Python.

mod show;

use serde_json::Value as Json;

pub(crate) use show::repr;
pub use show::text;

/// Reserved words, which can be neither a function nor a parameter.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// May `name` stand in a `def`? Beyond ASCII only letters that Python's normalisation leaves as
/// they are count, so that a name means the same on both sides.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|c| c == '_' || is_letter(c))
        && letters.all(|c| c == '_' || c.is_ascii_digit() || is_letter(c))
        && !KEYWORDS.contains(&name)
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(c,
            'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ÿ'
            | 'А'..='я' | 'ё' | 'Ё'
            | 'ぁ'..='ゖ' | 'ァ'..='ヺ'
            | '\u{4E00}'..='\u{9FFF}'
            | '가'..='힣')
}

/// JSON as a Python literal.
pub(crate) fn literal(json: &Json) -> String {
    match json {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => quote(text),
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", quote(key), literal(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// `repr` of a `str`.
pub(crate) fn quote(text: &str) -> String {
    let mark = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push(mark);
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\\' => quoted.push_str("\\\\"),
            c if c == mark => quoted.extend(['\\', c]),
            c if (c as u32) < 0x20 || (0x7F..=0xA0).contains(&(c as u32)) => {
                quoted.push_str(&format!("\\x{:02x}", c as u32));
            }
            // Line and paragraph separators, and marks that reorder or hide text.
            '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2066}'..='\u{2069}'
            | '\u{FEFF}' => {
                quoted.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => quoted.push(c),
        }
    }
    quoted.push(mark);
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        for name in ["a", "_a1", "文本", "имя", "größe"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in [
            "", "1a", "a-b", "class", "None", "a b", "x²", "ﬁ", "a.b", "a\n",
        ] {
            assert!(!is_identifier(name), "{name}");
        }
    }

    #[test]
    fn literals() {
        let check = |json: Json, expect: &str| assert_eq!(literal(&json), expect);
        check(serde_json::json!(null), "None");
        check(serde_json::json!([true, 1, 2.5]), "[True, 1, 2.5]");
        check(serde_json::json!({"a": {"b": []}}), "{'a': {'b': []}}");
        check(serde_json::json!("it's"), "\"it's\"");
        check(
            serde_json::json!("'\"\\\n\u{0}\u{2028}"),
            r#"'\'"\\\n\x00\u2028'"#,
        );
        check(serde_json::json!("你好 🎉"), "'你好 🎉'");
    }
}
