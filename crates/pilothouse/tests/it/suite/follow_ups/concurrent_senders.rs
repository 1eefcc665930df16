//! Many concurrent senders while turns end: each message ends in exactly one state, and the history agrees with it.

use std::collections::HashMap;
use std::time::Duration;

use futures::future::join_all;
use testkit::model_server::{Dialect, Script};

use super::{ScriptedServer, list, request_contains, states, try_push};
use crate::history::history;
use crate::server::{eventually, refusal};
use crate::turn_requests::send;

const MANY: usize = 50;

/// The response that a sender got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendOutcome {
    Accepted,
    Refused,
}

/// A model that answers at once, so that turns end all the time.
async fn quick_setup() -> ScriptedServer {
    let setup = ScriptedServer::start(Dialect::OpenAi).await;
    setup.model.respond_with(|_| Script::default().delay(Duration::from_millis(3)).say("Yes."));
    setup
}

async fn wait_until_idle(setup: &ScriptedServer, session: &str) {
    let resting =
        async || setup.server.read_session(session).await["active_stream"].is_null().then_some(());
    eventually("the session at rest", resting).await;
}

/// The number of user rows with each id.
async fn rows_by_id(setup: &ScriptedServer, session: &str) -> HashMap<String, usize> {
    let mut found = HashMap::new();
    for row in history(&setup.server, session).await.iter().filter(|row| row["role"] == "user") {
        *found.entry(row["id"].as_str().expect("an id").to_owned()).or_insert(0) += 1;
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_follow_ups_while_turns_end_are_each_delivered_once_or_refused() {
    let setup = quick_setup().await;
    let session = setup.server.session().await;
    let turns = async {
        for number in 0..15 {
            let text = format!("turn {number}");
            let sent = send(&setup.server, &session, &format!("t{number}"), &text).send().await;
            drop(sent.expect("an answer").bytes().await);
        }
    };
    let senders = join_all((0..MANY).map(|number| {
        let (setup, session) = (&setup, &session);
        async move {
            // Spread over several turns.
            tokio::time::sleep(Duration::from_millis(7 * number as u64)).await;
            let id = format!("f{number}");
            let response = try_push(&setup.server, session, &id, &format!("word {number};")).await;
            let outcome = match response.status().as_u16() {
                200 => SendOutcome::Accepted,
                status => {
                    let code = refusal(response).await.1;
                    assert!(
                        ["NO_ACTIVE_TURN", "TOO_MANY_FOLLOW_UPS"].contains(&code.as_str()),
                        "{status} {code}"
                    );
                    SendOutcome::Refused
                }
            };
            (id, outcome)
        }
    }));
    let (outcomes, ()) = tokio::join!(senders, turns);
    wait_until_idle(&setup, &session).await;
    let states: HashMap<String, String> =
        states(&setup.server, &session).await.into_iter().collect();
    let rows = rows_by_id(&setup, &session).await;
    let taken = outcomes.iter().filter(|(_, outcome)| *outcome == SendOutcome::Accepted).count();
    assert!(taken > 0, "some were sent while a turn ran");
    let requests = setup.model.requests();
    for (number, (id, outcome)) in outcomes.iter().enumerate() {
        let heard =
            requests.iter().any(|request| request_contains(request, &format!("word {number};")));
        match outcome {
            SendOutcome::Accepted => {
                assert_eq!(states.get(id).map(String::as_str), Some("delivered"), "{id}");
                assert_eq!((rows.get(id), heard), (Some(&1), true), "{id}");
            }
            SendOutcome::Refused => {
                assert_eq!((states.get(id), rows.get(id), heard), (None, None, false), "{id}");
            }
        }
    }
    setup.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_messages_to_one_session_while_turns_end_are_each_delivered_once() {
    let setup = quick_setup().await;
    let session = setup.server.session().await;
    let sent = join_all((0..MANY).map(|number| {
        let (setup, session) = (&setup, &session);
        async move {
            tokio::time::sleep(Duration::from_millis(3 * number as u64)).await;
            let id = format!("m{number}");
            loop {
                let text = format!("word {number};");
                let sent = send(&setup.server, session, &id, &text).send().await;
                let sent = sent.expect("an answer");
                if sent.status() == 429 {
                    // The limit of waiting follow-ups is reached: the client retries.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
                assert_eq!(sent.status(), 200);
                drop(sent.bytes().await.expect("a stream that ends"));
                return id;
            }
        }
    }))
    .await;
    wait_until_idle(&setup, &session).await;
    let rows = rows_by_id(&setup, &session).await;
    assert_eq!(rows.len(), MANY);
    assert!(sent.iter().all(|id| rows.get(id) == Some(&1)), "{rows:?}");
    let list = list(&setup.server, &session).await;
    let follow_ups = list["follow_ups"].as_array().expect("a list");
    assert!(!follow_ups.is_empty(), "some were sent while a turn ran");
    assert!(follow_ups.iter().all(|one| one["state"] == "delivered"), "{list}");
    setup.model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn follow_ups_during_a_cancel_are_delivered_or_dropped_but_never_both() {
    let setup = quick_setup().await;
    let session = setup.server.session().await;
    for round in 0..12_u64 {
        let started = send(&setup.server, &session, &format!("t{round}"), "work").send().await;
        let started = started.expect("an answer");
        let pushing = join_all((0..4).map(|number| {
            let id = format!("f{round}-{number}");
            let (setup, session) = (&setup, &session);
            async move { try_push(&setup.server, session, &id, "more").await.status() }
        }));
        let cancelling = async {
            tokio::time::sleep(Duration::from_millis(round)).await;
            setup.server.cancel(&session).await
        };
        tokio::join!(pushing, cancelling);
        drop(started.bytes().await.expect("a stream that ends"));
        wait_until_idle(&setup, &session).await;
    }
    let rows = rows_by_id(&setup, &session).await;
    let states = states(&setup.server, &session).await;
    assert!(!states.is_empty());
    for (id, state) in &states {
        match state.as_str() {
            "delivered" => assert_eq!(rows.get(id), Some(&1), "{id}"),
            "dropped" => assert_eq!(rows.get(id), None, "{id}"),
            other => panic!("{id} ended as {other}"),
        }
    }
    setup.model.assert_no_violations();
}
