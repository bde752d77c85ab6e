//! Where the other side connects to us by HTTP: connections are accepted and served until the platform is
//! switched off. What is let in and answered each platform decides itself.

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, StatusCode, body::Incoming, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use crate::arrivals::Arrivals;

const HEADERS: Duration = Duration::from_secs(10);

pub(crate) type Answer = Response<Full<Bytes>>;

/// Serves until it is dropped; an address that is taken is tried again.
pub(crate) async fn listen<F, A>(arrivals: &Arrivals, address: &str, answer: F) -> Infallible
where
    F: Fn(Request<Incoming>, SocketAddr) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Answer> + Send,
{
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => {
                let address = listener.local_addr().ok();
                arrivals.listening(address.map(|it| it.to_string()));
                accept(arrivals, listener, &answer).await;
            }
            Err(error) => arrivals.failed(&format!("cannot listen on {address}: {error}")),
        }
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
}

async fn accept<F, A>(arrivals: &Arrivals, listener: TcpListener, answer: &F)
where
    F: Fn(Request<Incoming>, SocketAddr) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Answer> + Send,
{
    let mut connections = tokio::task::JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Too few descriptors: later there may be more.
                arrivals.failed(&format!("cannot accept a connection: {error}"));
                tokio::time::sleep(Duration::from_millis(200)).await;
                continue;
            }
        };
        let answer = answer.clone();
        // A task for each connection; all end with the set, when the platform is switched off.
        connections.spawn(async move {
            let service = service_fn(|request| {
                let answering = answer(request, peer);
                async move { Ok::<_, Infallible>(answering.await) }
            });
            let served = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADERS)
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades();
            if let Err(error) = served.await {
                tracing::debug!(%peer, %error, "connection ended");
            }
        });
    }
}

pub(crate) fn says(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()));
    *answer.status_mut() = status;
    answer
}
