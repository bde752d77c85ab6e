//! What a tool gave, as a value: its structured content, else its text, else all it gave as parts.

use callgate_contract::{Kind, MethodError, Part, Value, json as value_json};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value as Json, json};

pub(super) fn value(result: CallToolResult, kind: Kind) -> Result<Value, MethodError> {
    if result.is_error == Some(true) {
        return Err(MethodError::new(words(&result.content)));
    }
    if kind == Kind::MultimodalAgent {
        return list(&result.content);
    }
    if let Some(structured) = result.structured_content {
        // What looks like one of our own marks stays what it is: text.
        let text = structured.to_string();
        return Ok(value_json::from_json(structured).unwrap_or(Value::Str(text)));
    }
    if result.content.iter().all(|block| text(block).is_some()) {
        Ok(Value::Str(words(&result.content)))
    } else {
        list(&result.content)
    }
}

fn words(content: &[ContentBlock]) -> String {
    let texts: Vec<&str> = content.iter().filter_map(text).collect();
    texts.join("\n")
}

fn text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) => Some(&text.text),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { text, .. } => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn list(content: &[ContentBlock]) -> Result<Value, MethodError> {
    let parts: Vec<Part> = content.iter().map(part).collect();
    let unfit = |error: &dyn std::fmt::Display| {
        MethodError::new(format!("the tool gave what cannot be passed on: {error}"))
    };
    let json: Json = json!(parts);
    value_json::from_json(json).map_err(|error| unfit(&error))
}

fn part(block: &ContentBlock) -> Part {
    let data = |kind: &str, data: &str| format!("data:{kind};base64,{data}");
    match block {
        ContentBlock::Image(image) => Part::Image {
            url: data(&image.mime_type, &image.data),
        },
        ContentBlock::Audio(audio) => Part::Audio {
            url: data(&audio.mime_type, &audio.data),
        },
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => {
                let kind = mime_type.as_deref().unwrap_or("application/octet-stream");
                Part::File {
                    name: uri.rsplit('/').next().unwrap_or(uri).to_owned(),
                    url: data(kind, blob),
                }
            }
            _ => Part::text(text(block).unwrap_or_default()),
        },
        ContentBlock::ResourceLink(link) => Part::text(format!("{}: {}", link.name, link.uri)),
        _ => Part::text(text(block).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(content: Vec<ContentBlock>) -> Value {
        value(CallToolResult::success(content), Kind::Tool).unwrap()
    }

    #[test]
    fn text_is_text_and_more_than_text_is_parts() {
        let texts = vec![
            ContentBlock::text("one"),
            ContentBlock::embedded_text("u:x", "two"),
        ];
        assert_eq!(given(texts), Value::from("one\ntwo"));
        assert_eq!(given(Vec::new()), Value::from(""));
        let image = given(vec![
            ContentBlock::text("look"),
            ContentBlock::image("QUJD", "image/png"),
        ]);
        let expected = json!([
            { "type": "text", "text": "look" },
            { "type": "image", "url": "data:image/png;base64,QUJD" },
        ]);
        assert_eq!(value_json::to_json(&image), expected);
    }

    #[test]
    fn structured_content_comes_first() {
        let mut result = CallToolResult::success(vec![ContentBlock::text("{\"a\": 1}")]);
        result.structured_content = Some(json!({ "a": 1 }));
        let structured = value(result, Kind::Tool).unwrap();
        assert_eq!(value_json::to_json(&structured), json!({ "a": 1 }));
    }

    #[test]
    fn a_failure_is_told_in_the_tools_words() {
        let failed = CallToolResult::error(vec![ContentBlock::text("no such city")]);
        assert_eq!(
            value(failed, Kind::Tool).unwrap_err().message,
            "no such city"
        );
    }
}
