//! Which addresses belong to the public internet. Pure, and by exclusion: an address is public
//! only if no block reserved for anything else holds it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A block: its first address and how many leading bits are fixed.
type Block<T> = (T, u32);

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u32) -> Block<Ipv4Addr> {
    (Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6(a: u16, b: u16, bits: u32) -> Block<Ipv6Addr> {
    (Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), bits)
}

const RESERVED_V4: &[Block<Ipv4Addr>] = &[
    v4(0, 0, 0, 0, 8),        // this network
    v4(10, 0, 0, 0, 8),       // private
    v4(100, 64, 0, 0, 10),    // carrier-grade NAT
    v4(127, 0, 0, 0, 8),      // loopback
    v4(168, 63, 129, 16, 32), // Azure's platform, which every virtual machine there can reach
    v4(169, 254, 0, 0, 16),   // link-local, cloud metadata
    v4(172, 16, 0, 0, 12),    // private
    v4(192, 0, 0, 0, 24),     // protocol assignments
    v4(192, 0, 2, 0, 24),     // documentation
    v4(192, 88, 99, 0, 24),   // former 6to4 relays
    v4(192, 168, 0, 0, 16),   // private
    v4(198, 18, 0, 0, 15),    // benchmarking
    v4(198, 51, 100, 0, 24),  // documentation
    v4(203, 0, 113, 0, 24),   // documentation
    v4(224, 0, 0, 0, 4),      // multicast
    v4(240, 0, 0, 0, 4),      // reserved, broadcast
];

/// All that is given out of IPv6 so far; loopback, unique local, link-local, multicast and
/// IPv4-compatible addresses lie outside.
const UNICAST_V6: Block<Ipv6Addr> = v6(0x2000, 0, 3);

const RESERVED_V6: &[Block<Ipv6Addr>] = &[
    v6(0x2001, 0, 23),     // protocol assignments, Teredo, benchmarking
    v6(0x2001, 0xdb8, 32), // documentation
    v6(0x2002, 0, 16),     // 6to4
    v6(0x3fff, 0, 20),     // documentation
];

/// Here an IPv6-only network reaches IPv4: what counts is the address inside.
const NAT64: Block<Ipv6Addr> = v6(0x64, 0xff9b, 96);

pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match inner(address) {
            Some(inner) => is_public_v4(inner),
            None => {
                holds_v6(UNICAST_V6, address)
                    && !RESERVED_V6.iter().any(|block| holds_v6(*block, address))
            }
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let holds = |(first, bits): &Block<Ipv4Addr>| {
        (first.to_bits() ^ address.to_bits()) >> (u32::BITS - bits) == 0
    };
    !RESERVED_V4.iter().any(holds)
}

fn holds_v6((first, bits): Block<Ipv6Addr>, address: Ipv6Addr) -> bool {
    (first.to_bits() ^ address.to_bits()) >> (u128::BITS - bits) == 0
}

/// The IPv4 address that a connection would end at.
fn inner(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let last = || {
        let [.., a, b, c, d] = address.octets();
        Ipv4Addr::new(a, b, c, d)
    };
    let translated = holds_v6(NAT64, address).then(last);
    address.to_ipv4_mapped().or(translated)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: bool) {
        assert_eq!(is_public(text.parse().unwrap()), expect, "{text}");
    }

    #[test]
    fn the_edges_of_the_blocks() {
        for public in [
            "1.0.0.0",
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::",
            "2001:4860:4860::8888",
            "2606:4700:4700::1111",
            "2003::1",
            "3ffe:ffff::1",
            "64:ff9b::808:808",
            "::ffff:8.8.8.8",
        ] {
            check(public, true);
        }
        for reserved in [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.255",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::808:808",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:808:808",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:0:0:0:1:808:808",
            "64:ff9b:1::808:808",
            "100::1",
            "1fff:ffff::1",
            "2001::1",
            "2001:0:808:808::1",
            "2001:2::1",
            "2001:1ff:ffff::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:808:808::1",
            "3fff:fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            check(reserved, false);
        }
    }

    proptest! {
        /// What the standard library knows to be special is never public.
        #[test]
        fn special_addresses_are_not_public(bits in any::<u32>()) {
            let address = Ipv4Addr::from_bits(bits);
            let special = address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_multicast()
                || address.is_documentation()
                || address.is_broadcast()
                || address.is_unspecified();
            prop_assert!(!special || !is_public(address.into()));
        }

        #[test]
        fn every_address_of_a_block_is_reserved(
            block in prop::sample::select(RESERVED_V4),
            bits in any::<u32>(),
        ) {
            let host = u32::MAX.checked_shr(block.1).unwrap_or(0);
            let address = Ipv4Addr::from_bits(block.0.to_bits() | (bits & host));
            prop_assert!(!is_public(address.into()), "{}", address);
        }

        /// However an IPv4 address is written as IPv6, no more is reachable by it.
        #[test]
        fn a_tunnel_reaches_nothing_new(
            bits in prop_oneof![
                any::<u32>(),
                (prop::sample::select(RESERVED_V4), any::<u16>())
                    .prop_map(|(block, low)| block.0.to_bits() | u32::from(low)),
            ],
            low in any::<u64>(),
        ) {
            let inner = Ipv4Addr::from_bits(bits);
            let wide = u128::from(bits);
            let public = is_public(inner.into());
            let mapped = inner.to_ipv6_mapped();
            let nat64 = Ipv6Addr::from_bits((0x64_ff9b << 96) | wide);
            prop_assert_eq!(is_public(mapped.into()), public);
            prop_assert_eq!(is_public(nat64.into()), public);
            let compatible = Ipv6Addr::from_bits(wide);
            let six_to_four = Ipv6Addr::from_bits((0x2002 << 112) | (wide << 80) | u128::from(low));
            let teredo = Ipv6Addr::from_bits((0x2001_0000 << 96) | (u128::from(low) << 32) | !wide & 0xffff_ffff);
            for tunnel in [compatible, six_to_four, teredo] {
                prop_assert!(!is_public(tunnel.into()), "{}", tunnel);
            }
        }

        #[test]
        fn only_unicast_ipv6_is_public(bits in any::<u128>()) {
            let address = Ipv6Addr::from_bits(bits);
            let unicast = bits >> 125 == 1;
            let translated = bits >> 32 == 0x64_ff9b << 64 || bits >> 32 == 0xffff;
            prop_assert!(unicast || translated || !is_public(address.into()));
        }
    }
}
