//! Where a program behind the wall may send to: everywhere but this machine itself and what is only on
//! its own link, a cloud's metadata among them, unless the operator has opened an address there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::sys::{Step, failed};

/// What clouds tell their machines at addresses that are not link-local: keys among it.
const METADATA: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
];

/// An address as the kernel takes it, copied out of the program's memory.
pub enum Address {
    Internet(SocketAddr),
    /// Ends a connection.
    None,
    /// Of the kernel itself.
    Netlink,
    /// Too short for its family, which the kernel refuses.
    Short,
    Other,
}

/// Addresses that are open although they are near; port 0 opens all of one.
#[derive(Default)]
pub struct OpenAddresses(Vec<SocketAddr>);

impl Address {
    pub fn parse(bytes: &[u8]) -> Address {
        let Some(family) = bytes.first_chunk() else {
            return Address::Short;
        };
        let port = |bytes: &[u8]| Some(u16::from_be_bytes(*bytes.get(2..4)?.first_chunk()?));
        let v4 = |bytes: &[u8]| {
            let ip: [u8; 4] = *bytes.get(4..16)?.first_chunk()?;
            Some((IpAddr::from(ip), port(bytes)?))
        };
        let v6 = |bytes: &[u8]| {
            let ip: [u8; 16] = *bytes.get(8..24)?.first_chunk()?;
            Some((IpAddr::from(ip), port(bytes)?))
        };
        let found = match i32::from(u16::from_ne_bytes(*family)) {
            libc::AF_INET => v4(bytes),
            libc::AF_INET6 => v6(bytes),
            libc::AF_UNSPEC => return Address::None,
            libc::AF_NETLINK => return Address::Netlink,
            _ => return Address::Other,
        };
        found.map_or(Address::Short, |found| Address::Internet(found.into()))
    }
}

impl OpenAddresses {
    /// One more, as a plan or an order names it.
    pub fn add(&mut self, word: &str) -> Step<()> {
        let address = word.parse().map_err(|_| failed("open", word))?;
        self.0.push(address);
        Ok(())
    }

    pub fn hold(&self, address: SocketAddr) -> bool {
        let ip = plain(address.ip());
        let leads = |open: &SocketAddr| open.port() == 0 || open.port() == address.port();
        !is_near(ip) || self.0.iter().any(|it| plain(it.ip()) == ip && leads(it))
    }
}

/// Is it this machine, by whatever name?
pub fn is_here(ip: IpAddr) -> bool {
    match plain(ip) {
        IpAddr::V4(ip) => ip.is_loopback() || ip.octets()[0] == 0,
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unspecified(),
    }
}

fn is_near(ip: IpAddr) -> bool {
    is_here(ip)
        || METADATA.contains(&ip)
        || match ip {
            IpAddr::V4(ip) => ip.is_link_local() || ip.octets()[..3] == [224, 0, 0],
            IpAddr::V6(ip) => {
                let first = ip.segments()[0];
                // Link-local, and groups of this machine and this link.
                first & 0xffc0 == 0xfe80 || first & 0xff0f == 0xff01 || first & 0xff0f == 0xff02
            }
        }
}

/// The address of the older protocol where one of the newer holds one: mapped, compatible, or by the
/// prefix of translators.
fn plain(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else {
        return ip;
    };
    let [a, b, c, d, ..] = v6.segments();
    let translated = [a, b, c, d] == [0x64, 0xff9b, 0, 0];
    let mapped = v6.to_ipv4_mapped();
    let bits = v6.to_bits() as u32;
    let compatible = v6.to_bits() >> 32 == 0 && bits > 1;
    match mapped {
        Some(v4) => v4.into(),
        None if translated || compatible => Ipv4Addr::from_bits(bits).into(),
        None => ip,
    }
}
