//! The files of a session, as the web page lists and downloads them.

use serde_json::{Value, json};

use super::ENGINE;
use super::auth::jwt_server;
use crate::server::{TestServer, id_of, json_of, refusal};
use crate::tokens::token;

async fn written(server: &TestServer, session: &str, filename: &str, content: &str) {
    let wish = json!({"filename": filename, "content": content});
    server.say(session, &format!("/tool write_workspace_file {wish}")).await.all().await;
}

async fn files(server: &TestServer, session: &str) -> Value {
    let listed = server.get(&format!("/workspace/files?session_id={session}")).send().await;
    json_of(listed.expect("an answer")).await
}

#[tokio::test]
async fn files_of_a_session_are_listed_and_sent_unchanged() {
    let server = TestServer::start(ENGINE);
    let session = server.session().await;
    assert_eq!(files(&server, &session).await, json!({"files": [], "total_count": 0}));
    // More than one read buffer, so that several pieces are joined.
    let long: String = (0..8_500).map(|n| format!("{n:>5}ää")).collect();
    let page = "<script>alert(1)</script>";
    for (name, content) in [("notes/Übung.txt", &long), ("page.html", &page.to_owned())] {
        written(&server, &session, name, content).await;
    }
    let listed = files(&server, &session).await;
    assert_eq!(listed["total_count"], 2);
    for (file, content, kind, shown) in [
        (&listed["files"][0], long.as_str(), "text/plain; charset=utf-8", "%C3%9Cbung.txt"),
        (&listed["files"][1], page, "application/octet-stream", "page.html"),
    ] {
        let id = file["file_id"].as_str().expect("an id");
        let path = format!("/workspace/files/{id}/download?session_id={session}");
        let sent = server.get(&path).send().await.expect("an answer");
        assert_eq!(sent.status(), 200);
        assert_eq!(sent.headers()["content-type"], kind);
        assert_eq!(sent.headers()["x-content-type-options"], "nosniff");
        assert_eq!(sent.headers()["content-length"], content.len().to_string().as_str());
        let disposition = sent.headers()["content-disposition"].to_str().expect("text");
        assert!(disposition.starts_with("attachment; ") && disposition.ends_with(shown));
        assert!(sent.text().await.expect("text") == content, "{file}");
    }
}

#[tokio::test]
async fn a_file_is_sent_only_to_its_owner_and_only_by_its_id() {
    let server = jwt_server(&[]);
    let made = server.post("/chat/sessions", &json!({})).bearer_auth(token("anna")).send().await;
    let session = id_of(made.expect("an answer")).await;
    let path = format!("/chat/sessions/{session}/stream");
    let wish = "/tool write_workspace_file {\"filename\":\"a.txt\",\"content\":\"private\"}";
    let said =
        server.post(&path, &json!({"message": wish})).bearer_auth(token("anna")).send().await;
    said.expect("an answer").text().await.expect("the whole turn");
    let get = async |user: &str, path: &str| {
        server.get(path).bearer_auth(token(user)).send().await.expect("an answer")
    };
    let list = format!("/workspace/files?session_id={session}");
    let listed = json_of(get("anna", &list).await).await;
    let id = listed["files"][0]["file_id"].as_str().expect("an id").to_owned();
    let file = |id: &str| format!("/workspace/files/{id}/download?session_id={session}");
    assert_eq!(get("anna", &file(&id)).await.text().await.expect("text"), "private");
    for path in [list, file(&id)] {
        assert_eq!(refusal(get("bert", &path).await).await, (404, "SESSION_NOT_FOUND".into()));
    }
    let mine = server.post("/chat/sessions", &json!({})).bearer_auth(token("anna")).send().await;
    let mine = id_of(mine.expect("an answer")).await;
    let elsewhere = format!("/workspace/files/{id}/download?session_id={mine}");
    let missing = (404, "FILE_NOT_FOUND".to_owned());
    assert_eq!(refusal(get("anna", &elsewhere).await).await, missing, "of another session");
    for name in ["a.txt", "..%2F..%2Fa.txt", "%2Fetc%2Fpasswd", "wf-0"] {
        assert_eq!(refusal(get("anna", &file(name)).await).await, missing, "{name}");
    }
    for query in ["", "?session_id=", "?session_id=%00"] {
        let path = format!("/workspace/files{query}");
        let status = get("anna", &path).await.status().as_u16();
        assert_eq!(status, if query.is_empty() { 422 } else { 404 }, "{query}");
    }
}
