//! The page at `/`: the one built from `web` where that was done before this crate was built, else
//! a plain one that says how.

use axum::{
    Router,
    http::header,
    response::{IntoResponse, Response},
    routing::get,
};

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Scripts and styles of our own and nothing else; pictures and sounds also where a message holds
/// them itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; media-src 'self' data:; frame-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    if FILES.is_empty() {
        return plain();
    }
    let mut router = Router::new();
    for (name, bytes) in FILES {
        let path = match *name {
            "index.html" => "/".to_owned(),
            name => format!("/{name}"),
        };
        router = router.route(&path, get(async move || file(name, bytes)));
        // The link that is printed at first start.
        if path == "/" {
            router = router.route("/login", get(async move || file(name, bytes)));
        }
    }
    router
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
    let keep = match name.starts_with("assets/") {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, keep),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    (headers, bytes).into_response()
}
