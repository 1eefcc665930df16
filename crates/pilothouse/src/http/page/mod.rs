//! The web copilot: the build of `web/`, which is in the binary, served under a strict content security policy.

mod files;
#[cfg(test)]
mod tests;
mod wishes;

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use sha2::{Digest, Sha256};

use self::files::{File, Files};
use self::wishes::Encoding;
use super::problem::Answer;
use super::{App, no_route};
use crate::config::{BasePath, ROUTES};

/// What people see when the page was not built.
const MISSING: &str = include_str!("missing.html");

/// As `web/index.html` has it. Every address in there is relative to it.
const BASE: &str = r#"<base href="/""#;

const HTML: &str = "text/html; charset=utf-8";

/// Nothing from elsewhere, nothing inline, and nobody may frame the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; font-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/// The page needs none of what a browser could give it.
const PERMISSIONS: &str = "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), serial=(), usb=()";

pub(crate) struct Page {
    index: Index,
    files: Files,
}

enum Index {
    Built { html: Bytes, etag: HeaderValue },
    Missing,
}

impl Page {
    pub(crate) fn built(base: &BasePath) -> Self {
        Self::of(Files::built(), base)
    }

    fn of(mut files: Files, base: &BasePath) -> Self {
        let index = match files.take("index.html") {
            Some(html) => Index::new(&html, base),
            None => Index::Missing,
        };
        Self { index, files }
    }

    /// What is at an address that is not a route.
    fn at(&self, path: &str, headers: &HeaderMap) -> Option<Response> {
        let path = path.strip_prefix('/')?;
        if let Some(file) = self.files.get(path) {
            return file.answer(headers);
        }
        // The page knows its addresses itself, so all of them give the same document.
        let first = path.split('/').next().unwrap_or_default();
        let is_of_the_page = !ROUTES.contains(&first) && wishes::wants_html(headers);
        is_of_the_page.then(|| self.index.answer(headers))
    }
}

/// `/`, whatever a client accepts.
pub(super) async fn home(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    app.page.index.answer(&headers)
}

/// Everything that is not a route: files of the page, its addresses, or nothing.
pub(super) async fn elsewhere(
    State(app): State<Arc<App>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Answer<Response> {
    let found = match method {
        Method::GET | Method::HEAD => app.page.at(uri.path(), &headers),
        _ => None,
    };
    match found {
        Some(response) => Ok(response),
        None => Err(no_route().await),
    }
}

impl Index {
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
        guard(&mut response);
        response
    }
}

impl File {
    fn answer(&self, headers: &HeaderMap) -> Option<Response> {
        let form = self.form(headers)?;
        let mut response = tagged(headers, &form.etag, &form.bytes);
        set(&mut response, header::CONTENT_TYPE, self.media_type);
        let kept = if self.is_hashed { "public, max-age=31536000, immutable" } else { "no-cache" };
        set(&mut response, header::CACHE_CONTROL, kept);
        if self.varies() {
            set(&mut response, header::VARY, "accept-encoding");
        }
        if form.encoding != Encoding::Identity {
            set(&mut response, header::CONTENT_ENCODING, form.encoding.name());
        }
        guard(&mut response);
        Some(response)
    }
}

/// The bytes, or word that the client has them.
fn tagged(headers: &HeaderMap, etag: &HeaderValue, bytes: &Bytes) -> Response {
    let mut response = match wishes::has(headers, etag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => bytes.clone().into_response(),
    };
    response.headers_mut().insert(header::ETAG, etag.clone());
    response
}

/// What keeps the page to itself. Files carry it too, because a picture can be opened as a document.
fn guard(response: &mut Response) {
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
