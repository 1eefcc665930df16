//! Serves the web page: the build of `web/`, embedded in the binary, under a strict content security policy.

mod files;
mod negotiation;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use sha2::{Digest, Sha256};

use self::files::{PageFile, PageFiles};
use self::negotiation::ContentEncoding;
use crate::config::{BasePath, ROUTES};
use crate::http::AppState;
use crate::http::problem::ApiResult;
use crate::http::server::no_route;

/// Shown when the page was not built.
const MISSING: &str = include_str!("missing.html");

/// The base element in `web/index.html`. Every URL of the page is relative to it.
const BASE: &str = r#"<base href="/""#;

const HTML: &str = "text/html; charset=utf-8";

/// No foreign resources, nothing inline, and no framing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; font-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/// The page uses none of these browser features.
const PERMISSIONS: &str = "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), serial=(), usb=()";

pub(crate) struct WebPage {
    index: IndexDocument,
    files: PageFiles,
}

enum IndexDocument {
    Built { html: Bytes, etag: HeaderValue },
    Missing,
}

impl WebPage {
    pub(crate) fn built(base: &BasePath) -> Self {
        Self::of(PageFiles::built(), base)
    }

    fn of(mut files: PageFiles, base: &BasePath) -> Self {
        let index = match files.take("index.html") {
            Some(html) => IndexDocument::new(&html, base),
            None => IndexDocument::Missing,
        };
        Self { index, files }
    }

    /// The file or document at a path that is not a route.
    fn at(&self, path: &str, headers: &HeaderMap) -> Option<Response> {
        let path = path.strip_prefix('/')?;
        if let Some(file) = self.files.get(path) {
            return file.answer(headers);
        }
        // The page routes on the client side, so all its paths return the same document.
        let first = path.split('/').next().unwrap_or_default();
        let is_page = !ROUTES.contains(&first) && negotiation::wants_html(headers);
        is_page.then(|| self.index.answer(headers))
    }
}

/// `/`, regardless of the `accept` header.
pub(crate) async fn home(State(app): State<Arc<AppState>>, headers: HeaderMap) -> Response {
    app.page.index.answer(&headers)
}

/// Everything that is not a route: files and paths of the page, or 404.
pub(crate) async fn fallback(
    State(app): State<Arc<AppState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let found = match method {
        Method::GET | Method::HEAD => app.page.at(uri.path(), &headers),
        _ => None,
    };
    match found {
        Some(response) => Ok(response),
        None => Err(no_route().await),
    }
}

impl IndexDocument {
    fn new(html: &[u8], base: &BasePath) -> Self {
        let here = format!(r#"<base href="{}/""#, base.as_str());
        let html = String::from_utf8_lossy(html).replacen(BASE, &here, 1);
        Self::Built { etag: files::etag(&Sha256::digest(&html)), html: html.into() }
    }

    fn answer(&self, headers: &HeaderMap) -> Response {
        let mut response = match self {
            Self::Built { html, etag } => tagged(headers, etag, html),
            Self::Missing => (StatusCode::NOT_FOUND, MISSING).into_response(),
        };
        set(&mut response, header::CONTENT_TYPE, HTML);
        set(&mut response, header::CACHE_CONTROL, "no-cache");
        set(&mut response, header::VARY, "accept");
        set_security_headers(&mut response);
        response
    }
}

impl PageFile {
    fn answer(&self, headers: &HeaderMap) -> Option<Response> {
        let variant = self.variant(headers)?;
        let mut response = tagged(headers, &variant.etag, &variant.bytes);
        set(&mut response, header::CONTENT_TYPE, self.media_type);
        let cache = if self.is_hashed { "public, max-age=31536000, immutable" } else { "no-cache" };
        set(&mut response, header::CACHE_CONTROL, cache);
        if self.varies() {
            set(&mut response, header::VARY, "accept-encoding");
        }
        if variant.encoding != ContentEncoding::Identity {
            set(&mut response, header::CONTENT_ENCODING, variant.encoding.name());
        }
        set_security_headers(&mut response);
        Some(response)
    }
}

/// The bytes, or 304 when the client has them.
fn tagged(headers: &HeaderMap, etag: &HeaderValue, bytes: &Bytes) -> Response {
    let mut response = match negotiation::matches_etag(headers, etag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => bytes.clone().into_response(),
    };
    response.headers_mut().insert(header::ETAG, etag.clone());
    response
}

/// Sets the security headers. Files of the page get them too, because an image can be opened as a document.
fn set_security_headers(response: &mut Response) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS),
    ] {
        set(response, name, value);
    }
}

fn set(response: &mut Response, name: HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}
