//! A request, and what of it follows a redirect: another site gets neither the caller's headers, which may contain a key,
//! nor the body.

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use url::Url;

use super::error::EgressError;

const MAX_HEADERS: usize = 50;
const HEADER_BYTES: usize = 16 * 1024;

/// Headers of the connection or the message framing. Set by a caller, they could make two servers read two different
/// requests (request smuggling).
const RESERVED_HEADERS: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

#[derive(Clone, Debug)]
pub struct EgressRequest {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl EgressRequest {
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self { method, url: url.into(), headers: HeaderMap::new(), body: Bytes::new() }
    }

    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url)
    }

    /// Replaces an earlier value of the same name.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, EgressError> {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| EgressError::Header("the name is not valid"))?;
        if RESERVED_HEADERS.contains(&name.as_str()) {
            return Err(EgressError::Header("this header is set automatically"));
        }
        let value = HeaderValue::from_str(value)
            .map_err(|_| EgressError::Header("the value contains invalid characters"))?;
        self.headers.insert(name, value);
        let bytes: usize =
            self.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        if self.headers.len() > MAX_HEADERS || bytes > HEADER_BYTES {
            return Err(EgressError::Header("there are too many headers"));
        }
        Ok(self)
    }

    /// Sets the body, and its content type unless the caller has already set one.
    pub fn body(mut self, content_type: &str, body: impl Into<Bytes>) -> Self {
        if let (false, Ok(value)) =
            (self.headers.contains_key(CONTENT_TYPE), HeaderValue::from_str(content_type))
        {
            self.headers.insert(CONTENT_TYPE, value);
        }
        self.body = body.into();
        self
    }

    /// The request to send after a redirect with this status.
    pub(crate) fn redirected(
        mut self,
        status: StatusCode,
        from: &Url,
        to: &Url,
    ) -> Result<Self, EgressError> {
        let other_origin = from.origin() != to.origin();
        if other_origin {
            self.headers.clear();
        }
        let is_reading = matches!(self.method, Method::GET | Method::HEAD);
        let repeats =
            matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        match (is_reading, repeats) {
            (true, _) => {}
            (false, true) if other_origin => {
                return Err(EgressError::Blocked("it redirects the request body to another site"));
            }
            (false, true) => {}
            (false, false) => {
                self.method = Method::GET;
                self.body = Bytes::new();
                self.headers.remove(CONTENT_TYPE);
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent() -> EgressRequest {
        EgressRequest::new(Method::POST, "https://a.example/")
            .header("authorization", "Bearer key")
            .and_then(|request| request.header("x-trace", "1"))
            .expect("good headers")
            .body("text/plain", "words")
    }

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn connection_headers_and_invalid_headers_are_refused() {
        for (name, value) in [
            ("Host", "inner.example"),
            ("Content-Length", "0"),
            ("transfer-encoding", "chunked"),
            ("a b", "c"),
            ("x", "line\r\nHost: inner.example"),
        ] {
            let refused = EgressRequest::get("https://a.example/").header(name, value);
            assert!(matches!(refused, Err(EgressError::Header(_))), "{name}");
        }
        let many = (0..60).try_fold(EgressRequest::get("https://a.example/"), |request, n| {
            request.header(&format!("x-{n}"), "1")
        });
        assert!(many.is_err());
    }

    #[test]
    fn another_site_gets_neither_headers_nor_body() {
        let (from, other) = (url("https://a.example/"), url("https://b.example/"));
        let moved = sent().redirected(StatusCode::FOUND, &from, &other).expect("a redirect");
        assert_eq!((moved.method, moved.headers.len(), moved.body.len()), (Method::GET, 0, 0));
        for status in [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT] {
            assert!(sent().redirected(status, &from, &other).is_err());
        }
    }

    #[test]
    fn the_same_site_gets_what_the_status_says() {
        let (from, next) = (url("https://a.example/"), url("https://a.example/next"));
        let kept =
            sent().redirected(StatusCode::TEMPORARY_REDIRECT, &from, &next).expect("a redirect");
        assert_eq!(
            (kept.method, kept.headers.len(), &kept.body[..]),
            (Method::POST, 3, &b"words"[..])
        );
        let read = sent().redirected(StatusCode::SEE_OTHER, &from, &next).expect("a redirect");
        assert_eq!((read.method, read.headers.len(), read.body.len()), (Method::GET, 2, 0));
    }
}
