//! Where a platform's own program is. Attachments may lie there on this machine or its network, where nothing else
//! is fetched from.

use super::PlatformEntry;

impl PlatformEntry {
    /// Each as host and port: where we connect, and where the operator says that files are.
    pub(crate) fn own_places(&self) -> Vec<(String, u16)> {
        let named = [self.connects_to(), self.files.clone()];
        let named = named.into_iter().flatten();
        named.filter_map(|place| place_of(&place)).collect()
    }
}

/// Host and port of an address, with or without a scheme.
pub(crate) fn place_of(address: &str) -> Option<(String, u16)> {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let place = rest.split(['/', '?', '#']).next()?;
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let port = match scheme {
        "https" | "wss" => 443,
        _ => 80,
    };
    let (host, port) = match place.rsplit_once(':') {
        Some((host, given)) if !given.ends_with(']') => (host, given.parse().ok()?),
        _ => (place, port),
    };
    (!host.is_empty()).then(|| (host.to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_has_places_of_its_own() {
        let text = "id = 'q'\nkind = 'onebot'\nurl = 'wss://Nap.example/ws?access_token=x'\n\
                    files = '127.0.0.1:6099'";
        let entry: PlatformEntry = toml::from_str(text).unwrap();
        let places = [
            ("nap.example".to_owned(), 443),
            ("127.0.0.1".to_owned(), 6099),
        ];
        assert_eq!(entry.own_places(), places);
        assert_eq!(
            place_of("http://[::1]:80/a"),
            Some(("[::1]".to_owned(), 80))
        );
        assert_eq!(place_of("http://[::1]"), Some(("[::1]".to_owned(), 80)));
        assert_eq!(place_of("h:port"), None);
    }
}
