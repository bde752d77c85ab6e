//! What a result does to the conversation, by the method's kind: text the Python way for `agent`
//! and `behavior`, message parts for `multimodal_agent`, nothing more for `tool`.

use callgate_contract::{Kind, Part, Value};

use crate::python;

/// What of a result goes into the context.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ContextAddition {
    pub(crate) text: Option<String>,
    pub(crate) parts: Vec<Part>,
}

pub(crate) fn shown(kind: Kind, value: &Value) -> Result<ContextAddition, String> {
    Ok(match kind {
        Kind::Tool => ContextAddition::default(),
        Kind::Agent | Kind::Behavior => ContextAddition {
            text: Some(python::text(value)),
            parts: Vec::new(),
        },
        Kind::MultimodalAgent => ContextAddition {
            text: None,
            parts: parts(value)?,
        },
    })
}

/// A list of parts, a `str`, or one message whose `content` is either.
fn parts(value: &Value) -> Result<Vec<Part>, String> {
    match value {
        Value::Str(text) => Ok(vec![Part::text(text.as_str())]),
        Value::List(items) | Value::Tuple(items) => items.iter().enumerate().map(part).collect(),
        Value::Dict(_) => match get(value, "content") {
            Some(content @ (Value::Str(_) | Value::List(_) | Value::Tuple(_))) => parts(content),
            _ => Err(wrong_shape(
                "a dict without a 'content' that is str or list",
            )),
        },
        other => Err(wrong_shape(other.type_name())),
    }
}

fn wrong_shape(got: &str) -> String {
    format!(
        "a multimodal result must be a list of parts, a str, or one message (a dict with \
         'content'), not {got}"
    )
}

/// One part, in our shape or as OpenAI writes it.
fn part((index, value): (usize, &Value)) -> Result<Part, String> {
    if let Value::Str(text) = value {
        return Ok(Part::text(text.as_str()));
    }
    let kind = text_of(get(value, "type"));
    let read = match kind {
        Some("text") => text_of(get(value, "text")).map(Part::text),
        Some("image") => url(value, "url").map(|url| Part::Image { url }),
        Some("image_url") => url(value, "image_url").map(|url| Part::Image { url }),
        Some("audio") => url(value, "url").map(|url| Part::Audio { url }),
        Some("input_audio") => get(value, "input_audio").and_then(audio),
        Some("file") => text_of(get(value, "name"))
            .zip(url(value, "url"))
            .map(|(name, url)| Part::File {
                name: name.to_owned(),
                url,
            }),
        _ => None,
    };
    read.ok_or_else(|| {
        let what = match kind {
            Some(kind) => format!("the part '{kind}' is not known or lacks its content"),
            None => format!("{} is no part: it has no 'type'", value.type_name()),
        };
        format!(
            "result[{index}]: {what}; parts are text, image_url, input_audio, image, audio, file"
        )
    })
}

/// `value[key]`, itself a URL or a dict that holds one.
fn url(value: &Value, key: &str) -> Option<String> {
    let found = get(value, key)?;
    text_of(Some(found))
        .or_else(|| text_of(get(found, "url")))
        .map(str::to_owned)
}

fn audio(value: &Value) -> Option<Part> {
    let (data, format) = (text_of(get(value, "data"))?, text_of(get(value, "format"))?);
    let subtype = if format == "mp3" { "mpeg" } else { format };
    Some(Part::Audio {
        url: format!("data:audio/{subtype};base64,{data}"),
    })
}

fn get<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Dict(entries) => {
            let entry = entries.iter().find(|(name, _)| name.as_str() == Some(key));
            entry.map(|(_, value)| value)
        }
        _ => None,
    }
}

fn text_of(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dict<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::Dict(
            entries
                .into_iter()
                .map(|(key, value)| (key.into(), value))
                .collect(),
        )
    }

    #[test]
    fn text_kinds_show_text_and_tools_show_nothing() {
        for kind in [Kind::Agent, Kind::Behavior] {
            for (value, expect) in [
                (Value::from("as is"), "as is"),
                (Value::Null, "None"),
                (true.into(), "True"),
                (dict([("a", 1.into())]), "{'a': 1}"),
            ] {
                let shown = shown(kind, &value).unwrap();
                assert_eq!(shown.text.as_deref(), Some(expect));
                assert!(shown.parts.is_empty());
            }
        }
        assert_eq!(
            shown(Kind::Tool, &"x".into()).unwrap(),
            ContextAddition::default()
        );
    }

    #[test]
    fn three_shapes_become_parts() {
        let check = |value: Value, expect: &[Part]| assert_eq!(parts(&value).unwrap(), expect);
        let image = Part::Image {
            url: "data:x".into(),
        };
        check("hello".into(), &[Part::text("hello")]);
        check(
            Value::List(vec![
                "plain".into(),
                dict([("type", "text".into()), ("text", "t".into())]),
                dict([
                    ("type", "image_url".into()),
                    ("image_url", dict([("url", "data:x".into())])),
                ]),
                dict([("type", "image_url".into()), ("image_url", "data:x".into())]),
                dict([("type", "image".into()), ("url", "data:x".into())]),
                dict([
                    ("type", "input_audio".into()),
                    (
                        "input_audio",
                        dict([("data", "QUJD".into()), ("format", "mp3".into())]),
                    ),
                ]),
                dict([
                    ("type", "file".into()),
                    ("name", "a.txt".into()),
                    ("url", "/app/shared/a.txt".into()),
                ]),
            ]),
            &[
                Part::text("plain"),
                Part::text("t"),
                image.clone(),
                image.clone(),
                image,
                Part::Audio {
                    url: "data:audio/mpeg;base64,QUJD".into(),
                },
                Part::File {
                    name: "a.txt".into(),
                    url: "/app/shared/a.txt".into(),
                },
            ],
        );
        check(
            dict([
                ("role", "user".into()),
                ("content", Value::List(vec!["in a message".into()])),
            ]),
            &[Part::text("in a message")],
        );
    }

    #[test]
    fn other_shapes_are_refused_by_name() {
        let check = |value: Value, expect: &str| {
            let error = parts(&value).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        for (value, got) in [
            (Value::Int(1), "not int"),
            (Value::Null, "not NoneType"),
            (
                dict([("text", "x".into())]),
                "not a dict without a 'content'",
            ),
        ] {
            check(value.clone(), got);
            check(value, "a list of parts, a str, or one message");
        }
        let text = Value::from("ok");
        check(
            Value::List(vec![text.clone(), Value::Int(1)]),
            "result[1]: int is no part",
        );
        check(
            Value::List(vec![dict([("type", "video".into())])]),
            "result[0]: the part 'video' is not known",
        );
        check(
            Value::List(vec![dict([("type", "image".into())])]),
            "result[0]: the part 'image' is not known or lacks its content",
        );
    }
}
