//! [`Segment`]: a piece of a OneBot message, from both of its spellings: a list of objects, or a string
//! with `[CQ:…]` in it.

use serde_json::{Map, Value as Json, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) kind: String,
    pub(super) data: Map<String, Json>,
}

impl Segment {
    pub(super) fn new<const N: usize>(kind: &str, data: [(&str, Json); N]) -> Self {
        let data = data.into_iter().map(|(key, value)| (key.to_owned(), value));
        Segment {
            kind: kind.to_owned(),
            data: data.collect(),
        }
    }

    fn text(text: String) -> Self {
        Segment::new("text", [("text", text.into())])
    }

    /// A field as text: ids are numbers in some programs.
    pub(super) fn field(&self, name: &str) -> Option<String> {
        self.data
            .get(name)
            .and_then(text_of)
            .filter(|it| !it.is_empty())
    }

    pub(super) fn json(&self) -> Json {
        json!({"type": self.kind, "data": self.data})
    }
}

/// A string or number.
pub(super) fn text_of(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Whatever an event has as its message.
pub(super) fn read(message: &Json) -> Vec<Segment> {
    match message {
        Json::Array(list) => list.iter().filter_map(read_object).collect(),
        Json::String(text) => read_codes(text),
        Json::Object(_) => read_object(message).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn read_object(value: &Json) -> Option<Segment> {
    let kind = value.get("type")?.as_str()?.to_owned();
    let data = match value.get("data") {
        Some(Json::Object(data)) => data.clone(),
        _ => Map::new(),
    };
    Some(Segment { kind, data })
}

fn read_codes(text: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[CQ:") {
        let code = after.split_once(']');
        let code = code.and_then(|(code, behind)| Some((read_code(code)?, behind)));
        plain.push_str(before);
        match code {
            Some((segment, behind)) => {
                flush(&mut plain, &mut segments);
                segments.push(segment);
                rest = behind;
            }
            // Not a code: somebody wrote it so.
            None => {
                plain.push_str("[CQ:");
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    flush(&mut plain, &mut segments);
    segments
}

fn flush(plain: &mut String, segments: &mut Vec<Segment>) {
    if !plain.is_empty() {
        segments.push(Segment::text(unescape(&std::mem::take(plain))));
    }
}

fn read_code(code: &str) -> Option<Segment> {
    let mut fields = code.split(',');
    let is_name = |name: &str| {
        let mut letters = name.chars();
        !name.is_empty() && letters.all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    let kind = fields.next().filter(|kind| is_name(kind))?;
    let mut data = Map::new();
    for field in fields.filter(|field| !field.is_empty()) {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        data.insert(name.trim().to_owned(), unescape(value).into());
    }
    Some(Segment {
        kind: kind.to_owned(),
        data,
    })
}

fn unescape(text: &str) -> String {
    text.replace("&#91;", "[")
        .replace("&#93;", "]")
        .replace("&#44;", ",")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_say_the_same() {
        let list = json!([
            {"type": "at", "data": {"qq": "10001"}},
            {"type": "text", "data": {"text": " a [b], &c"}},
            {"type": "image", "data": {"file": "a,b.jpg", "url": "http://h/?a=1&b=2"}},
            {"type": "dice", "data": {}},
        ]);
        let text = "[CQ:at,qq=10001] a &#91;b&#93;, &amp;c\
                    [CQ:image,file=a&#44;b.jpg,url=http://h/?a=1&amp;b=2][CQ:dice]";
        assert_eq!(read(&list), read(&text.into()));
    }

    #[test]
    fn what_is_no_code_is_text() {
        for text in [
            "[CQ:",
            "[CQ:at",
            "[CQ:,a=1]",
            "a [b] c",
            "[CQ: at]",
            "[cq:at,qq=1]",
        ] {
            let expected = [Segment::text(text.to_owned())];
            assert_eq!(read(&text.into()), expected, "{text}");
        }
        assert_eq!(read(&"".into()), []);
        assert_eq!(read(&Json::Null), []);
        assert_eq!(read(&json!([3, {"type": 4}])), []);
        // Escaped once, not twice.
        assert_eq!(read(&"&amp;#91;".into()), [Segment::text("&#91;".into())]);
    }
}
