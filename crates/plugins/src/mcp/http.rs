//! HTTP to servers that the operator named. One client for all of them, which follows nobody
//! elsewhere: headers may be secrets.

use std::{collections::BTreeMap, collections::HashMap, sync::OnceLock, time::Duration};

use reqwest::{
    Client,
    header::{HeaderName, HeaderValue},
    redirect::Policy,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of one message; results may hold images.
const LONGEST: usize = 64 << 20;

/// Built when it is first needed: it reads the system's certificates.
static CLIENT: OnceLock<Result<Client, String>> = OnceLock::new();

pub(super) fn client() -> Result<Client, String> {
    let client = CLIENT.get_or_init(|| build().map_err(|error| error.to_string()));
    client.clone()
}

#[allow(
    clippy::disallowed_methods,
    reason = "the one place of this crate that builds an HTTP client"
)]
fn build() -> Result<Client, reqwest::Error> {
    // An error means that a provider is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .connect_timeout(CONNECT)
        .redirect(Policy::none())
        .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
        .build()
}

pub(super) fn config(
    url: &str,
    bearer: Option<&str>,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransportConfig, String> {
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let unfit = |what: &str| format!("the header '{name}' {what}");
        let value = HeaderValue::from_str(value);
        let mut value = value.map_err(|_| unfit("has a value that no header can have"))?;
        value.set_sensitive(true);
        let header = HeaderName::try_from(name.as_str());
        let header = header.map_err(|_| unfit("cannot be a header's name"))?;
        custom.insert(header, value);
    }
    let mut config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(custom)
        .max_sse_event_size(LONGEST);
    if let Some(bearer) = bearer {
        config = config.auth_header(bearer);
    }
    Ok(config)
}
