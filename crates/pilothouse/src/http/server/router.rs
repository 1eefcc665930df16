//! The routers of a process: for clients, for the port of a worker, and for connections over the limit.

use std::sync::Arc;

use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use axum::{Json, Router};
use http::{HeaderValue, Method, header};
use protocol::problem::ProblemCode;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::set_header::SetResponseHeaderLayer;

use super::base_path;
use super::middleware::{log_request, refuse_long_uris, respond_to_panic};
use crate::http::extract::auth::{refuse_foreign_origins, require_identity};
use crate::http::problem::ApiProblem;
use crate::http::routes::{health, metrics};
use crate::http::{AppState, document, page, routes};

/// All routes of the server.
pub(crate) fn router(app: &Arc<AppState>) -> Router {
    let (protected, _) = routes::protected().split_for_parts();
    let (open, _) = routes::open().split_for_parts();
    let guard = from_fn_with_state(Arc::clone(app), require_identity);
    let api = protected.layer(guard).merge(open);
    let document = document();
    let router = Router::new()
        .nest("/api", api)
        .route("/api/openapi.json", get(async move || Json(document)))
        .route("/metrics", get(metrics::render))
        .merge(health_routes())
        .route("/", get(page::home))
        .fallback(page::fallback)
        .method_not_allowed_fallback(no_method)
        .layer(from_fn_with_state(Arc::clone(app), refuse_foreign_origins))
        .layer(cors(app))
        .layer(from_fn(refuse_long_uris))
        .layer(CatchPanicLayer::custom(respond_to_panic))
        .layer(from_fn(log_request))
        .layer(SetResponseHeaderLayer::if_not_present(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ))
        .with_state(Arc::clone(app));
    base_path::below(&app.options.base_path, router)
}

/// The routes on the port of a worker process.
pub(crate) fn executor_router(app: &Arc<AppState>) -> Router {
    health_routes()
        .route("/metrics", get(metrics::render))
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .with_state(Arc::clone(app))
}

/// The routes for connections over the limit: health checks, and 503 for everything else.
pub(crate) fn busy_router(app: &Arc<AppState>) -> Router {
    let busy = async || {
        ApiProblem::new(ProblemCode::Unavailable, "Too many connections. Try again in a moment.")
    };
    let router = health_routes().fallback(busy).with_state(Arc::clone(app));
    base_path::below(&app.options.base_path, router)
}

pub(crate) async fn no_route() -> ApiProblem {
    ApiProblem::new(ProblemCode::RouteNotFound, "Not found.")
}

async fn no_method() -> ApiProblem {
    ApiProblem::new(ProblemCode::MethodNotAllowed, "This URL does not support this method.")
}

fn health_routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
}

fn cors(app: &AppState) -> CorsLayer {
    let origins = app.origins.allowed().iter().filter_map(|origin| origin.parse().ok());
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins.collect::<Vec<HeaderValue>>()))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::HeaderName::from_static("last-event-id"),
            header::HeaderName::from_static("x-api-key"),
        ])
        .expose_headers([header::RETRY_AFTER, header::HeaderName::from_static("x-turn-id")])
}
