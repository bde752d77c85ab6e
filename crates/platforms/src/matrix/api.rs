//! [`Api`]: requests to the homeserver, each with a deadline, and what may come of one. The token goes into a
//! header and nowhere else.

use std::time::Duration;

use parking_lot::RwLock;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value as Json;

use super::MatrixSettings;
use crate::client::client;

/// For a question.
pub(super) const ASK: Duration = Duration::from_secs(20);
/// Where a server limits us and does not say for how long.
const LIMITED: Duration = Duration::from_secs(5);
/// The client-server API; everything but media.
pub(super) const V3: &str = "/_matrix/client/v3";

#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum ApiError {
    /// Nothing was sent.
    #[error("cannot reach the homeserver: {reason}")]
    Unreachable { reason: String },
    /// It may have been done.
    #[error("the homeserver did not answer: {reason}")]
    NoAnswer { reason: String },
    #[error("the homeserver takes no more requests for {} s", after.as_secs())]
    Limited { after: Duration },
    /// The server's own words.
    #[error("{reason} ({code})")]
    Refused {
        status: u16,
        code: String,
        reason: String,
    },
}

impl ApiError {
    /// There is no such thing, or none that we may see.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, ApiError::Refused { status, .. } if matches!(status, 403 | 404))
    }

    pub(super) fn is_token(&self) -> bool {
        matches!(self, ApiError::Refused { status: 401, .. })
    }
}

/// What is asked of the server.
pub(super) struct Ask<'a> {
    pub(super) method: Method,
    /// Below this path come `segments`.
    pub(super) prefix: &'a str,
    pub(super) segments: &'a [&'a str],
    pub(super) query: &'a [(&'a str, &'a str)],
    pub(super) body: Option<&'a Json>,
    pub(super) deadline: Duration,
}

impl<'a> Ask<'a> {
    pub(super) fn get(segments: &'a [&'a str]) -> Self {
        Ask {
            method: Method::GET,
            prefix: V3,
            segments,
            query: &[],
            body: None,
            deadline: ASK,
        }
    }

    pub(super) fn put(segments: &'a [&'a str], body: &'a Json) -> Self {
        Ask {
            method: Method::PUT,
            body: Some(body),
            ..Ask::get(segments)
        }
    }

    pub(super) fn post(segments: &'a [&'a str], body: &'a Json) -> Self {
        Ask {
            method: Method::POST,
            body: Some(body),
            ..Ask::get(segments)
        }
    }

    pub(super) fn query(self, query: &'a [(&'a str, &'a str)]) -> Self {
        Ask { query, ..self }
    }

    pub(super) fn deadline(self, deadline: Duration) -> Self {
        Ask { deadline, ..self }
    }
}

pub(super) struct Api {
    client: Client,
    token: String,
    /// As the operator wrote it.
    named: Url,
    /// Where the server really is, which may be written down at that address. A lock, held for a copy.
    base: RwLock<Url>,
}

impl Api {
    pub(super) fn new(settings: &MatrixSettings) -> Result<Self, String> {
        let named = Url::parse(&settings.url).map_err(|error| error.to_string())?;
        Ok(Api {
            client: client().map_err(|error| error.to_string())?,
            token: settings.token.clone(),
            base: RwLock::new(named.clone()),
            named,
        })
    }

    /// Finds the server: at the address itself, or where that says it is.
    pub(super) async fn discover(&self) -> Result<(), ApiError> {
        *self.base.write() = self.named.clone();
        let versions = Ask {
            prefix: "/_matrix/client",
            ..Ask::get(&["versions"])
        };
        let Err(error) = self.ask(versions).await else {
            return Ok(());
        };
        if !matches!(error, ApiError::Refused { .. } | ApiError::NoAnswer { .. }) {
            return Err(error);
        }
        let written = Ask {
            prefix: "/.well-known/matrix",
            ..Ask::get(&["client"])
        };
        let written = self.ask(written).await.map_err(|_| error.clone())?;
        let found = written["m.homeserver"]["base_url"].as_str();
        let found = found.and_then(|url| Url::parse(url).ok());
        // The token would go there: never less protected than the address that the operator gave.
        let is_safe = |url: &Url| url.scheme() == "https" || url.scheme() == self.named.scheme();
        *self.base.write() = found.filter(is_safe).ok_or(error)?;
        Ok(())
    }

    pub(super) async fn ask(&self, ask: Ask<'_>) -> Result<Json, ApiError> {
        let mut request = self.request(&ask);
        if let Some(body) = ask.body {
            let body = serde_json::to_vec(body).unwrap_or_default();
            request = request
                .header("Content-Type", "application/json")
                .body(body);
        }
        json_of(checked(request).await?).await
    }

