//! The page at `/`: the one built from `web` where that was done before this crate was built, else
//! a plain one that says how. What lies there compressed is sent so; nothing is compressed here.

use axum::{
    Router,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
    routing::get,
};

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Scripts and styles of our own and nothing else; pictures and sounds also where a message holds
/// them itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; media-src 'self' data:; frame-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// How the name of a file ends that is another one, compressed.
const PACKED: &str = ".gz";

pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    if FILES.is_empty() {
        return plain();
    }
    let mut router = Router::new();
    for (name, bytes) in FILES.iter().filter(|(name, _)| !name.ends_with(PACKED)) {
        let path = match *name {
            "index.html" => "/".to_owned(),
            name => format!("/{name}"),
        };
        let packed = FILES
            .iter()
            .find(|(other, _)| other.strip_suffix(PACKED) == Some(*name));
        let packed = packed.map(|(_, bytes)| *bytes);
        let answer = async move |headers: HeaderMap| match packed.filter(|_| unpacks(&headers)) {
            Some(packed) => {
                ([(header::CONTENT_ENCODING, "gzip")], file(name, packed)).into_response()
            }
            None => file(name, bytes),
        };
        router = router.route(&path, get(answer));
        // The link that is printed at first start.
        if path == "/" {
            router = router.route("/login", get(answer));
        }
    }
    router
}

/// Of everything that belongs to the page.
pub(crate) fn paths() -> impl Iterator<Item = String> {
    let built = FILES.iter().map(|(name, _)| *name);
    let built = built.filter(|name| !name.ends_with(PACKED));
    let plain = ["index.html", "style.css"].into_iter();
    let plain = plain.filter(|_| FILES.is_empty());
    let link = ["login"].into_iter().filter(|_| !FILES.is_empty());
    built.chain(plain).chain(link).map(|name| match name {
        "index.html" => "/".to_owned(),
        name => format!("/{name}"),
    })
}

/// Whether the asker takes what is compressed by gzip.
fn unpacks(headers: &HeaderMap) -> bool {
    let taken = headers.get(header::ACCEPT_ENCODING);
    let taken = taken.and_then(|value| value.to_str().ok()).unwrap_or("");
    let mut ways = taken.split(',').map(str::trim);
    ways.any(|way| {
        let (name, share) = way.split_once(';').unwrap_or((way, ""));
        name.trim() == "gzip" && !matches!(share.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

fn plain<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let (index, style) = (
        include_bytes!("page/index.html"),
        include_bytes!("page/style.css"),
    );
    Router::new()
        .route("/", get(async || file("index.html", index)))
        .route("/style.css", get(async || file("style.css", style)))
}

fn file(name: &str, bytes: &'static [u8]) -> Response {
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    // Names of assets hold a hash of their content.
    let keep = if name.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, keep),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::VARY, "Accept-Encoding"),
    ];
    (headers, bytes).into_response()
}
