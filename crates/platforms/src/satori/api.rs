//! [`Api`]: requests to the server: its methods, files handed to it, and files that only it can fetch.

use std::time::Duration;

use callgate_contract::DeliveryError;
use reqwest::{Client, Response, StatusCode, header::RETRY_AFTER};
use serde_json::{Map, Value as Json};

use super::{SatoriSettings, logins::Login};
use crate::{ActionError, client::client};

/// Of a file that is fetched through the server.
const LARGEST_FILE: usize = 32 << 20;
const FETCH: Duration = Duration::from_secs(30);
/// Of what a server says about a failure.
const LONGEST_REASON: usize = 300;
/// Where a server does not say when to come again.
const PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);

pub(super) struct Api {
    client: Client,
    /// Without the slash at its end.
    base: String,
    token: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum ApiError {
    #[error("{0}")]
    Unreachable(String),
    #[error("too many requests: it is to be tried again in {} s", after.as_secs())]
    Later { after: Duration },
    #[error("{reason}")]
    Refused { reason: String, status: u16 },
    #[error("{0}")]
    NoAnswer(String),
}

impl From<ApiError> for ActionError {
    fn from(error: ApiError) -> Self {
        let reason = error.to_string();
        match error {
            ApiError::Unreachable(_) => ActionError::Unreachable { reason },
            ApiError::NoAnswer(_) => ActionError::NoAnswer { reason },
            ApiError::Later { .. } => ActionError::Refused { reason, code: 429 },
            ApiError::Refused { status, .. } => ActionError::Refused {
                reason,
                code: status.into(),
            },
        }
    }
}

impl From<ApiError> for DeliveryError {
    fn from(error: ApiError) -> Self {
        let reason = error.to_string();
        match error {
            ApiError::Unreachable(_) => DeliveryError::Unreachable { reason },
            ApiError::Later { after } => DeliveryError::Later { after, reason },
            // It failed somewhere on its way, maybe behind the point where people see it.
            ApiError::Refused { status: 500.., .. } => DeliveryError::Unknown { reason },
            ApiError::Refused { .. } => DeliveryError::Refused { reason },
            ApiError::NoAnswer(_) => DeliveryError::Unknown { reason },
        }
    }
}

impl Api {
    pub(super) fn new(settings: &SatoriSettings) -> Result<Self, reqwest::Error> {
        Ok(Api {
            client: client()?,
            base: settings.url.clone(),
            token: settings.token.clone(),
        })
    }

    pub(super) async fn call(
        &self,
        login: &Login,
        method: &str,
        parameters: &Map<String, Json>,
        deadline: Duration,
    ) -> Result<Json, ApiError> {
        let body = serde_json::to_vec(parameters).unwrap_or_default();
        self.post(login, method, "application/json", body, deadline)
            .await
    }

    /// Hands a file to the server; the address by which messages refer to it.
    pub(super) async fn upload(
        &self,
        login: &Login,
        name: &str,
        media_type: &str,
        bytes: &[u8],
        deadline: Duration,
    ) -> Result<String, ApiError> {
        const FIELD: &str = "file";
        let boundary = boundary(bytes);
        let name: String = name
            .chars()
            .filter(|c| !c.is_control() && !"\"\\".contains(*c))
            .collect();
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{FIELD}\"; \
             filename=\"{name}\"\r\nContent-Type: {media_type}\r\n\r\n"
        );
        let tail = format!("\r\n--{boundary}--\r\n");
        let body = [head.as_bytes(), bytes, tail.as_bytes()].concat();
        let kind = format!("multipart/form-data; boundary={boundary}");
        let answer = self
            .post(login, "upload.create", &kind, body, deadline)
            .await?;
        let url = answer.get(FIELD).and_then(Json::as_str);
        url.map(str::to_owned).ok_or_else(|| {
            ApiError::NoAnswer("it did not say where the file that was handed over is".to_owned())
        })
    }

    async fn post(
        &self,
        login: &Login,
        method: &str,
        content_type: &str,
        body: Vec<u8>,
        deadline: Duration,
    ) -> Result<Json, ApiError> {
        // It becomes a path: nothing but a name.
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_.-/".contains(c);
        if !method.chars().all(is_name) || method.contains("..") {
            return Err(ApiError::Refused {
                reason: format!("'{method}' is not the name of a method"),
                status: 404,
            });
        }
        let mut request = self
            .client
            .post(format!("{}/v1/{method}", self.base))
            .header("Content-Type", content_type)
            .header("Satori-Platform", login.network.as_str())
            .header("Satori-User-ID", login.account.as_str())
            // As servers before version 1.2 read them.
            .header("X-Platform", login.network.as_str())
            .header("X-Self-ID", login.account.as_str())
            .timeout(deadline)
            .body(body);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.map_err(lost)?;
        let response = refused(response).await?;
        let body = response.bytes().await.map_err(lost)?;
        if body.is_empty() {
            return Ok(Json::Null);
        }
        serde_json::from_slice(&body).map_err(|_| {
            ApiError::NoAnswer("it answered with something that is not JSON".to_owned())
        })
    }

    /// A file at an address that the server is asked to resolve (`internal:…`), or at its own.
    pub(super) async fn fetch(&self, url: &str) -> Result<Vec<u8>, ApiError> {
        let address = if self.is_own(url) {
            url.to_owned()
        } else {
            format!("{}/v1/proxy/{url}", self.base)
        };
        let mut request = self.client.get(address).timeout(FETCH);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let mut response = refused(request.send().await.map_err(lost)?).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(lost)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LARGEST_FILE {
                return Err(ApiError::Refused {
                    reason: format!("it is larger than {} MB", LARGEST_FILE >> 20),
                    status: 413,
                });
            }
        }
        Ok(bytes)
    }

    /// Is it an address of the server that the operator named?
    pub(super) fn is_own(&self, url: &str) -> bool {
        let rest = url.strip_prefix(&self.base);
        rest.is_some_and(|rest| rest.starts_with('/'))
    }
}

/// What separates the parts of a form, and is in none of them.
fn boundary(bytes: &[u8]) -> String {
    let mut number = bytes.len();
    loop {
        let boundary = format!("callgate-{number}");
        let is_inside = bytes
            .windows(boundary.len())
            .any(|window| window == boundary.as_bytes());
        if !is_inside {
            return boundary;
        }
        number += 1;
    }
}

fn lost(error: reqwest::Error) -> ApiError {
    let was_sent = !error.is_connect();
    let reason = error.without_url().to_string();
    if was_sent {
        ApiError::NoAnswer(reason)
    } else {
        ApiError::Unreachable(reason)
    }
}

async fn refused(response: Response) -> Result<Response, ApiError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    if status == StatusCode::TOO_MANY_REQUESTS {
        let after = response.headers().get(RETRY_AFTER);
        let after = after.and_then(|it| it.to_str().ok()?.parse().ok());
        let after = after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        return Err(ApiError::Later {
            after: after.map_or(PAUSE, |after| after.min(LONGEST_PAUSE)),
        });
    }
    let said = response.text().await.unwrap_or_default();
    let said: String = said.trim().chars().take(LONGEST_REASON).collect();
    let status = status.as_u16();
    let reason = match (status, said.is_empty()) {
        (401, _) => "the token was refused".to_owned(),
        (_, true) => format!("it answered with status {status}"),
        (_, false) => said,
    };
    Err(ApiError::Refused { reason, status })
}
