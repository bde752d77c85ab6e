//! The connections of one listener, each HTTP/1.1. Whoever sends no head, or half of one, is hung up
//! on: until a head is there, nobody has shown a key.

use std::{io, net::SocketAddr, pin::pin, time::Duration};

use axum::{Router, extract::ConnectInfo, serve::Listener};
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{sync::watch, task::JoinSet};

/// For a head to be there, counted from when the connection is open or the answer before it sent: so
/// long, too, a connection stays that asks nothing.
const HEAD: Duration = Duration::from_secs(10);
/// Bytes of a head.
const LARGEST_HEAD: usize = 64 << 10;

/// Until `stop`; then takes nobody in and returns when everybody has been answered.
pub(super) async fn serve(
    mut listener: impl Listener<Addr = SocketAddr>,
    router: Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut stop = pin!(stop);
    // Closed when it is time to end: each connection waits for that.
    let (open, closes) = watch::channel(());
    // One task each, so that nobody's slowness keeps others waiting.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            (io, from) = listener.accept() => {
                connections.spawn(converse(io, from, router.clone(), closes.clone()));
            }
            Some(_) = connections.join_next() => {}
            () = &mut stop => break,
        }
    }
    drop((listener, open));
    while connections.join_next().await.is_some() {}
    Ok(())
}

async fn converse(
    io: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    from: SocketAddr,
    router: Router,
    mut closes: watch::Receiver<()>,
) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(from));
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LARGEST_HEAD)
        .serve_connection(TokioIo::new(io), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let closing = async { while closes.changed().await.is_ok() {} };
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closing => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::trace!(%error, "a connection ended early");
    }
}
