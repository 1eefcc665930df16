//! Laws of `Completions`.

use std::collections::HashSet;
use std::time::Duration;

use futures::future::join_all;
use ports::Ports;
use ports::completions::CompletionMessage;

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! completions_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, completions:
            a_sent_message_arrives,
            a_message_is_delivered_to_one_consumer,
            an_unsettled_message_is_delivered_again,
            a_settled_message_is_never_delivered_again,
        );
    };
}

async fn send(ports: &Ports, body: &str) {
    ports.completions.send(body.to_owned()).await.expect("send");
}

async fn next(ports: &Ports) -> CompletionMessage {
    let arrived = tokio::time::timeout(LAW / 2, ports.completions.next()).await;
    arrived.expect("a message arrives").expect("next")
}

async fn nothing_arrives(ports: &Ports) -> bool {
    // Longer than the longest polling interval of a backend.
    tokio::time::timeout(Duration::from_millis(700), ports.completions.next()).await.is_err()
}

pub async fn a_sent_message_arrives(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let odd = r#"{"operation_id":"o","result":"ä\n\u0000'; --"}"#;
    let (arrived, ()) = tokio::join!(next(ports), send(ports, odd));
    assert_eq!(arrived.body, odd);
    arrived.ack().await.expect("ack");
    // A message without a consumer is kept, and its body is not parsed: it need not be JSON.
    send(ports, "not json").await;
    fixture.restart().await;
    assert_eq!(next(fixture.ports()).await.body, "not json");
}

pub async fn a_message_is_delivered_to_one_consumer(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let bodies: Vec<String> = (0..20).map(|n| format!("message {n}")).collect();
    let takers = bodies.iter().map(|_| next(ports));
    let senders = bodies.iter().map(|body| send(ports, body));
    let (arrived, _) = tokio::join!(join_all(takers), join_all(senders));
    let taken: HashSet<&str> = arrived.iter().map(|arrival| arrival.body.as_str()).collect();
    assert_eq!(taken, bodies.iter().map(String::as_str).collect());
    assert!(nothing_arrives(ports).await, "all of them are unsettled");
}

pub async fn an_unsettled_message_is_delivered_again(fixture: &mut impl BackendFixture) {
    send(fixture.ports(), "hello").await;
    for _ in 0..2 {
        let arrived = next(fixture.ports()).await;
        assert_eq!(arrived.body, "hello");
        drop(arrived);
        // The process crashes before it settles the message.
        fixture.restart().await;
    }
    next(fixture.ports()).await.ack().await.expect("ack");
}

pub async fn a_settled_message_is_never_delivered_again(fixture: &mut impl BackendFixture) {
    for n in 0..5 {
        send(fixture.ports(), &format!("message {n}")).await;
    }
    for _ in 0..5 {
        next(fixture.ports()).await.ack().await.expect("ack");
    }
    assert!(nothing_arrives(fixture.ports()).await);
    fixture.restart().await;
    assert!(nothing_arrives(fixture.ports()).await);
}
