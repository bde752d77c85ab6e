//! Images that requests name by an address, got by the one fetcher.

use std::sync::Arc;

use callgate_builtins::fetch::{FetchPolicy, Fetcher};
use callgate_server::Fetch;

/// From where the operator lets pages be fetched; nowhere unless they said so.
pub(super) fn fetch_images(policy: FetchPolicy) -> Fetch {
    let fetcher = Fetcher::new(policy);
    Arc::new(move |url| {
        let fetcher = fetcher.clone();
        Box::pin(async move { fetcher.bytes(&url).await.map_err(|error| error.to_string()) })
    })
}
