//! What is taken from somebody who has shown no key yet: little, and only if it is there soon.

use std::time::Duration;

use axum::{
    body::{Body, to_bytes},
    extract::Request,
};
use tokio::time::timeout;

/// For a body to be there.
const SOON: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyRefusal {
    TooLarge,
    TooSlow,
}

/// The request with its body read, of at most so many bytes.
pub(crate) async fn taken(request: Request, most: usize) -> Result<Request, BodyRefusal> {
    let (parts, body) = request.into_parts();
    match timeout(SOON, to_bytes(body, most)).await {
        Ok(Ok(body)) => Ok(Request::from_parts(parts, Body::from(body))),
        Ok(Err(_)) => Err(BodyRefusal::TooLarge),
        Err(_) => Err(BodyRefusal::TooSlow),
    }
}
