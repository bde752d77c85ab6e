//! The one place that builds HTTP clients. It sends, waits with a limit, and turns what goes wrong
//! into a [`ModelError`]; it knows no wire and never logs a header or a body.

use std::{
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use callgate_contract::ModelError;
use reqwest::{
    Client, Method, Response,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
    redirect::Policy,
};
use serde_json::Value as Json;

const CONNECT: Duration = Duration::from_secs(10);

/// Of a refusal, which is read whole to be shown in part.
const LONGEST_REFUSAL: usize = 64 << 10;

/// One client for all models, so that connections are shared. Built at the first request: it reads
/// the system's certificates, which a start without models should not wait for.
static CLIENT: OnceLock<Result<Client, String>> = OnceLock::new();

fn client() -> Result<&'static Client, ModelError> {
    let client = CLIENT.get_or_init(|| build().map_err(|error| described(&error)));
    client.as_ref().map_err(|message| ModelError::Unreachable {
        message: message.clone(),
    })
}

#[allow(clippy::disallowed_methods)]
fn build() -> Result<Client, reqwest::Error> {
    // An error means that a provider is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .connect_timeout(CONNECT)
        // Custom headers may be secrets and would follow a redirect to anywhere.
        .redirect(Policy::none())
        .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// A response that has begun.
pub(crate) struct OpenResponse {
    response: Response,
}

/// A response that is not 200.
pub(crate) struct ErrorResponse {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: String,
}

pub(crate) enum TransportError {
    Refused(ErrorResponse),
    Failed(ModelError),
}

impl From<ModelError> for TransportError {
    fn from(error: ModelError) -> Self {
        TransportError::Failed(error)
    }
}

/// Waits at most `read_timeout` for the response to begin.
pub(crate) async fn post(
    url: &str,
    headers: HeaderMap,
    body: Vec<u8>,
    read_timeout: Duration,
) -> Result<OpenResponse, TransportError> {
    let request = client()?
        .request(Method::POST, url)
        .headers(headers)
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .body(body);
    open(request, read_timeout).await
}

pub(crate) async fn get(
    url: &str,
    headers: HeaderMap,
    read_timeout: Duration,
) -> Result<OpenResponse, TransportError> {
    let request = client()?.request(Method::GET, url).headers(headers);
    open(request, read_timeout).await
}

async fn open(
    request: reqwest::RequestBuilder,
    read_timeout: Duration,
) -> Result<OpenResponse, TransportError> {
    let response = limited(read_timeout, request.send()).await?;
    let response = response.map_err(|error| unreachable(&error))?;
    let status = response.status().as_u16();
    let mut answer = OpenResponse { response };
    if status == 200 {
        return Ok(answer);
    }
    let retry_after = retry_after(answer.response.headers(), SystemTime::now());
    Err(TransportError::Refused(ErrorResponse {
        status,
        retry_after,
        body: answer.beginning(read_timeout).await,
    }))
}

impl OpenResponse {
    /// The next bytes, `None` at the end. A connection that breaks is a cut stream.
    pub(crate) async fn chunk(
        &mut self,
        read_timeout: Duration,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, ModelError> {
        let chunk = limited(read_timeout, self.response.chunk()).await?;
        chunk.map_err(|_| ModelError::CutStream)
    }

    /// What arrives of the body, up to a limit. A refusal is one even if its words are cut off.
    async fn beginning(&mut self, read_timeout: Duration) -> String {
        let mut body = Vec::new();
        while body.len() < LONGEST_REFUSAL
            && let Ok(Some(chunk)) = self.chunk(read_timeout).await
        {
            body.extend_from_slice(chunk.as_ref());
        }
        String::from_utf8_lossy(&body).into_owned()
    }

    /// The whole body, of a response known to be small.
    pub(crate) async fn text(mut self, read_timeout: Duration) -> String {
        self.beginning(read_timeout).await
    }
}

/// For what is no model and is told by JSON all the same, such as a collector of traces. The error
/// is in words.
pub async fn post_json(
    url: &str,
    headers: &[(String, String)],
    body: &Json,
    patience: Duration,
) -> Result<(), String> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name = HeaderName::try_from(name).map_err(|error| error.to_string())?;
        // What is wrong with a value is not said: it may be a secret.
        let value = HeaderValue::try_from(value).map_err(|_| format!("a bad value of {name}"))?;
        map.insert(name, value);
    }
    match post(url, map, body.to_string().into_bytes(), patience).await {
        Ok(_) => Ok(()),
        Err(TransportError::Refused(refusal)) => Err(format!("refused with {}", refusal.status)),
        Err(TransportError::Failed(error)) => Err(error.to_string()),
    }
}

async fn limited<T>(
    read_timeout: Duration,
    future: impl Future<Output = T>,
) -> Result<T, ModelError> {
    let waited = tokio::time::timeout(read_timeout, future).await;
    waited.map_err(|_| ModelError::Timeout { read_timeout })
}

fn unreachable(error: &reqwest::Error) -> ModelError {
    ModelError::Unreachable {
        message: described(error),
    }
}

/// The whole chain, since the outermost error only says that sending failed. The URL is left out:
/// it may hold a password.
fn described(error: &reqwest::Error) -> String {
    let mut causes = Vec::new();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        causes.push(cause.to_string());
        source = cause.source();
    }
    if causes.is_empty() {
        "the request could not be made".to_owned()
    } else {
        causes.join(": ")
    }
}

/// Seconds, a date, or the milliseconds some servers give besides.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    let seconds = || {
        let text = text(RETRY_AFTER.as_str())?;
        let seconds = text.parse::<f64>().ok();
        seconds.or_else(|| {
            let date = httpdate::parse_http_date(text).ok()?;
            Some(date.duration_since(now).unwrap_or_default().as_secs_f64())
        })
    };
    let seconds = milliseconds.map(|time| time / 1000.0).or_else(seconds)?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_in_all_its_spellings() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_445_412_470);
        for (name, value, expect) in [
            ("retry-after", "2", Some(2.0)),
            ("retry-after", "0.5", Some(0.5)),
            ("retry-after-ms", "250", Some(0.25)),
            ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", Some(10.0)),
            ("retry-after", "Wed, 21 Oct 2015 07:00:00 GMT", Some(0.0)),
            (
                "retry-after",
                "Wednesday, 21-Oct-15 07:28:00 GMT",
                Some(10.0),
            ),
            ("retry-after", "Wed Oct 21 07:28:00 2015", Some(10.0)),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "1e300", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            let expect = expect.map(Duration::from_secs_f64);
            assert_eq!(retry_after(&headers, now), expect, "{value}");
        }
    }
}
