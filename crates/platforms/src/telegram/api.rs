//! [`Api`]: Telegram's Bot API over HTTP. The token is part of every address, so no error shows one, and
//! whatever words come back lose it.

use std::{error::Error, time::Duration};

use reqwest::{Client, RequestBuilder, redirect::Policy};
use serde_json::{Map, Value as Json};

use super::{TelegramSettings, multipart};
use crate::ActionError;

const CONNECT: Duration = Duration::from_secs(10);
/// Less than servers keep a connection: a request on one that they close is neither sent nor unsent.
const IDLE: Duration = Duration::from_secs(20);
/// Of a file that came with a message. Telegram's own servers give out 20 MB.
const LARGEST_FILE: usize = 32 << 20;

pub(super) struct Api {
    client: Client,
    /// Without the slash at its end.
    base: String,
    token: String,
}

#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum ApiError {
    /// Nothing was sent.
    #[error("cannot reach Telegram: {0}")]
    Unreachable(String),
    /// Telegram's own words. Nothing was done.
    #[error("{description}")]
    Refused {
        code: i64,
        description: String,
        /// Of a rate limit.
        retry_after: Option<Duration>,
        /// The group is a supergroup now, and called so.
        migrate_to: Option<i64>,
    },
    /// It was asked, and nobody knows what came of it.
    #[error("no answer from Telegram: {0}")]
    NoAnswer(String),
}

impl From<ApiError> for ActionError {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Unreachable(reason) => ActionError::Unreachable { reason },
            ApiError::NoAnswer(reason) => ActionError::NoAnswer { reason },
            ApiError::Refused {
                code, description, ..
            } => ActionError::Refused {
                reason: description,
                code,
            },
        }
    }
}

/// A file that goes with a request.
#[derive(Clone)]
pub(super) struct Upload {
    /// The parameter it is.
    pub(super) field: String,
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

impl Api {
    pub(super) fn new(settings: &TelegramSettings) -> Result<Self, reqwest::Error> {
        Ok(Api {
            client: client()?,
            base: settings.api_url.trim_end_matches('/').to_owned(),
            token: settings.token.clone(),
        })
    }

    pub(super) async fn call(
        &self,
        method: &str,
        parameters: &Map<String, Json>,
        deadline: Duration,
    ) -> Result<Json, ApiError> {
        let body = serde_json::to_vec(parameters).unwrap_or_default();
        let request = self
            .client
            .post(self.address(method))
            .header("Content-Type", "application/json")
            .timeout(deadline)
            .body(body);
        self.answer(request).await
    }

    pub(super) async fn upload(
        &self,
        method: &str,
        parameters: &Map<String, Json>,
        files: &[Upload],
        deadline: Duration,
    ) -> Result<Json, ApiError> {
        let (kind, body) = multipart::body(parameters, files);
        let request = self
            .client
            .post(self.address(method))
            .header("Content-Type", kind)
            .timeout(deadline)
            .body(body);
        self.answer(request).await
    }

    /// The bytes of what `getFile` named.
    pub(super) async fn download(
        &self,
        path: &str,
        deadline: Duration,
    ) -> Result<Vec<u8>, ApiError> {
        if path.starts_with('/') {
            let reason = "the Bot API server keeps files on its own disk: run it without --local";
            return Err(ApiError::NoAnswer(reason.to_owned()));
        }
        let address = format!("{}/file/bot{}/{path}", self.base, self.token);
        let response = self.client.get(address).timeout(deadline).send().await;
        let mut response = response.map_err(|error| self.failure(error))?;
        if !response.status().is_success() {
            let status = response.status().as_u16();
            return Err(ApiError::NoAnswer(format!("the file has status {status}")));
        }
        let mut bytes = Vec::new();
        loop {
            let chunk = response.chunk().await;
            let Some(chunk) = chunk.map_err(|error| self.failure(error))? else {
                return Ok(bytes);
            };
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LARGEST_FILE {
                return Err(ApiError::NoAnswer("the file is too large".to_owned()));
            }
        }
    }

