//! Operations of the service over HTTP: a request is put together from path, query and body, and the
//! response is the body that is sent back.

use std::sync::Arc;

use axum::{
    Extension, Json as Body,
    extract::{Query, RawPathParams, State},
    http::{HeaderMap, HeaderValue, header},
};
use callgate_service::{Operation, read_operation};
use serde_json::{Map, Value as Json};

use super::{Api, Outcome, access::Access, input::Raw, problem::Problem};

/// Which fields a request has, so that what comes as text is read as what it stands for.
pub(super) struct RequestShape {
    properties: Map<String, Json>,
    in_path: Vec<String>,
}

impl RequestShape {
    pub(super) fn new(schema: &Json, path: &str) -> Self {
        let parameter = |segment: &str| {
            let name = segment.strip_prefix('{')?.strip_suffix('}')?;
            Some(name.trim_start_matches('*').to_owned())
        };
        let properties = schema["properties"].as_object().cloned();
        RequestShape {
            properties: properties.unwrap_or_default(),
            in_path: path.split('/').filter_map(parameter).collect(),
        }
    }

    /// The schema of what the path does not name.
    pub(super) fn without_path(&self, schema: &Json) -> Json {
        without(schema, |name| {
            self.in_path.iter().any(|known| known == name)
        })
    }

    /// What a text in a path or query stands for.
    fn value(&self, name: &str, text: &str) -> Json {
        let types = self.properties.get(name).map(|schema| &schema["type"]);
        let is = |word: &str| match types {
            Some(Json::String(only)) => only == word,
            Some(Json::Array(several)) => several.iter().any(|it| it == word),
            _ => false,
        };
        let number = is("integer") || is("number");
        let read = (number || is("boolean")).then(|| serde_json::from_str(text).ok());
        read.flatten().unwrap_or_else(|| text.into())
    }
}

/// The schema of a request without some of its fields.
pub(super) fn without(schema: &Json, is_elsewhere: impl Fn(&str) -> bool) -> Json {
    let mut rest = schema.clone();
    if let Some(rest) = rest.as_object_mut() {
        // The document holds them once for all.
        rest.remove("components");
        rest.remove("title");
    }
    if let Some(properties) = rest.get_mut("properties").and_then(Json::as_object_mut) {
        properties.retain(|name, _| !is_elsewhere(name));
    }
    if let Some(required) = rest.get_mut("required").and_then(Json::as_array_mut) {
        required.retain(|name| !name.as_str().is_some_and(&is_elsewhere));
    }
    rest
}

pub(super) async fn perform<O: Operation>(
    shape: Arc<RequestShape>,
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    path: RawPathParams,
    query: Result<Query<Vec<(String, String)>>, axum::extract::rejection::QueryRejection>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Outcome<O::Response> {
    // A page of somebody else may post texts and forms without asking a browser first, but no JSON.
    let media = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_json = media.is_some_and(|media| media.starts_with(b"application/json"));
    if !body.is_empty() && !is_json {
        return Err(unreadable(
            "send JSON, with `Content-Type: application/json`",
        ));
    }
    let mut fields = match body.as_ref() {
        [] => Map::new(),
        sent => serde_json::from_slice(sent).map_err(|error| unreadable(&error.to_string()))?,
    };
    let Query(query) = query.map_err(|rejection| unreadable(&rejection.body_text()))?;
    for (name, text) in &query {
        fields.insert(name.clone(), shape.value(name, text));
    }
    for (name, text) in &path {
        fields.insert(name.to_owned(), shape.value(name, text));
    }
    let request: O =
        read_operation(Json::Object(fields)).map_err(|error| unreadable(&error.message))?;
    let response = api.service().call(&access.principal(), request).await?;
    Ok(Body(response))
}

pub(super) fn unreadable(reason: &str) -> Problem {
    Problem::bad(reason).hint("GET /api/openapi.json describes every request")
}
