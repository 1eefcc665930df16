//! What `doctor` reports about the agent generator.

use axum::Router;
use axum::http::Uri;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::ENGINE;
use crate::server::TestStorage;

/// Whether `doctor` is satisfied, and its line about the generator.
async fn doctor(settings: &[(&str, &str)]) -> (bool, String) {
    let storage = TestStorage::new(ENGINE);
    let settings: Vec<(String, String)> =
        settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let mut command = storage.command(&settings, &["doctor", "--port", "0"]);
    let ran = tokio::task::spawn_blocking(move || command.output());
    let output = ran.await.expect("no panic").expect("it runs");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = shown.lines().find(|line| line.contains("  Generator ")).expect("a line");
    (output.status.success(), line.to_owned())
}

/// Serves a health and a list of blocks while the set lives. The port of the service.
async fn service(health: Value) -> (String, JoinSet<()>) {
    let app = Router::new().fallback(move |uri: Uri| async move {
        match uri.path() {
            "/health" => health.to_string(),
            _ => json!({"success": true, "blocks": [{}, {}, {}]}).to_string(),
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    let mut serving = JoinSet::new();
    serving.spawn(async move { axum::serve(listener, app).await.expect("it serves") });
    (port, serving)
}

#[tokio::test]
async fn doctor_says_what_makes_agents() {
    for (settings, mark, says) in [
        (&[][..], "ok", "offline pilot"),
        (&[("AGENTGENERATOR_USE_DUMMY", "on")], "note", "AGENTGENERATOR_USE_DUMMY"),
    ] {
        let (well, line) = doctor(settings).await;
        assert!(well && line.starts_with(mark) && line.contains(says), "{line}");
    }
}

#[tokio::test]
async fn doctor_asks_a_generator_service_for_its_health() {
    let host = ("AGENTGENERATOR_HOST", "127.0.0.1");
    for (health, healthy, says) in [
        (json!({"status": "healthy", "blocks_loaded": true}), true, "healthy and has 3 blocks"),
        (json!({"status": "healthy", "blocks_loaded": false}), false, "not loaded its blocks"),
        (json!({"status": "starting"}), false, "its status is starting"),
    ] {
        let (port, _serving) = service(health).await;
        let (well, line) = doctor(&[host, ("AGENTGENERATOR_PORT", &port)]).await;
        assert_eq!((well, line.starts_with("ok")), (healthy, healthy), "{line}");
        assert!(line.contains(says), "{line}");
    }
    let (well, line) = doctor(&[host, ("AGENTGENERATOR_PORT", "9")]).await;
    assert!(!well && line.starts_with("BAD") && line.contains("AGENTGENERATOR_HOST"), "{line}");
}
