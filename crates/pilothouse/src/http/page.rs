//! The built-in page: three files in the binary, served under a strict content security policy.

use std::sync::Arc;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderName, HeaderValue, header};

use super::{App, Model};

const INDEX: &str = include_str!("../page/index.html");
const SCRIPT: &str = include_str!("../page/app.js");
const STREAM: &str = include_str!("../page/stream.js");
const VIEW: &str = include_str!("../page/view.js");
const STYLE: &str = include_str!("../page/style.css");

/// Nothing from elsewhere, nothing inline, and nobody may frame the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) fn routes(model: &Model) -> Router<Arc<App>> {
    let index = INDEX
        .replace("{{provider}}", &escaped(&model.provider))
        .replace("{{model}}", &escaped(&model.name));
    Router::new()
        .route("/", get(async move || file("text/html; charset=utf-8", index)))
        .route("/page/app.js", get(async || file("text/javascript; charset=utf-8", SCRIPT)))
        .route("/page/stream.js", get(async || file("text/javascript; charset=utf-8", STREAM)))
        .route("/page/view.js", get(async || file("text/javascript; charset=utf-8", VIEW)))
        .route("/page/style.css", get(async || file("text/css; charset=utf-8", STYLE)))
}

fn file(media_type: &'static str, text: impl IntoResponse) -> Response {
    let mut response = text.into_response();
    for (name, value) in [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
