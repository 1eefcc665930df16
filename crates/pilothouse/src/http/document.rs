//! The OpenAPI document of all routes below `/api`.

use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;

use crate::http::routes;

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
