//! What ends with a key: a request that is still being answered, and an answer that is still on its
//! way, as streams are. Every door that lets somebody in by a key answers through here.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use callgate_contract::BoxFuture;
use callgate_store::KeyHandle;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

/// The answer, which is cut off when the key is revoked; `None` if that happened before it was there.
pub(crate) async fn until_revoked(
    key: &KeyHandle,
    answering: impl Future<Output = Response>,
) -> Option<Response> {
    let response = tokio::select! {
        biased;
        // What was stopped with its key has an answer too, which is nobody's any more.
        () = key.revoked() => return None,
        response = answering => response,
    };
    (!key.is_revoked()).then(|| revocable(key, response))
}

/// The same of a request that may end its own key: whoever does so is still told that it is done.
pub(crate) async fn unless_revoked_before(
    key: &KeyHandle,
    answering: impl Future<Output = Response>,
) -> Option<Response> {
    let response = tokio::select! {
        biased;
        response = answering => response,
        () = key.revoked() => return None,
    };
    Some(revocable(key, response))
}

fn revocable(key: &KeyHandle, response: Response) -> Response {
    response.map(|body| {
        Body::new(Revocable {
            is_whole: body.size_hint().exact().is_some(),
            body,
            key: key.clone(),
            revoked: None,
        })
    })
}

struct Revocable {
    body: Body,
    key: KeyHandle,
    /// Its length is known and nothing of it has left yet: what is there already was answered before
    /// the key was revoked.
    is_whole: bool,
    /// Made when there is something to wait for.
    revoked: Option<BoxFuture<'static, ()>>,
}

/// No end but a failure, so that nobody takes what came so far for the whole answer.
const CUT_OFF: &str = "the key was revoked";

impl HttpBody for Revocable {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        if !this.is_whole && this.key.is_revoked() {
            return Poll::Ready(Some(Err(axum::Error::new(CUT_OFF))));
        }
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            this.is_whole = false;
            return Poll::Ready(frame);
        }
        let key = this.key.clone();
        let revoked = this
            .revoked
            .get_or_insert_with(|| Box::pin(async move { key.revoked().await }));
        ready!(revoked.as_mut().poll(context));
        this.is_whole = false;
        Poll::Ready(Some(Err(axum::Error::new(CUT_OFF))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
