//! The HTTP layer: routes, middleware and shared state.

mod about;
pub(crate) mod accept;
mod api_keys;
pub(crate) mod auth;
mod base_path;
mod blocks;
mod cancel;
mod credits;
mod event_stream;
mod executions;
mod follow_ups;
mod graphs;
mod health;
mod history;
mod internal_key;
mod json;
mod library;
mod marketplace;
pub(crate) mod metrics;
mod operations;
mod overview;
mod page;
mod paging;
mod path;
pub(crate) mod permit_pool;
mod problem;
mod reviews;
mod routes;
mod service_info;
mod sessions;
mod sse;
mod stream;
mod stream_permits;
mod submission;
mod tasks;
mod usage;
mod workspace;
mod write_timeout;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use engine::Engine;
use http::{HeaderValue, Method, header};
use metrics_exporter_prometheus::PrometheusHandle;
use ports::Ports;
use protocol::problem::ProblemCode;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;

use self::about::AboutServer;
use self::auth::{AllowedOrigins, RequestAuth};
use self::internal_key::InternalKey;
use self::page::WebPage;
use self::permit_pool::PermitPool;
use self::problem::ApiProblem;
use self::stream_permits::StreamPermits;
use crate::config::{BasePath, Settings};

/// Longer than any URI of this API.
const URI_BYTES: usize = 8 * 1024;

/// The state shared by all routes.
pub(crate) struct AppState {
    pub(crate) engine: Engine,
    pub(crate) ports: Ports,
    pub(crate) about: AboutServer,
    pub(crate) auth: RequestAuth,
    pub(crate) origins: AllowedOrigins,
    pub(crate) options: HttpOptions,
    pub(crate) stream_permits: StreamPermits,
    pub(crate) connections: Arc<PermitPool<IpAddr>>,
    pub(crate) metrics: PrometheusHandle,
    pub(crate) metrics_access: metrics::MetricsAccess,
    pub(crate) internal_key: InternalKey,
    pub(crate) page: WebPage,
    pub(crate) process: overview::ProcessInfo,
    pub(crate) dependencies: &'static [&'static str],
    /// Aborts every open stream.
    pub(crate) streams_end: CancellationToken,
}

pub(crate) struct HttpOptions {
    pub(crate) heartbeat: Duration,
    pub(crate) replay_window: Duration,
    pub(crate) stream_ttl: Duration,
    pub(crate) model: ModelInfo,
    pub(crate) base_path: BasePath,
}

/// The model that responds, as shown to users.
#[derive(Clone, Debug)]
pub(crate) struct ModelInfo {
    pub(crate) provider: String,
    pub(crate) name: String,
}

impl ModelInfo {
    pub(crate) fn is_offline(&self) -> bool {
        self.provider == "offline"
    }
}

impl AppState {
    pub(crate) fn new(
        settings: &Settings,
        engine: Engine,
        ports: Ports,
        model: ModelInfo,
        metrics: PrometheusHandle,
    ) -> anyhow::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            about: AboutServer::new(settings, &model),
            auth: RequestAuth::new(settings, ports.api_keys.clone(), ports.clock.clone())?,
            origins: AllowedOrigins::new(settings),
            options: HttpOptions {
                heartbeat: settings.heartbeat.0,
                replay_window: settings.replay_window.0,
                stream_ttl: settings.stream_ttl.0,
                model,
                base_path: settings.base_path.clone(),
            },
            stream_permits: StreamPermits::new(settings.max_streams_per_user),
            connections: PermitPool::new(settings.max_connections, settings.max_connections_per_ip),
            metrics,
            metrics_access: metrics::MetricsAccess::new(settings),
            internal_key: InternalKey::new(settings),
            page: WebPage::built(&settings.base_path),
            process: overview::ProcessInfo::new(settings),
            dependencies: metrics::dependencies(settings),
            streams_end: CancellationToken::new(),
            engine,
            ports,
        }))
    }
}

/// All routes of the server.
pub(crate) fn router(app: &Arc<AppState>) -> Router {
    let (protected, _) = routes::protected().split_for_parts();
    let (open, _) = routes::open().split_for_parts();
    let guard = middleware::from_fn_with_state(Arc::clone(app), auth::require_identity);
    let api = protected.layer(guard).merge(open);
    let document = document();
    let origins = app.origins.allowed().iter().filter_map(|origin| origin.parse().ok());
    let cors = CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins.collect::<Vec<HeaderValue>>()))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::HeaderName::from_static("last-event-id"),
            header::HeaderName::from_static("x-api-key"),
        ])
        .expose_headers([header::RETRY_AFTER, header::HeaderName::from_static("x-turn-id")]);
    let router = Router::new()
        .nest("/api", api)
        .route("/api/openapi.json", get(async move || Json(document)))
        .route("/metrics", get(metrics::render))
        .merge(health_routes())
        .route("/", get(page::home))
        .fallback(page::fallback)
        .method_not_allowed_fallback(no_method)
        .layer(middleware::from_fn_with_state(Arc::clone(app), auth::refuse_foreign_origins))
        .layer(cors)
        .layer(middleware::from_fn(refuse_long_uris))
        .layer(CatchPanicLayer::custom(respond_to_panic))
        .layer(middleware::from_fn(log_request))
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

/// The OpenAPI document.
pub(crate) fn document() -> utoipa::openapi::OpenApi {
    let api = routes::protected().merge(routes::open());
    let mut document =
        OpenApiRouter::with_openapi(ApiDocument::openapi()).nest("/api", api).into_openapi();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme(
        "token",
        SecurityScheme::Http(
            HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build(),
        ),
    );
    components.add_security_scheme(
        "api_key",
        SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("x-api-key"))),
    );
    document
}

#[derive(OpenApi)]
#[openapi(
    info(title = "Pilothouse", description = "A copilot server: durable turns, resumable streams, tools."),
    security(("token" = []), ("api_key" = []))
)]
struct ApiDocument;

fn health_routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
}

async fn no_route() -> ApiProblem {
    ApiProblem::new(ProblemCode::RouteNotFound, "Not found.")
}

async fn no_method() -> ApiProblem {
    ApiProblem::new(ProblemCode::MethodNotAllowed, "This URL does not support this method.")
}

async fn refuse_long_uris(request: Request, next: Next) -> Response {
    let length = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    if length > URI_BYTES {
        let detail = format!("The URL is longer than {URI_BYTES} bytes.");
        return ApiProblem::new(ProblemCode::UriTooLong, detail).into_response();
    }
    next.run(request).await
}

/// Logs one line per request, with the route instead of the path: a path may contain what a user typed.
async fn log_request(request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let started = Instant::now();
    let response = next.run(request).await;
    let status = response.status().as_u16();
    let route = route.as_ref().map_or("-", MatchedPath::as_str);
    let duration_ms = started.elapsed().as_millis() as u64;
    if status >= 500 && status != 501 {
        tracing::warn!(%method, route, status, duration_ms, "request failed");
    } else {
        tracing::debug!(%method, route, status, duration_ms, "request completed");
    }
    response
}

fn respond_to_panic(_: Box<dyn std::any::Any + Send + 'static>) -> Response {
    tracing::error!("a request handler panicked");
    ApiProblem::new(ProblemCode::Internal, "Internal server error. It has been logged.")
        .into_response()
}
