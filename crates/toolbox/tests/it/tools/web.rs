//! `web_fetch` against a local server.

use std::time::Duration;

use ports::tool::ToolContext;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Toolbox, context};
use crate::egress::client;
use crate::egress::server::{Answer, Server, page};

async fn site() -> (Server, Toolbox, String) {
    let server = Server::start("127.0.0.1", |path, _| match path {
        "/page" => page(
            "text/html; charset=utf-8",
            "<title>A page</title><h1>Top</h1><p>Words and <a href=/more>more</a></p><script>no()</script>",
        ),
        "/long" => page("text/plain", &"ä".repeat(100_000)),
        "/image" => page("image/png", "x"),
        "/missing" => Answer::Bytes(
            b"HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\ngone".to_vec(),
        ),
        _ => Answer::Endless(Vec::new(), Vec::new(), Duration::from_secs(60)),
    })
    .await;
    let port = server.address.port();
    let toolbox = Toolbox::with(client(&[port])).await;
    (server, toolbox, format!("http://site.example:{port}"))
}

#[tokio::test]
async fn a_page_is_returned_as_text_with_its_title_and_marked_as_untrusted() {
    let (_server, toolbox, site) = site().await;
    let fetched = toolbox.call("web_fetch", json!({"url": format!("{site}/page")})).await;
    assert_eq!((&fetched["title"], &fetched["status_code"]), (&json!("A page"), &json!(200)));
    assert_eq!(fetched["content"], format!("# Top\n\nWords and [more]({site}/more)"));
    assert!(fetched["message"].as_str().expect("text").contains("untrusted"));
    let raw = json!({"url": format!("{site}/page"), "extract_text": false});
    let raw = toolbox.call("web_fetch", raw).await;
    assert!(raw["content"].as_str().expect("text").starts_with("<title>"));
}

#[tokio::test]
async fn a_long_page_is_truncated_and_marked() {
    let (_server, toolbox, site) = site().await;
    let fetched = toolbox.call("web_fetch", json!({"url": format!("{site}/long")})).await;
    assert_eq!(
        (&fetched["truncated"], &fetched["content_length"]),
        (&json!(true), &json!(200_000))
    );
    assert!(fetched["content"].as_str().expect("text").len() <= 100_000);
}

#[tokio::test]
async fn every_fetch_failure_has_its_code() {
    let (_server, toolbox, site) = site().await;
    for (url, code) in [
        (format!("{site}/image"), "unsupported_content_type"),
        ("http://127.0.0.2/".to_owned(), "url_blocked"),
        ("not a url".to_owned(), "url_blocked"),
        (site.replace("site.example", "unknown.example"), "fetch_failed"),
    ] {
        let refused = toolbox.call("web_fetch", json!({"url": url})).await;
        assert_eq!(refused["error"], code, "{url}");
    }
    let missing = toolbox.call("web_fetch", json!({"url": format!("{site}/missing")})).await;
    assert_eq!((&missing["status_code"], &missing["content"]), (&json!(404), &json!("gone")));
}

#[tokio::test]
async fn a_cancelled_fetch_ends_at_once() {
    let (server, toolbox, site) = site().await;
    let cancel = CancellationToken::new();
    let context = ToolContext { cancel: cancel.clone(), ..context() };
    let call = toolbox.call_in(context, "web_fetch", json!({"url": format!("{site}/silent")}));
    let stop = async {
        while server.seen().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let both = async { tokio::join!(call, stop) };
    let (response, ()) = tokio::time::timeout(Duration::from_secs(5), both).await.expect("it ends");
    assert_eq!(response["error"], "cancelled");
}
