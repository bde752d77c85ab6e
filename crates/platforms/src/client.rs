//! The HTTP client by which a platform's own server is reached.

use std::time::Duration;

use reqwest::{Client, redirect::Policy};

const CONNECT: Duration = Duration::from_secs(10);

#[allow(clippy::disallowed_methods, reason = "the operator named the address")]
pub(crate) fn client() -> Result<Client, reqwest::Error> {
    Client::builder()
        .connect_timeout(CONNECT)
        // The token would follow a redirect to anywhere.
        .redirect(Policy::none())
        .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")))
        .build()
}
