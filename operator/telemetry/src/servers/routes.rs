//! What is answered.

use axum::{
    Router,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    middleware::map_response,
    response::{IntoResponse, Response},
    routing::get,
};
use prometheus_client::encoding::prometheus_text::CONTENT_TYPE;
use tokio::task::spawn_blocking;
use tracing::error;

use crate::{Health, Metrics};

/// `/metrics`.
pub(super) fn metrics(metrics: Metrics) -> Router {
    one_request_each(Router::new().route("/metrics", get(write_metrics)).with_state(metrics))
}

/// `/healthz` and `/readyz`.
pub(super) fn health(health: Health) -> Router {
    let alive = async || "ok";
    let router = Router::new().route("/healthz", get(alive)).route("/readyz", get(answer_ready));
    one_request_each(router.with_state(health))
}

/// A connection ends with its response: its deadline is then one for the request, and both kinds of clients
/// ask too seldom to gain by keeping it.
fn one_request_each(router: Router) -> Router {
    router.layer(map_response(async |mut response: Response| {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        response
    }))
}

async fn write_metrics(State(metrics): State<Metrics>) -> Response {
    let Ok(Ok(text)) = spawn_blocking(move || metrics.to_text()).await else {
        error!("failed to write metrics");
        return (StatusCode::INTERNAL_SERVER_ERROR, "failed to write metrics").into_response();
    };
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response()
}

async fn answer_ready(State(health): State<Health>) -> (StatusCode, &'static str) {
    let phase = health.phase();
    if phase.is_ready() { (StatusCode::OK, "ok") } else { (StatusCode::SERVICE_UNAVAILABLE, phase.as_str()) }
}
