//! The one way the product gets what a URL from a stranger names. Every hop of a redirect is
//! judged anew: its URL by the policy, then each address its name has; the connection goes to
//! exactly those addresses. Size and time are bounded.

mod address;
mod content;
mod error;
mod policy;
mod transport;

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use callgate_contract::BoxFuture;
use reqwest::{
    Response, Url,
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName, LOCATION},
};

pub use content::{FetchedPage, Media};
pub use error::FetchError;
pub use policy::{FetchPolicy, HostPattern, InvalidHost};

use policy::Host;

const MAX_REDIRECTS: usize = 5;

/// Finds the addresses of a name.
pub type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

#[derive(Clone, Copy, Debug)]
pub struct FetchLimits {
    pub connect: Duration,
    /// From the first lookup to the last byte, redirects included.
    pub total: Duration,
    /// Bytes; what is beyond is not read.
    pub body: usize,
}

impl Default for FetchLimits {
    fn default() -> Self {
        FetchLimits {
            connect: Duration::from_secs(10),
            total: Duration::from_secs(25),
            body: 4 << 20,
        }
    }
}

/// Clones are cheap and share one policy.
#[derive(Clone)]
pub struct Fetcher {
    policy: Arc<FetchPolicy>,
    lookup: Lookup,
    limits: FetchLimits,
}

impl Fetcher {
    pub fn new(policy: FetchPolicy) -> Self {
        Fetcher {
            policy: Arc::new(policy),
            lookup: Arc::new(|name| Box::pin(of_the_system(name))),
            limits: FetchLimits::default(),
        }
    }

    /// Asks `lookup` instead of the system.
    pub fn lookup(mut self, lookup: Lookup) -> Self {
        self.lookup = lookup;
        self
    }

    pub fn limits(mut self, limits: FetchLimits) -> Self {
        self.limits = limits;
        self
    }

    pub async fn get(&self, url: &str) -> Result<FetchedPage, FetchError> {
        let limit = self.limits.total;
        let fetched = async {
            let (url, response) = self.follow(url).await?;
            self.read(url, response).await
        };
        let fetched = tokio::time::timeout(limit, fetched).await;
        fetched.unwrap_or(Err(FetchError::Timeout { limit }))
    }

    /// What is there, whatever it is; of what is too large, nothing.
    pub async fn bytes(&self, url: &str) -> Result<Vec<u8>, FetchError> {
        self.file(url).await.map(|fetched| fetched.body)
    }

    /// The same, with where it came from and what it is said to be.
    pub async fn file(&self, url: &str) -> Result<FetchedPage, FetchError> {
        let limit = self.limits.total;
        let fetched = async {
            let (url, response) = self.follow(url).await?;
            let media = Media::said(&header(&response, CONTENT_TYPE).unwrap_or_default());
            match self.body(&url, response).await? {
                (body, cut @ false) => Ok(FetchedPage {
                    url: url.to_string(),
                    media,
                    body,
                    cut,
                }),
                (_, true) => Err(FetchError::TooLarge {
                    url: url.to_string(),
                    limit: self.limits.body,
                }),
            }
        };
        let fetched = tokio::time::timeout(limit, fetched).await;
        fetched.unwrap_or(Err(FetchError::Timeout { limit }))
    }

    async fn follow(&self, text: &str) -> Result<(Url, Response), FetchError> {
        let mut url = policy::parse(text)?;
        for _ in 0..=MAX_REDIRECTS {
            let addresses = self.addresses(&url).await?;
            let sent = transport::get(url.clone(), addresses, self.limits.connect).await;
            let response = sent.map_err(|error| unreachable(&url, &error))?;
            match redirect(&url, &response)? {
                Some(next) => url = next,
                None => return Ok((url, response)),
            }
        }
        Err(FetchError::Redirects {
            url: text.to_owned(),
            limit: MAX_REDIRECTS,
        })
    }

    /// All addresses of the URL's host, each of them checked. One that is not public condemns the
    /// rest: whoever mixes them hopes that it is the one we end up with.
    async fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, FetchError> {
        let target = self.policy.admit(url)?;
        let (host, found) = match target.host {
            Host::Address(address) => (address.to_string(), vec![address]),
            Host::Name(name) => {
                let found = (self.lookup)(name.clone()).await;
                // A failed lookup and an empty one are the same to whoever asks.
                (name, found.unwrap_or_default())
            }
        };
        if found.is_empty() {
            return Err(FetchError::UnknownHost { host });
        }
        let addresses: Vec<SocketAddr> = found
            .into_iter()
            .map(|address| SocketAddr::new(address, target.port))
            .collect();
        if addresses.iter().all(|address| self.policy.admits(*address)) {
            Ok(addresses)
        } else {
            Err(FetchError::NotPublic { host })
        }
    }

    async fn read(&self, url: Url, response: Response) -> Result<FetchedPage, FetchError> {
        arrived(&url, &response)?;
        let content_type = header(&response, CONTENT_TYPE).unwrap_or_default();
        let Some(media) = Media::read(&content_type) else {
            let found = match content_type.as_str() {
                "" => "of an unnamed type".to_owned(),
                other => other.chars().take(100).collect(),
            };
            let url = url.to_string();
            return Err(FetchError::NotText { url, found });
        };
        let (body, cut) = self.body(&url, response).await?;
        Ok(FetchedPage {
            url: url.to_string(),
            media,
            body,
            cut,
        })
    }

    /// As much as may be, and whether there was more.
    async fn body(&self, url: &Url, mut response: Response) -> Result<(Vec<u8>, bool), FetchError> {
        arrived(url, &response)?;
        let (mut body, mut cut) = (Vec::new(), false);
        let lost = |error| unreachable(url, &error);
        while !cut && let Some(chunk) = response.chunk().await.map_err(lost)? {
            let room = self.limits.body - body.len();
            cut = chunk.len() > room;
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        }
        Ok((body, cut))
    }
}

/// A page, and as it is.
fn arrived(url: &Url, response: &Response) -> Result<(), FetchError> {
    let status = response.status();
    if !status.is_success() {
        let url = url.to_string();
        return Err(FetchError::Status { url, status });
    }
    let encoding = header(response, CONTENT_ENCODING);
    if !matches!(encoding.as_deref(), None | Some("" | "identity")) {
        let url = url.to_string();
        return Err(FetchError::Compressed { url });
    }
    Ok(())
}

async fn of_the_system(name: String) -> io::Result<Vec<IpAddr>> {
    let found = tokio::net::lookup_host((name, 0)).await?;
    Ok(found.map(|address| address.ip()).collect())
}

/// Where the response sends us, if it does.
fn redirect(url: &Url, response: &Response) -> Result<Option<Url>, FetchError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = header(response, LOCATION) else {
        return Ok(None);
    };
    match url.join(&location) {
        Ok(next) => Ok(Some(next)),
        Err(_) => Err(FetchError::invalid(url, "it redirects to what is no URL")),
    }
}

fn header(response: &Response, name: HeaderName) -> Option<String> {
    let value = response.headers().get(name)?;
    // Some servers write a location in plain UTF-8.
    Some(String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
}

fn unreachable(url: &Url, error: &reqwest::Error) -> FetchError {
    FetchError::Unreachable {
        host: url.host_str().unwrap_or_default().to_owned(),
        reason: transport::described(error),
    }
}
