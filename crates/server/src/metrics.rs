//! Requests over HTTP, counted by method and status.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::{Request, State},
    http::Method,
    middleware::Next,
    response::Response,
};
use callgate_service::Metrics;

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
    metrics.answered(method, response.status().as_u16(), began.elapsed());
    response
}
