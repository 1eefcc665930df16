//! Serves every route below the base path as well as without it: some proxies keep the path, others strip it.

use axum::Router;
use axum::extract::Request;
use http::Uri;
use http::uri::PathAndQuery;
use tower::Layer;
use tower::util::MapRequestLayer;

use crate::config::BasePath;

/// Strips the base path before routing, so that routes, logs and metrics never see it.
pub(crate) fn below(base: &BasePath, router: Router) -> Router {
    if base.is_root() {
        return router;
    }
    let base = base.clone();
    let strip = MapRequestLayer::new(move |mut request: Request| {
        if let Some(uri) = stripped(&base, request.uri()) {
            *request.uri_mut() = uri;
        }
        request
    });
    Router::new().fallback_service(strip.layer(router))
}

fn stripped(base: &BasePath, uri: &Uri) -> Option<Uri> {
    let path = base.strip(uri.path())?;
    let path_and_query = match uri.query() {
        Some(query) => PathAndQuery::try_from(format!("{path}?{query}")),
        None => PathAndQuery::try_from(path),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path_and_query.ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SettingValue;

    #[test]
    fn the_query_and_the_host_are_kept() {
        let base = BasePath::read("/pilot").expect("a path");
        for (from, to) in [
            ("/pilot/api/x?a=/pilot&b", Some("/api/x?a=/pilot&b")),
            ("/pilot?a", Some("/?a")),
            ("http://localhost:1/pilot/x", Some("http://localhost:1/x")),
            ("/pilot//x", Some("//x")),
            ("/other", None),
        ] {
            let stripped = stripped(&base, &from.parse().expect("an address"));
            assert_eq!(stripped.map(|uri| uri.to_string()).as_deref(), to, "{from}");
        }
    }
}
