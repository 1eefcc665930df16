//! Too many connections: those over the limit are refused with a proper response, the others are not affected, and no
//! file handle leaks.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{ENGINE, assert_files_return, connect, drain, open_files};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::EventStream;
use crate::server::{TEST_TIMEOUT, TestServer, refusal};

async fn healthy(server: &TestServer) -> bool {
    // A new client, because only a new connection is subject to the limit.
    let health =
        crate::server::client().get(format!("{}/health/ready", server.base())).send().await;
    health.expect("an answer").status() == 200
}

async fn assert_flood_is_harmless(server: &TestServer, cap: usize) {
    let session = server.session().await;
    let before = open_files(server);
    let mut stream = server.say(&session, "/stream count=150 size=10 delay_ms=20").await;
    stream.until("text-delta").await;
    let mut held = Vec::new();
    for _ in 0..cap + 20 {
        held.push(connect(server).await);
    }
    let refused =
        crate::server::client().get(server.api("/chat/sessions")).send().await.expect("an answer");
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(refusal(refused).await, (503, "UNAVAILABLE".into()));
    assert!(healthy(server).await, "health is answered over the cap");
    let (rest, ending) = stream.rest().await;
    assert_eq!(ending, crate::events::Ending::Complete, "an open stream is not affected");
    assert!(rest.iter().any(|got| got.chunk["type"] == "finish"));
    drop(held);
    assert_files_return(server, before).await;
    let session = server.session().await;
    let events = server.say(&session, "/stream count=2 size=5").await.all().await;
    assert_eq!(assert_complete(&events), TurnEnd::Finished("stop".to_owned()));
}

#[tokio::test]
async fn connections_over_the_cap_do_not_affect_the_others() {
    assert_flood_is_harmless(&TestServer::with(ENGINE, &[("MAX_CONNECTIONS", "25")]), 25).await;
}

#[tokio::test]
async fn connections_of_one_address_are_capped_too() {
    assert_flood_is_harmless(&TestServer::with(ENGINE, &[("MAX_CONNECTIONS_PER_IP", "25")]), 25)
        .await;
}

#[tokio::test]
async fn slowly_sent_request_heads_are_cut_off() {
    let server =
        TestServer::with(ENGINE, &[("REQUEST_HEAD_SECONDS", "1"), ("MAX_CONNECTIONS", "40")]);
    server.session().await;
    let before = open_files(&server);
    let attackers = (0..35).map(async |_| {
        let mut stream = connect(&server).await;
        let mut answer = [0; 256];
        let dripping = async {
            for byte in
                "GET /health/live HTTP/1.1\r\nx-drop: ".bytes().chain(std::iter::repeat(b'y'))
            {
                if stream.write_all(&[byte]).await.is_err() {
                    return;
                }
                // Any response ends the attempt, because the request is never complete.
                let wait = Duration::from_millis(50);
                if tokio::time::timeout(wait, stream.read(&mut answer)).await.is_ok() {
                    return;
                }
            }
        };
        tokio::time::timeout(TEST_TIMEOUT, dripping).await.expect("the server ends it");
    });
    let (_, good) = tokio::join!(futures::future::join_all(attackers), async {
        let session = server.session().await;
        server.say(&session, "/stream count=50 size=10 delay_ms=20").await.all().await
    });
    assert_eq!(
        assert_complete(&good),
        TurnEnd::Finished("stop".to_owned()),
        "others are served meanwhile"
    );
    assert_files_return(&server, before).await;
}

#[tokio::test]
async fn an_idle_keep_alive_connection_is_closed() {
    let server = TestServer::with(ENGINE, &[("REQUEST_HEAD_SECONDS", "1")]);
    let mut silent = connect(&server).await;
    assert_eq!(drain(&mut silent).await.0, "");
    let mut kept = super::ask(&server, "GET /health/live").await;
    let (answer, _) = drain(&mut kept).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "answered first, then closed: {answer}");
}

#[tokio::test]
async fn a_user_over_the_stream_cap_is_refused_and_others_are_not() {
    let server = super::auth::jwt_server(&[("MAX_STREAMS_PER_USER", "2")]);
    let session_of = async |user: &str| {
        let made = server
            .client
            .post(server.api("/chat/sessions"))
            .bearer_auth(crate::tokens::token(user))
            .send()
            .await;
        crate::server::id_of(made.expect("an answer")).await
    };
    let start = async |user: &str, session: &str| {
        let body = serde_json::json!({"message": "/stream count=100000 size=5 delay_ms=20"});
        let request = server.post(&format!("/chat/sessions/{session}/stream"), &body);
        request.bearer_auth(crate::tokens::token(user)).send().await.expect("an answer")
    };
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(EventStream::of(start("anna", &session_of("anna").await).await));
    }
    let third = session_of("anna").await;
    let refused = start("anna", &third).await;
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(refusal(refused).await, (429, "TOO_MANY_STREAMS".into()));
    let unasked = server
        .get(&format!("/chat/sessions/{third}"))
        .bearer_auth(crate::tokens::token("anna"))
        .send()
        .await;
    let unasked = crate::server::json_of(unasked.expect("an answer")).await;
    assert_eq!(unasked["messages"], serde_json::json!([]), "a refused message is not stored");
    assert_eq!(start("bert", &session_of("bert").await).await.status(), 200);
}
