//! Tests of how files are served, with a small page; the integration tests do the same with the real one.

use http::StatusCode;

use super::*;
use crate::config::SettingValue;

fn page(files: &[(&str, &str)], base: &str) -> WebPage {
    let entries = files.iter().map(|(path, text)| {
        let hash = Sha256::digest(text).into();
        ((*path).to_owned(), Bytes::copy_from_slice(text.as_bytes()), hash)
    });
    WebPage::of(PageFiles::of(entries), &BasePath::read(base).expect("a path"))
}

fn small_page() -> WebPage {
    page(
        &[
            ("index.html", "<head><base href=\"/\" /></head>"),
            ("theme.js", "dark"),
            ("assets/app-1a.js", "the program"),
            ("assets/app-1a.js.br", "brotli"),
            ("assets/app-1a.js.gz", "gzip"),
        ],
        "/",
    )
}

fn headers(entries: &[(HeaderName, &'static str)]) -> HeaderMap {
    entries.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
}

async fn text(response: Response) -> String {
    let bytes = axum::body::to_bytes(response.into_body(), 1024).await.expect("a body");
    String::from_utf8(bytes.into()).expect("text")
}

#[tokio::test]
async fn a_file_is_sent_in_the_preferred_encoding_and_each_encoding_has_its_own_tag() {
    let page = small_page();
    let mut tags = Vec::new();
    for (accept, encoding, body) in [
        ("gzip, br", Some("br"), "brotli"),
        ("gzip", Some("gzip"), "gzip"),
        ("identity", None, "the program"),
    ] {
        let accept = headers(&[(header::ACCEPT_ENCODING, accept)]);
        let response = page.at("/assets/app-1a.js", &accept).expect("a file");
        let got = response.headers();
        assert_eq!(
            got.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes),
            encoding.map(str::as_bytes)
        );
        assert_eq!(got[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
        assert_eq!(got[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
        assert_eq!(got[header::VARY], "accept-encoding");
        tags.push(got[header::ETAG].clone());
        assert_eq!(text(response).await, body);
    }
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), 3);
}

#[tokio::test]
async fn an_unhashed_file_is_revalidated_and_not_sent_again() {
    let page = small_page();
    for (path, accept) in [("/theme.js", "*/*"), ("/copilot", "text/html")] {
        let mut accept = headers(&[(header::ACCEPT, accept)]);
        let first = page.at(path, &accept).expect("a file");
        assert_eq!(first.status(), StatusCode::OK);
        assert_eq!(first.headers()[header::CACHE_CONTROL], "no-cache");
        accept.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        let second = page.at(path, &accept).expect("a file");
        assert_eq!(second.status(), StatusCode::NOT_MODIFIED);
        for name in [header::ETAG, header::CACHE_CONTROL, header::CONTENT_SECURITY_POLICY] {
            assert_eq!(second.headers()[&name], first.headers()[&name]);
        }
        assert_eq!(text(second).await, "");
    }
}

#[tokio::test]
async fn every_path_of_the_page_returns_its_document_and_no_other_path_does() {
    let page = small_page();
    let browser = headers(&[(header::ACCEPT, "text/html,*/*;q=0.8")]);
    for path in ["/copilot", "/library/agents/1.5", "/apiary", "/index.html", "//elsewhere.example"]
    {
        let response = page.at(path, &browser).expect(path);
        assert!(text(response).await.contains("<base href=\"/\" />"), "{path}");
    }
    for path in [
        "/api",
        "/api/nothing",
        "/health/x",
        "/metrics/x",
        "/assets/app-0.js",
        "/assets/app-1a.js.map",
        "*",
    ] {
        assert!(page.at(path, &browser).is_none(), "{path}");
    }
    for path in ["/copilot", "/nothing.js", "/assets"] {
        assert!(page.at(path, &headers(&[(header::ACCEPT, "*/*")])).is_none(), "{path}");
    }
}

#[tokio::test]
async fn the_document_contains_the_base_path() {
    let page = page(&[("index.html", "<head><base href=\"/\" /></head>")], "/pilot");
    let response = page.index.answer(&HeaderMap::new());
    assert!(text(response).await.contains("<base href=\"/pilot/\" />"));
}

#[tokio::test]
async fn without_a_build_the_page_explains_how_to_build_it() {
    let page = page(&[], "/");
    let response = page.index.answer(&HeaderMap::new());
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    assert_eq!(response.headers()[header::CONTENT_TYPE], HTML);
    assert!(text(response).await.contains("make web"));
}
