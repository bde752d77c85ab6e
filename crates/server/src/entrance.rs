//! [`Entrance`]: an address that is listened on, plainly or by TLS. Addresses that other machines
//! reach are opened plainly only if the operator says so.

mod connections;

use std::{io, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use axum::{
    Router,
    serve::{Listener, ListenerExt},
};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// For a handshake; who takes longer is hung up on.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// What was sent may stay unread.
const UNREAD: Duration = Duration::from_secs(60);
/// Connections whose handshake is done and that are not taken yet.
const READY: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum EntranceError {
    #[error("cannot listen on {address}: {source}")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("{address} is reached by other machines, and nothing would hide keys from the network")]
    Insecure { address: SocketAddr },
    #[error("the TLS certificate or its key cannot be used: {0}")]
    Tls(String),
}

/// A certificate with its key, ready to be shown.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl Tls {
    /// From files in PEM.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, EntranceError> {
        let bad = |file: &Path, error: &dyn std::fmt::Display| {
            EntranceError::Tls(format!("{}: {error}", file.display()))
        };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| bad(certificate, &error))?;
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| bad(key, &error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| bad(certificate, &error))?
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .map_err(|error| bad(certificate, &error))?;
        Ok(Tls(TlsAcceptor::from(Arc::new(config))))
    }
}

pub struct Entrance {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<Tls>,
}

impl Entrance {
    /// `insecure`: the operator accepts that others may listen in.
    pub async fn open(
        address: SocketAddr,
        tls: Option<Tls>,
        insecure: bool,
    ) -> Result<Self, EntranceError> {
        if tls.is_none() && !insecure && !address.ip().to_canonical().is_loopback() {
            return Err(EntranceError::Insecure { address });
        }
        let failed = |source| EntranceError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Entrance {
            listener,
            address,
            tls,
        })
    }

    /// The port that was taken, where any was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    pub(crate) async fn serve(
        self,
        router: Router,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        match self.tls {
            None => {
                let listener = self.listener.tap_io(|io| prepare(io));
                connections::serve(listener, router, stop).await
            }
            Some(Tls(acceptor)) => {
                let handshakes = Handshakes::begin(self.listener, self.address, acceptor);
                let listener = handshakes.tap_io(|io| prepare(io.get_ref().0));
                connections::serve(listener, router, stop).await
            }
        }
    }
}

/// Where the system refuses either, the connection still works.
fn prepare(stream: &TcpStream) {
    // Answers are small and waited for.
    let _ = stream.set_nodelay(true);
    // Who reads nothing for this long holds memory of ours for nothing.
    let unread = u32::try_from(UNREAD.as_millis()).unwrap_or(u32::MAX);
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, unread);
}

/// Handshakes happen side by side, so that nobody's slowness keeps others out.
struct Handshakes {
    address: SocketAddr,
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
}

impl Handshakes {
    fn begin(mut listener: TcpListener, address: SocketAddr, acceptor: TlsAcceptor) -> Self {
        let (done, ready) = mpsc::channel(READY);
        tokio::spawn(async move {
            loop {
                let accepting = Listener::accept(&mut listener);
                let (stream, from) = tokio::select! {
                    accepted = accepting => accepted,
                    () = done.closed() => return,
                };
                let (acceptor, done) = (acceptor.clone(), done.clone());
                tokio::spawn(async move {
                    let handshake = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream));
                    if let Ok(Ok(stream)) = handshake.await {
                        // Not taken: we are about to end.
                        let _ = done.send((stream, from)).await;
                    }
                });
            }
        });
        Handshakes { address, ready }
    }
}

impl Listener for Handshakes {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(ready) => ready,
            // The task that accepts has ended, so nobody will come.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}
