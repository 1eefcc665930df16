//! Blocks requests of foreign web pages. A page of another origin must not change anything through the visitor's
//! browser, and a foreign host name that resolves to a loopback address must not be served (DNS rebinding).

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, Method, header};
use protocol::problem::ProblemCode;
use url::Url;

use crate::config::{AuthMode, Settings};
use crate::http::AppState;
use crate::http::problem::{ApiProblem, ApiResult};

/// The accepted host names and origins.
pub(crate) struct AllowedOrigins {
    hosts: Hosts,
    allowed: Vec<String>,
}

enum Hosts {
    /// Without sign-in: only names of this machine.
    Loopback(IpAddr),
    Any,
}

impl AllowedOrigins {
    pub(crate) fn new(settings: &Settings) -> Self {
        let hosts = match settings.auth_mode {
            AuthMode::Local => Hosts::Loopback(settings.host),
            AuthMode::Jwt => Hosts::Any,
        };
        let urls = settings
            .cors_origins
            .iter()
            .chain(&settings.frontend_base_url)
            .chain(&settings.platform_base_url);
        Self { hosts, allowed: urls.map(|url| url.origin().ascii_serialization()).collect() }
    }

    /// Origins besides our own that may call the API.
    pub(crate) fn allowed(&self) -> &[String] {
        &self.allowed
    }

    fn knows_host(&self, headers: &HeaderMap) -> bool {
        let Hosts::Loopback(address) = &self.hosts else { return true };
        let Some(host) = host(headers).and_then(|host| Url::parse(&format!("http://{host}")).ok())
        else {
            return false;
        };
        match host.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(ip)) => ip.is_loopback() || IpAddr::V4(ip) == *address,
            Some(url::Host::Ipv6(ip)) => ip.is_loopback() || IpAddr::V6(ip) == *address,
            None => false,
        }
    }

    /// A request without an `Origin` header does not come from a web page.
    fn knows_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else { return true };
        let Ok(origin) = origin.to_str() else { return false };
        let own = host(headers).is_some_and(|host| {
            origin.strip_prefix("http://").or(origin.strip_prefix("https://")) == Some(host)
        });
        own || self.allowed.iter().any(|allowed| allowed == origin)
    }
}

pub(crate) async fn refuse_foreign_origins(
    State(app): State<Arc<AppState>>,
    request: Request,
    next: Next,
) -> ApiResult<Response> {
    let denied = |detail: &str| Err(ApiProblem::new(ProblemCode::AccessDenied, detail));
    if !app.origins.knows_host(request.headers()) {
        return denied("This server only accepts requests to localhost.");
    }
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if changes && !app.origins.knows_origin(request.headers()) {
        return denied("This origin is not allowed. Add it to CORS_ORIGINS.");
    }
    Ok(next.run(request).await)
}

fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::HOST)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn origins() -> AllowedOrigins {
        AllowedOrigins {
            hosts: Hosts::Loopback("127.0.0.1".parse().expect("an address")),
            allowed: vec!["https://good.example".into()],
        }
    }

    fn headers(host: &'static str, origin: Option<&'static str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static(host));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
        }
        headers
    }

    #[test]
    fn only_loopback_names_are_accepted() {
        for host in ["localhost:8006", "127.0.0.1", "[::1]:8006", "127.0.0.2:1"] {
            assert!(origins().knows_host(&headers(host, None)), "{host}");
        }
        for host in ["evil.example:8006", "localhost.evil.example", "169.254.169.254", "", "a b"] {
            assert!(!origins().knows_host(&headers(host, None)), "{host}");
        }
        assert!(!origins().knows_host(&HeaderMap::new()));
    }

    #[test]
    fn only_our_own_and_listed_origins_may_change_things() {
        for origin in [None, Some("http://localhost:8006"), Some("https://good.example")] {
            assert!(origins().knows_origin(&headers("localhost:8006", origin)), "{origin:?}");
        }
        for origin in [
            "null",
            "https://good.example.evil.com",
            "http://localhost:3000",
            "https://good.example:444",
            "",
        ] {
            assert!(!origins().knows_origin(&headers("localhost:8006", Some(origin))), "{origin}");
        }
    }
}
