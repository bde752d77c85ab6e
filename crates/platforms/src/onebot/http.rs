//! [`HttpActions`]: actions as HTTP requests, where there is no WebSocket. Events then come by webhook.

use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use reqwest::Client;
use serde_json::{Map, Value as Json};

use super::{OneBotSettings, answer, event::field};
use crate::{AccountStatus, ActionError, client::client};

const HELLO: Duration = Duration::from_secs(10);

pub(super) struct HttpActions {
    client: Client,
    /// Without the slash at its end.
    url: String,
    token: Option<String>,
    /// A mutex, held for a copy: who it is, once it has said so.
    account: Mutex<Option<AccountStatus>>,
}

impl HttpActions {
    /// For a URL of that kind.
    pub(super) fn new(settings: &OneBotSettings) -> Result<Option<Self>, reqwest::Error> {
        let url = settings
            .url
            .as_deref()
            .filter(|url| url.starts_with("http"));
        let Some(url) = url else { return Ok(None) };
        Ok(Some(HttpActions {
            client: client()?,
            url: url.trim_end_matches('/').to_owned(),
            token: settings.token.clone(),
            account: Mutex::default(),
        }))
    }

    pub(super) fn status(&self) -> Option<AccountStatus> {
        self.account.lock().clone()
    }

    /// True if somebody answered, who was not there before.
    pub(super) async fn look(&self) -> Result<bool, ActionError> {
        let info = self.call("get_login_info", &Map::new(), HELLO).await;
        let mut account = self.account.lock();
        let info = info.inspect_err(|_| *account = None)?;
        let is_new = account.is_none();
        let since = account.take().map(|known| known.since);
        *account = Some(AccountStatus {
            id: field(&info, "user_id").unwrap_or_default(),
            name: field(&info, "nickname").unwrap_or_default(),
            program: String::new(),
            since: since.unwrap_or_else(|| Timestamp::now().as_millisecond()),
        });
        Ok(is_new)
    }

    pub(super) async fn call(
        &self,
        action: &str,
        parameters: &Map<String, Json>,
        deadline: Duration,
    ) -> Result<Json, ActionError> {
        // It becomes a path: nothing but a name.
        if !action
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.".contains(c))
        {
            let reason = format!("'{action}' is not the name of an action");
            return Err(ActionError::Refused { reason, code: 1404 });
        }
        let body = serde_json::to_vec(parameters).unwrap_or_default();
        let mut request = self
            .client
            .post(format!("{}/{action}", self.url))
            .header("Content-Type", "application/json")
            .timeout(deadline)
            .body(body);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.map_err(|error| {
            let was_sent = !error.is_connect();
            let reason = error.without_url().to_string();
            if !was_sent {
                ActionError::Unreachable { reason }
            } else {
                ActionError::NoAnswer { reason }
            }
        })?;
        let status = response.status();
        let body = response
            .bytes()
            .await
            .map_err(|error| ActionError::NoAnswer {
                reason: error.without_url().to_string(),
            })?;
        if !status.is_success() {
            let reason = format!("it answered with status {}", status.as_u16());
            return Err(ActionError::Refused {
                reason,
                code: status.as_u16().into(),
            });
        }
        let answer = serde_json::from_slice(&body).map_err(|_| ActionError::NoAnswer {
            reason: "it answered with something that is not JSON".to_owned(),
        })?;
        answer::read(answer)
    }
}
