//! Texts to vectors, on the wires that have it. Pure: what is asked and what is answered.

use callgate_contract::{Embeddings, ModelError, Usage};
use serde_json::{Map, Value as Json, json};

use crate::{
    failure,
    wire::{Wire, overlay},
};

/// Texts in one request: no wire takes fewer.
pub(crate) const MOST: usize = 100;

/// `extra` is what the operator adds to requests, such as a number of dimensions.
pub fn body(wire: Wire, model: &str, texts: &[String], extra: &Map<String, Json>) -> Json {
    let mut body = Map::new();
    match wire {
        Wire::Gemini => {
            let requests = texts.iter().map(|text| {
                let mut request = Map::new();
                request.insert("model".to_owned(), json!(format!("models/{model}")));
                request.insert("content".to_owned(), json!({"parts": [{"text": text}]}));
                overlay(&mut request, extra);
                Json::Object(request)
            });
            body.insert("requests".to_owned(), requests.collect());
        }
        _ => {
            body.insert("model".to_owned(), json!(model));
            body.insert("input".to_owned(), json!(texts));
            if wire != Wire::Ollama {
                body.insert("encoding_format".to_owned(), json!("float"));
            }
            overlay(&mut body, extra);
        }
    }
    Json::Object(body)
}

/// One vector for each of `count` texts, or an error.
pub fn read(wire: Wire, answer: &[u8], count: usize) -> Result<Embeddings, ModelError> {
    let text = String::from_utf8_lossy(answer);
    let answer: Json = serde_json::from_str(&text).map_err(|_| failure::no_json(&text))?;
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        return Err(failure::reported(error));
    }
    let (list, values) = match wire {
        Wire::Gemini => ("embeddings", "/values"),
        Wire::Ollama => ("embeddings", ""),
        _ => ("data", "/embedding"),
    };
    let list = answer.get(list).and_then(Json::as_array);
    let mut placed: Vec<(u64, Vec<f32>)> = list
        .into_iter()
        .flatten()
        .zip(0..)
        .filter_map(|(item, place)| {
            let index = item.get("index").and_then(Json::as_u64).unwrap_or(place);
            Some((index, vector(item.pointer(values)?)?))
        })
        .collect();
    placed.sort_by_key(|(index, _)| *index);
    if placed.len() != count {
        let message = format!("{} vectors for {count} texts", placed.len());
        return Err(ModelError::Malformed { message });
    }
    Ok(Embeddings {
        vectors: placed.into_iter().map(|(_, vector)| vector).collect(),
        usage: used(&answer),
    })
}

fn vector(values: &Json) -> Option<Vec<f32>> {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "models work in less than f32"
    )]
    let number = |value: &Json| value.as_f64().map(|number| number as f32);
    let vector: Option<Vec<f32>> = values.as_array()?.iter().map(number).collect();
    vector.filter(|vector| !vector.is_empty())
}

fn used(answer: &Json) -> Option<Usage> {
    let paths = [
        "/usage/prompt_tokens",
        "/prompt_eval_count",
        "/usageMetadata/promptTokenCount",
    ];
    let input = paths
        .into_iter()
        .find_map(|path| answer.pointer(path)?.as_u64());
    input.map(|input| Usage {
        input,
        ..Usage::default()
    })
}

/// Of several requests together. A price unknown for one of them is unknown for all.
pub(crate) fn sum(one: Option<Usage>, other: Option<Usage>) -> Option<Usage> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.plus(other)),
        (one, other) => one.or(other),
    }
}
