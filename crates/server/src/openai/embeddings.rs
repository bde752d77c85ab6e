//! `/v1/embeddings`, by the configured model for them or one that is named.

use axum::{
    Extension, Json as Body,
    extract::{State, rejection::JsonRejection},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use callgate_agent::{NoVectors, VectorsAsk};
use serde_json::{Value as Json, json};

use super::{
    Failure, OpenAi,
    access::Asker,
    models, options,
    request::{model_of, read},
};

/// Texts of one request.
const MOST: usize = 2_048;

pub(super) async fn create(
    State(openai): State<OpenAi>,
    Extension(asker): Extension<Asker>,
    body: Result<Body<Json>, JsonRejection>,
) -> Result<Body<Json>, Failure> {
    let body = read(body)?;
    let name = model_of(&body)?;
    let agent = openai.agent()?;
    let Some(model) = models::named(agent.models(), &name) else {
        return Err(Failure::no_model(&name));
    };
    let texts: Vec<String> = match &body["input"] {
        Json::String(text) => vec![text.clone()],
        _ => options::field(&body, "input", "a text, or a list of texts")?.unwrap_or_default(),
    };
    if texts.is_empty() || texts.len() > MOST {
        let message = format!("input is a text, or a list of at most {MOST} texts");
        return Err(Failure::bad("input", message));
    }
    let wanted: Option<usize> = options::field(&body, "dimensions", "a whole number")?;
    let asked = VectorsAsk {
        session: asker.session,
        principal: asker.principal,
        role: asker.role,
        model: model.id.clone(),
        texts,
        parent: asker.parent,
    };
    // What was begun comes to its recorded end, whatever becomes of the asker.
    let agent = agent.clone();
    let made = tokio::spawn(async move { agent.vectors_for(asked).await });
    let made = made.await.map_err(|_| Failure::cut_off())?;
    let made = made.map_err(|error| match error {
        NoVectors::Budget(reason) => Failure::spent(reason),
        NoVectors::Model(error) => Failure::from(&error),
        NoVectors::Spending(error) => {
            tracing::error!(%error, "embedding request failed");
            Failure::cut_off()
        }
    })?;
    let as_text = body["encoding_format"] == "base64";
    let data = made
        .vectors
        .into_iter()
        .enumerate()
        .map(|(index, mut vector)| {
            vector.truncate(wanted.unwrap_or(usize::MAX));
            let embedding = if as_text {
                json!(encoded(&vector))
            } else {
                json!(vector)
            };
            json!({"object": "embedding", "index": index, "embedding": embedding})
        });
    let data: Vec<Json> = data.collect();
    let tokens = made.usage.unwrap_or_default().input;
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    Ok(Body(
        json!({"object": "list", "data": data, "model": name, "usage": usage}),
    ))
}

/// Floats of 32 bits, the low byte first.
fn encoded(vector: &[f32]) -> String {
    let bytes: Vec<u8> = vector.iter().flat_map(|it| it.to_le_bytes()).collect();
    STANDARD.encode(bytes)
}
