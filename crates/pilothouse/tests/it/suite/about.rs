//! The public description of a server, which needs no login.

use serde_json::{Value, json};

use super::ENGINE;
use super::auth::jwt_server;
use crate::server::{Engine, TestServer, json_of};

async fn about(server: &TestServer) -> Value {
    json_of(server.get("/about").send().await.expect("an answer")).await
}

#[tokio::test]
async fn a_server_describes_itself_without_a_login() {
    let engine = match ENGINE {
        Engine::Embedded => "embedded",
        Engine::Distributed => "distributed",
    };
    let server = TestServer::start(ENGINE);
    let local = about(&server).await;
    assert_eq!(local["engine"], engine);
    assert_eq!(local["auth_mode"], "local");
    assert_eq!(local["allow_anonymous"], false);
    assert_eq!(local["credits_enabled"], false);
    assert_eq!(local["model"]["provider"], "offline");
    assert_eq!(local["model"]["is_offline"], true);
    let health = json_of(server.get("/chat/health").send().await.expect("an answer")).await;
    assert_eq!(local["version"], health["version"]);

    let other = jwt_server(&[("ALLOW_ANONYMOUS", "on"), ("CREDITS_ENABLED", "on")]);
    let other = about(&other).await;
    assert_eq!(
        json!([other["auth_mode"], other["allow_anonymous"], other["credits_enabled"]]),
        json!(["jwt", true, true])
    );
}
