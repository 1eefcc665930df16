//! Files from URLs, data URIs and the workspace.

use serde_json::json;

use super::site::{TestSite, answer};
use super::{Bench, one};

async fn site() -> (TestSite, Bench) {
    let site = TestSite::start(|seen| match seen.path.as_str() {
        "/data/table.csv" => answer(200, "text/csv; charset=utf-8", "a,b\n1,2\n"),
        "/large" => answer(200, "text/plain", "x".repeat(11 * 1024 * 1024)),
        _ => answer(404, "text/plain", "gone"),
    })
    .await;
    let bench = Bench::with_egress(site.client.clone());
    (site, bench)
}

#[tokio::test]
async fn a_downloaded_file_is_stored_once_and_can_be_read() {
    let (site, bench) = site().await;
    let url = format!("{}/data/table.csv", site.url);
    let stored = bench.run("FileStoreBlock", json!({ "file_in": url })).await.expect("stored");
    let path = stored[0].1.as_str().expect("a path").to_owned();
    assert!(path.starts_with("files/") && path.ends_with("-table.csv"), "{path}");
    let again = bench.run("FileStoreBlock", json!({ "file_in": url })).await.expect("stored");
    assert_eq!(again, stored, "the same content has the same path");
    assert_eq!(
        std::fs::read_to_string(bench.files.path().join(&path)).expect("the file"),
        "a,b\n1,2\n"
    );
    let kept = bench.run("FileStoreBlock", json!({ "file_in": path })).await.expect("known");
    assert_eq!(kept, stored, "a workspace file is not copied");
    let rows = bench.run("ReadSpreadsheetBlock", json!({ "file_input": path })).await;
    assert_eq!(rows, one("rows", json!([{ "a": "1", "b": "2" }])));
    let input = json!({ "name": "table", "value": url, "base_64": true });
    let data = bench.run("AgentFileInputBlock", input).await;
    assert_eq!(data, one("result", json!("data:text/csv;base64,YSxiCjEsMgo=")));
}

#[tokio::test]
async fn an_unreadable_file_is_rejected_with_a_reason() {
    let (site, bench) = site().await;
    for (file, part) in [
        (format!("{}/nothing", site.url), "404"),
        (format!("{}/large", site.url), "larger"),
        ("http://127.0.0.2/".to_owned(), "not allowed"),
        ("data:text/plain;base64,***".to_owned(), "data URI"),
        ("../../etc/passwd".to_owned(), "workspace"),
        ("no/such/file.txt".to_owned(), "not found"),
        ("file:///etc/passwd".to_owned(), "workspace"),
    ] {
        let message = bench.failure("FileReadBlock", json!({ "file_input": file })).await;
        assert!(message.contains(part), "{file}: {message}");
    }
    bench.failure("ReadSpreadsheetBlock", json!({})).await;
    let workbook = json!({ "file_input": "data:;base64,UEsDBAoAAAAAAA==" });
    assert!(bench.failure("ReadSpreadsheetBlock", workbook).await.contains("CSV"));
}

#[tokio::test]
async fn a_text_in_windows_1252_is_decoded() {
    let bench = Bench::new();
    let outputs = bench.run("FileReadBlock", json!({ "file_input": "data:,caf%E9" })).await;
    assert_eq!(outputs, one("content", json!("café")));
}
