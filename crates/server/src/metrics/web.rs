//! Requests over HTTP, counted by method and status. Paths are not told apart: they hold names.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::{Request, State},
    http::Method,
    middleware::Next,
    response::Response,
};

use super::{Metrics, add_time};

pub(crate) async fn counted(
    State(metrics): State<Arc<Metrics>>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let method = match *request.method() {
        // Anybody may make up another.
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    };
    let response = next.run(request).await;
    let status = response.status().as_u16().to_string();
    let labels = vec![method.to_owned(), status];
    add_time(&mut metrics.counts().requests, labels, began.elapsed());
    response
}
