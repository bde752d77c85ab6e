//! [`NearAddresses`]: which addresses of this machine itself and of its own link a walled program may
//! send to. What is farther away is open to all of them. Near addresses are open where somebody has named
//! them: the operator in the configuration; the environment, as a proxy or an index of packages; and the
//! machine, as where names are looked up.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

/// Where the machine's names are looked up, and by which port.
const RESOLVERS: &str = "/etc/resolv.conf";
const NAMES: u16 = 53;

const ANY: &str = "*";

/// What the operator opens to plugins. Nothing, unless it is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NearAddresses {
    all: bool,
    /// Port 0 stands for all of them.
    some: Vec<SocketAddr>,
}

impl NearAddresses {
    /// `HOST:PORT`, or `HOST` for all its ports, where a host is an address or `localhost`; `*` opens
    /// everything. Else the word that means nothing.
    pub fn parse(words: &[String]) -> Result<NearAddresses, String> {
        let mut named = NearAddresses {
            all: words.iter().any(|word| word == ANY),
            some: Vec::new(),
        };
        for word in words.iter().filter(|word| *word != ANY) {
            let addresses = addresses(word, 0).ok_or_else(|| word.clone())?;
            named.some.extend(addresses);
        }
        Ok(named)
    }

    pub fn are_all_open(&self) -> bool {
        self.all
    }

    pub(crate) fn open(&mut self, address: SocketAddr) {
        self.some.push(address);
    }

    /// Opens what the addresses in a text lead to: proxies, and indexes of packages.
    pub(crate) fn open_named_in(&mut self, text: &str) {
        self.some.extend(servers(text).flatten());
    }

    /// With those that look up names.
    pub(super) fn words(&self) -> Vec<String> {
        let resolvers = fs::read_to_string(RESOLVERS).unwrap_or_default();
        let open = self.some.iter().copied().chain(resolving(&resolvers));
        open.flat_map(order).collect()
    }
}

/// The words by which `callgate-wall` opens an address.
pub(super) fn order(address: SocketAddr) -> [String; 2] {
    ["open".to_owned(), address.to_string()]
}

fn resolving(configuration: &str) -> Vec<SocketAddr> {
    let named = configuration.lines().filter_map(|line| {
        let ip = line.trim().strip_prefix("nameserver")?.trim();
        ip.split('%').next()?.parse().ok()
    });
    let mut named: Vec<IpAddr> = named.collect();
    if named.is_empty() {
        // Where nobody is named, the C library asks here.
        named.push(Ipv4Addr::LOCALHOST.into());
    }
    let at = |ip| SocketAddr::new(ip, NAMES);
    named.into_iter().map(at).collect()
}

/// Of `HOST[:PORT]`; `None` if the host is a name.
fn addresses(word: &str, port: u16) -> Option<Vec<SocketAddr>> {
    let ip = |host: &str| host.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    let (host, port) = match word.rsplit_once(':') {
        Some((host, number)) if ip(word).is_none() => (host, number.parse().ok()?),
        _ => (word, port),
    };
    let hosts = match ip(host) {
        Some(ip) => vec![ip],
        None if host == "localhost" => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
        None => return None,
    };
    let at = |ip| SocketAddr::new(ip, port);
    Some(hosts.into_iter().map(at).collect())
}

/// Where the addresses (`http://…`) in a text lead.
fn servers(text: &str) -> impl Iterator<Item = Vec<SocketAddr>> {
    text.split("://")
        .zip(text.split("://").skip(1))
        .filter_map(|(before, after)| {
            let port = match before.rsplit(|c: char| !c.is_alphanumeric()).next()? {
                "https" => 443,
                "http" => 80,
                _ => 1080,
            };
            let end = |c: char| {
                c == '/' || c == '?' || c == '#' || c.is_whitespace() || "\"',".contains(c)
            };
            let authority = after.split(end).next()?;
            let server = authority.rsplit('@').next()?;
            addresses(server, port)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(addresses: impl IntoIterator<Item = SocketAddr>) -> Vec<String> {
        addresses.into_iter().map(|it| it.to_string()).collect()
    }

    #[test]
    fn addresses_are_opened_with_a_port_or_with_all_and_names_are_not() {
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            NearAddresses::parse(&words)
        };
        let named = parse(&[
            "127.0.0.1:80",
            "::1",
            "[::1]:7",
            "169.254.1.2",
            "localhost:9",
        ]);
        let some = shown(named.unwrap().some);
        let expected = [
            "127.0.0.1:80",
            "[::1]:0",
            "[::1]:7",
            "169.254.1.2:0",
            "127.0.0.1:9",
            "[::1]:9",
        ];
        assert_eq!(some, expected);
        assert!(parse(&["*"]).unwrap().are_all_open());
        for odd in ["example.com:80", "127.0.0.1:http", "", "127.0.0.1:99999"] {
            assert_eq!(parse(&[odd]).unwrap_err(), odd);
        }
    }

    #[test]
    fn proxies_indexes_and_resolvers_are_found_where_they_are_named() {
        let found = |text: &str| shown(servers(text).flatten());
        assert_eq!(found("http://me:pw@127.0.0.1:7890/"), ["127.0.0.1:7890"]);
        assert_eq!(
            found("index-url = \"https://localhost/simple\" http://[::1]:8 socks5://10.0.0.1"),
            ["127.0.0.1:443", "[::1]:443", "[::1]:8", "10.0.0.1:1080"]
        );
        assert!(found("/opt/wheels https://pypi.org/simple").is_empty());
        let stub = "# us\nnameserver 127.0.0.53\nnameserver fe80::1%eth0\noptions edns0\n";
        assert_eq!(shown(resolving(stub)), ["127.0.0.53:53", "[fe80::1]:53"]);
        assert_eq!(shown(resolving("")), ["127.0.0.1:53"]);
    }
}