    fn address(&self, method: &str) -> String {
        format!("{}/bot{}/{method}", self.base, self.token)
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Json, ApiError> {
        let response = request.send().await.map_err(|error| self.failure(error))?;
        let status = response.status().as_u16();
        let body = response.bytes().await;
        let body = body.map_err(|error| self.failure(error))?;
        self.read(status, &body)
    }

    fn read(&self, status: u16, body: &[u8]) -> Result<Json, ApiError> {
        let Ok(mut answer) = serde_json::from_slice::<Json>(body) else {
            let reason = format!("status {status}, and something that is not JSON");
            return Err(ApiError::NoAnswer(reason));
        };
        if answer.get("ok") == Some(&Json::Bool(true)) {
            return Ok(answer.get_mut("result").map_or(Json::Null, Json::take));
        }
        let code = answer.get("error_code").and_then(Json::as_i64);
        let code = code.unwrap_or_else(|| status.into());
        let description = answer.get("description").and_then(Json::as_str);
        let description = self.without_token(description.unwrap_or("Telegram refused it"));
        if code >= 500 {
            return Err(ApiError::NoAnswer(format!("{code} {description}")));
        }
        let parameter = |name: &str| answer.get("parameters").and_then(|it| it.get(name));
        let seconds = parameter("retry_after").and_then(Json::as_u64);
        Err(ApiError::Refused {
            retry_after: seconds.map(Duration::from_secs),
            migrate_to: parameter("migrate_to_chat_id").and_then(Json::as_i64),
            code,
            description,
        })
    }

    fn failure(&self, error: reqwest::Error) -> ApiError {
        let was_sent = !error.is_connect();
        let error = error.without_url();
        // The innermost error says what happened: a name that is not known, a certificate.
        let mut cause: &dyn Error = &error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        let reason = self.without_token(&cause.to_string());
        if was_sent {
            ApiError::NoAnswer(reason)
        } else {
            ApiError::Unreachable(reason)
        }
    }

    fn without_token(&self, text: &str) -> String {
        text.replace(&self.token, "…")
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "the address is Telegram's, or one that the operator named"
)]
fn client() -> Result<Client, reqwest::Error> {
    Client::builder()
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        // The token would follow a redirect to anywhere.
        .redirect(Policy::none())
        .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
        .build()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn api(base: &str) -> Api {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let settings = TelegramSettings {
            token: "123:SECRET".to_owned(),
            api_url: base.to_owned(),
            ..TelegramSettings::default()
        };
        Api::new(&settings).unwrap()
    }

    #[test]
    fn an_answer_is_a_result_or_a_reason() {
        let api = api("http://127.0.0.1:9");
        let read = |status, body: Json| api.read(status, body.to_string().as_bytes());
        let done = read(200, json!({"ok": true, "result": {"message_id": 5}}));
        assert_eq!(done.unwrap(), json!({"message_id": 5}));
        let limited = json!({"ok": false, "error_code": 429, "description": "Too Many Requests",
            "parameters": {"retry_after": 7}});
        let Err(ApiError::Refused { retry_after, .. }) = read(429, limited) else {
            panic!("refused");
        };
        assert_eq!(retry_after, Some(Duration::from_secs(7)));
        let broken = read(
            502,
            json!({"ok": false, "error_code": 502, "description": "Bad"}),
        );
        assert!(matches!(broken, Err(ApiError::NoAnswer(_))));
        let told = json!({"ok": false, "error_code": 404, "description": "no bot123:SECRET"});
        assert_eq!(read(404, told).unwrap_err().to_string(), "no bot…");
        assert!(matches!(
            api.read(200, b"<html>"),
            Err(ApiError::NoAnswer(_))
        ));
    }

    #[tokio::test]
    async fn no_error_shows_the_token() {
        for base in [
            "http://127.0.0.1:9",
            "http://no.such.host.invalid",
            "http://\0",
        ] {
            let error = api(base)
                .call("getMe", &Map::new(), Duration::from_secs(5))
                .await
                .unwrap_err();
            assert!(
                !format!("{error} {error:?}").contains("SECRET"),
                "{error:?}"
            );
        }
    }
}
