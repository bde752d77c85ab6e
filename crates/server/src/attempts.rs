//! Where a request comes from, for what is counted by address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::{extract::ConnectInfo, http::Extensions};

/// Where a request comes from; one that was not served by us is nobody's in particular.
pub(crate) fn address(extensions: &Extensions) -> IpAddr {
    let from = extensions.get::<ConnectInfo<SocketAddr>>();
    let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    from.map_or(nowhere, |ConnectInfo(from)| from.ip().to_canonical())
}
