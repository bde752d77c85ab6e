//! One request to addresses that were checked, and to no others: the client has no resolver, no
//! proxy, no redirects, no cookies and no decompression of its own.

use std::{net::SocketAddr, time::Duration};

use reqwest::{
    Client, Response, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{ACCEPT, ACCEPT_ENCODING},
    redirect::Policy,
};

/// Answers every name with the addresses that were checked for the one name asked for.
struct PinnedResolver(Vec<SocketAddr>);

impl Resolve for PinnedResolver {
    fn resolve(&self, _name: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

pub(super) async fn get(
    url: Url,
    addresses: Vec<SocketAddr>,
    connect: Duration,
) -> Result<Response, reqwest::Error> {
    client(&url, addresses, connect)?
        .get(url)
        .header(
            ACCEPT,
            "text/html, text/*, application/json, application/xml;q=0.9",
        )
        // A small body cannot unfold into a large one.
        .header(ACCEPT_ENCODING, "identity")
        .send()
        .await
}

/// A client for one request, since its addresses are its own.
#[allow(clippy::disallowed_methods)]
fn client(
    url: &Url,
    addresses: Vec<SocketAddr>,
    connect: Duration,
) -> Result<Client, reqwest::Error> {
    // An error means that a provider is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .dns_resolver(PinnedResolver(addresses))
        .no_proxy()
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(connect)
        .user_agent(concat!("callgate/", env!("CARGO_PKG_VERSION")));
    match url.scheme() {
        "https" => builder,
        // Reading the system's certificates takes longer than a plain request.
        _ => builder.tls_certs_only([]),
    }
    .build()
}

/// The whole chain, since the outermost error only says that sending failed.
pub(super) fn described(error: &reqwest::Error) -> String {
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
