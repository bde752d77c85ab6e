//! The documents at `/docs`, as pages that were made when the crate was built (`build/docs.rs`). They hold no
//! script and need no key: everybody can read them in the repository.

use axum::{
    Router,
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use callgate_service::Capability;

include!(concat!(env!("OUT_DIR"), "/docs.rs"));

const STYLE: &str = include_str!("docs/style.css");
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

pub(crate) const NEEDS: &[(&str, Capability)] = &[
    ("GET /docs", Capability::Anyone),
    ("GET /docs/", Capability::Anyone),
    ("GET /docs/{name}", Capability::Anyone),
];

pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        // With the slash, links between pages are right.
        .route("/docs", get(async || Redirect::permanent("/docs/")))
        .route("/docs/", get(async || page("index.html")))
        .route(
            "/docs/{name}",
            get(async |Path(name): Path<String>| page(&name)),
        )
}

fn page(name: &str) -> Response {
    let found = PAGES.iter().find(|(page, _)| *page == name);
    let (kind, text) = match (found, name) {
        (Some((_, text)), _) => ("text/html; charset=utf-8", *text),
        (None, "style.css") => ("text/css; charset=utf-8", STYLE),
        (None, _) => {
            let told = "there is no such document: /docs/ lists what there is\n";
            return (StatusCode::NOT_FOUND, told).into_response();
        }
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}

/// For a copy that is served by others.
pub fn documents() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.iter().copied().chain([("style.css", STYLE)])
}