    /// Bytes as they are, in both directions.
    pub(super) async fn upload(
        &self,
        name: &str,
        kind: &str,
        bytes: Vec<u8>,
        deadline: Duration,
    ) -> Result<Json, ApiError> {
        let query = [("filename", name)];
        let ask = Ask {
            method: Method::POST,
            prefix: "/_matrix/media/v3",
            query: &query,
            deadline,
            ..Ask::get(&["upload"])
        };
        let request = self.request(&ask).header("Content-Type", kind).body(bytes);
        json_of(checked(request).await?).await
    }

    /// `None` for more than `most` bytes.
    pub(super) async fn download(
        &self,
        ask: Ask<'_>,
        most: usize,
    ) -> Result<Option<Vec<u8>>, ApiError> {
        let mut response = checked(self.request(&ask)).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unanswered)? {
            if bytes.len() + chunk.len() > most {
                return Ok(None);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Some(bytes))
    }

    fn request(&self, ask: &Ask<'_>) -> RequestBuilder {
        let mut url = self.base.read().clone();
        // An address without a host has no segments; settings refuse it.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty();
            path.extend(ask.prefix.split('/').filter(|it| !it.is_empty()));
            path.extend(ask.segments);
        }
        if !ask.query.is_empty() {
            url.query_pairs_mut().extend_pairs(ask.query);
        }
        self.client
            .request(ask.method.clone(), url)
            .bearer_auth(&self.token)
            .timeout(ask.deadline)
    }
}

async fn checked(request: RequestBuilder) -> Result<Response, ApiError> {
    let response = request.send().await.map_err(unanswered)?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let retry_after = response.headers().get("Retry-After");
    let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
    let retry_after: Option<u64> = retry_after;
    let body = response.bytes().await.unwrap_or_default();
    let said: Json = serde_json::from_slice(&body).unwrap_or_default();
    Err(refusal(status, &said, retry_after))
}

fn refusal(status: StatusCode, said: &Json, retry_after: Option<u64>) -> ApiError {
    let code = said["errcode"].as_str().unwrap_or_default();
    if status == StatusCode::TOO_MANY_REQUESTS || code == "M_LIMIT_EXCEEDED" {
        let after = said["retry_after_ms"].as_u64().map(Duration::from_millis);
        let after = after.or(retry_after.map(Duration::from_secs));
        return ApiError::Limited {
            after: after.unwrap_or(LIMITED),
        };
    }
    if status.is_server_error() {
        let reason = format!("status {}", status.as_u16());
        return ApiError::NoAnswer { reason };
    }
    ApiError::Refused {
        status: status.as_u16(),
        code: if code.is_empty() {
            format!("status {}", status.as_u16())
        } else {
            code.to_owned()
        },
        reason: said["error"]
            .as_str()
            .unwrap_or("no Matrix server answers there")
            .to_owned(),
    }
}

async fn json_of(response: Response) -> Result<Json, ApiError> {
    let body = response.bytes().await.map_err(unanswered)?;
    serde_json::from_slice(&body).map_err(|_| ApiError::NoAnswer {
        reason: "it answered with something that is not JSON".to_owned(),
    })
}

fn unanswered(error: reqwest::Error) -> ApiError {
    let was_sent = !error.is_connect();
    let error = error.without_url();
    // What it says itself is only that a request failed; why is further in.
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    let reason = innermost.to_string();
    if was_sent {
        ApiError::NoAnswer { reason }
    } else {
        ApiError::Unreachable { reason }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_limit_says_for_how_long() {
        let limited =
            |said: Json, header| match refusal(StatusCode::TOO_MANY_REQUESTS, &said, header) {
                ApiError::Limited { after } => after,
                other => panic!("{other}"),
            };
        let said = json!({"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 1500});
        assert_eq!(limited(said, Some(9)), Duration::from_millis(1500));
        assert_eq!(limited(Json::Null, Some(9)), Duration::from_secs(9));
        assert_eq!(limited(Json::Null, None), LIMITED);
    }

    #[test]
    fn what_failed_there_may_have_been_done() {
        let error = refusal(StatusCode::BAD_GATEWAY, &Json::Null, None);
        assert!(matches!(error, ApiError::NoAnswer { .. }));
        let said = json!({"errcode": "M_UNKNOWN_TOKEN", "error": "Invalid access token passed."});
        let error = refusal(StatusCode::UNAUTHORIZED, &said, None);
        assert!(error.is_token() && !error.is_absent());
        assert_eq!(
            error.to_string(),
            "Invalid access token passed. (M_UNKNOWN_TOKEN)"
        );
    }
}
