//! What arrived: which types are text, and bytes into characters by the charset declared for them.

use encoding_rs::{Encoding, UTF_8};

/// How far into a page its charset may be declared.
const PRESCAN: usize = 1024;

/// A page as it arrived, after all redirects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPage {
    /// Where it came from in the end.
    pub url: String,
    pub media: Media,
    pub body: Vec<u8>,
    /// Was there more than the limit on size lets through?
    pub cut: bool,
}

/// A `Content-Type`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// Lower case, without parameters.
    pub essence: String,
    pub charset: Option<String>,
}

impl Media {
    /// `None` for what is not text.
    pub(super) fn read(content_type: &str) -> Option<Media> {
        let media = Media::said(content_type);
        let (kind, subtype) = media.essence.split_once('/')?;
        let text = kind == "text"
            || matches!(subtype, "json" | "xml")
            || subtype.ends_with("+json")
            || subtype.ends_with("+xml");
        text.then_some(media)
    }

    /// Whatever it is; without a word, bytes.
    pub(super) fn said(content_type: &str) -> Media {
        let mut fields = content_type.split(';');
        let essence = fields.next().unwrap_or_default().trim();
        let essence = if essence.contains('/') {
            essence.to_ascii_lowercase()
        } else {
            "application/octet-stream".to_owned()
        };
        let charset = fields.find_map(|field| {
            let (name, value) = field.split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']);
            name.trim()
                .eq_ignore_ascii_case("charset")
                .then(|| value.to_owned())
        });
        Media { essence, charset }
    }

    pub fn is_html(&self) -> bool {
        matches!(self.essence.as_str(), "text/html" | "application/xhtml+xml")
    }

    fn is_markup(&self) -> bool {
        self.essence.ends_with("html") || self.essence.ends_with("xml")
    }
}

impl FetchedPage {
    /// By byte order mark, else as the server declared it, else as the page does, else as UTF-8.
    /// What does not fit becomes U+FFFD.
    pub fn text(&self) -> String {
        let label = |label: &str| Encoding::for_label(label.as_bytes());
        let encoding = match self.media.charset.as_deref().and_then(label) {
            None if self.media.is_markup() => declared_inside(&self.body),
            declared => declared,
        };
        let (text, ..) = encoding.unwrap_or(UTF_8).decode(&self.body);
        text.into_owned()
    }
}

/// `<meta charset=...>` and the like, or `<?xml encoding=...?>`.
fn declared_inside(body: &[u8]) -> Option<&'static Encoding> {
    let head = body.get(..PRESCAN).unwrap_or(body);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let named = |word: &str| {
        let (_, after) = head.split_once(word)?;
        let value = after.trim_start().strip_prefix('=')?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let label = value.split(['"', '\'', ';', ' ', '/', '>', '?']).next()?;
        Encoding::for_label(label.as_bytes())
    };
    let found = if head.starts_with("<?xml") {
        named("encoding").or_else(|| named("charset"))
    } else {
        named("charset")
    };
    // A declaration that could be read as ASCII is not in UTF-16.
    found.map(|encoding| encoding.output_encoding())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_from_the_rest() {
        for (header, expect) in [
            ("text/html", Some(("text/html", None))),
            (
                "Text/HTML; Charset=\"GBK\"",
                Some(("text/html", Some("GBK"))),
            ),
            (
                "text/plain;charset=utf-8",
                Some(("text/plain", Some("utf-8"))),
            ),
            ("application/json", Some(("application/json", None))),
            ("application/ld+json", Some(("application/ld+json", None))),
            ("application/rss+xml", Some(("application/rss+xml", None))),
            ("application/pdf", None),
            ("image/png", None),
            ("application/octet-stream", None),
            ("text", None),
            ("", None),
        ] {
            let read = Media::read(header);
            let seen = read.as_ref().map(|media| {
                let charset = media.charset.as_deref();
                (media.essence.as_str(), charset)
            });
            assert_eq!(seen, expect, "{header}");
        }
    }

    #[test]
    fn the_charset_is_found_where_it_is_declared() {
        let gbk = b"\xc4\xe3\xba\xc3".as_slice();
        for (header, body, expect) in [
            ("text/html; charset=gbk", gbk.to_vec(), "你好"),
            (
                "text/html",
                [b"<meta charset='gb2312'>", gbk].concat(),
                "<meta charset='gb2312'>你好",
            ),
            (
                "text/html",
                [
                    b"<META http-equiv=x content=\"text/html; CHARSET = Shift_JIS\">".as_slice(),
                    b"\x82\xb1",
                ]
                .concat(),
                "<META http-equiv=x content=\"text/html; CHARSET = Shift_JIS\">こ",
            ),
            (
                "text/xml",
                b"<?xml version='1.0' encoding='iso-8859-1'?>\xe9".to_vec(),
                "<?xml version='1.0' encoding='iso-8859-1'?>é",
            ),
            ("text/plain", "早上好".as_bytes().to_vec(), "早上好"),
            ("text/plain", b"caf\xe9".to_vec(), "caf\u{fffd}"),
            ("text/plain; charset=none", b"ok".to_vec(), "ok"),
            ("text/plain", "charset=gbk 你".into(), "charset=gbk 你"),
            (
                "text/html; charset=gbk",
                b"\xef\xbb\xbf\xe4\xbd\xa0".to_vec(),
                "你",
            ),
            (
                "text/html",
                b"<meta charset=utf-16>ok".to_vec(),
                "<meta charset=utf-16>ok",
            ),
        ] {
            let page = FetchedPage {
                url: String::new(),
                media: Media::read(header).unwrap(),
                body,
                cut: false,
            };
            assert_eq!(page.text(), expect, "{header}");
        }
    }
}
