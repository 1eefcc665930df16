//! The limits of concurrent turns per user (G8) and fair scheduling between users (G24), observed from the model, which
//! counts its concurrent requests.

use std::collections::HashSet;

use reqwest::Response;
use serde_json::json;
use testkit::model_server::{Dialect, Gate, ModelServer, RecordedRequest, ResponseEnd, Script};
use tokio::task::JoinSet;

use super::ScriptedServer;
use super::auth::jwt_server;
use crate::contract::{TurnEnd, assert_complete};
use crate::events::EventStream;
use crate::scripts::settings_for;
use crate::server::{TestServer, id_of, refusal};
use crate::tokens::token;

fn open_requests(requests: &[RecordedRequest]) -> usize {
    requests.iter().filter(|request| request.ending == ResponseEnd::Open).count()
}

async fn post(server: &TestServer, user: Option<&str>, session: &str, text: &str) -> Response {
    let path = format!("/chat/sessions/{session}/stream");
    let mut request = server.post(&path, &json!({"message": text}));
    if let Some(user) = user {
        request = request.bearer_auth(token(user));
    }
    request.send().await.expect("an answer")
}

#[tokio::test]
async fn of_a_hundred_concurrent_messages_fifteen_are_accepted_and_five_run() {
    let gate = Gate::closed();
    let setup = ScriptedServer::with(Dialect::OpenAi, &[("NUM_COPILOT_WORKERS", "20")]).await;
    let held = gate.clone();
    setup.model.respond_with(move |_| Script::default().wait_for(&held).say("Done."));
    let mut sessions = Vec::new();
    for _ in 0..100 {
        sessions.push(setup.server.session().await);
    }
    let mut sending = JoinSet::new();
    for (n, session) in sessions.iter().enumerate() {
        let path = format!("/chat/sessions/{session}/stream");
        let request = setup.server.post(&path, &json!({"message": format!("message {n}")}));
        sending.spawn(async move { request.send().await.expect("an answer") });
    }
    let answers = sending.join_all().await;
    let (accepted, refused): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| answer.status() == 200);
    assert_eq!(accepted.len(), 15, "exactly the limit");
    for answer in refused {
        assert!(answer.headers().contains_key("retry-after"));
        assert_eq!(refusal(answer).await, (429, "TOO_MANY_TURNS".into()));
    }
    let before = setup.model.wait_for_requests(5).await;
    assert_eq!(open_requests(&before), 5);
    gate.open();
    for answer in accepted {
        assert_eq!(
            assert_complete(&EventStream::of(answer).all().await),
            TurnEnd::Finished("stop".into())
        );
    }
    assert_eq!(setup.model.requests().len(), 15);
    let (_, end) = setup.turn(&sessions[0], "once more").await;
    assert_eq!(end, TurnEnd::Finished("stop".into()), "afterwards a turn is accepted again");
}

#[tokio::test]
async fn no_more_turns_than_the_limit_run_and_the_others_follow_in_order() {
    const CAP: usize = 2;
    let caps = [("MAX_RUNNING_COPILOT_TURNS_PER_USER", "2"), ("NUM_COPILOT_WORKERS", "8")];
    let setup = ScriptedServer::with(Dialect::OpenAi, &caps).await;
    let gates: Vec<Gate> = (0..8).map(|_| Gate::closed()).collect();
    for gate in &gates {
        setup.model.enqueue(Script::default().wait_for(gate).say("Done."));
    }
    let mut streams = Vec::new();
    for n in 0..8 {
        let session = setup.server.session().await;
        streams.push(setup.server.say(&session, &format!("message {n}")).await);
        // Those within the limit run at the same time: the next one is sent when the model has the request of the one
        // before.
        if n < CAP {
            setup.model.wait_for_requests(n + 1).await;
        }
    }
    for (done, gate) in gates.iter().enumerate() {
        let expected = (done + CAP).min(8);
        let requests = setup.model.wait_for_requests(expected).await;
        assert_eq!(requests.len(), expected, "the next one only when one has ended");
        assert!(open_requests(&requests) <= CAP);
        gate.open();
    }
    for stream in streams {
        assert_eq!(assert_complete(&stream.all().await), TurnEnd::Finished("stop".into()));
    }
    let asked: Vec<String> =
        setup.model.requests().iter().map(RecordedRequest::last_user_text).collect();
    for (n, words) in asked.iter().enumerate() {
        assert!(words.contains(&format!("message {n}")), "first in, first out: {asked:?}");
    }
}

#[tokio::test]
async fn a_user_with_a_hundred_turns_delays_another_by_one_rotation_at_most() {
    const MANY: usize = 100;
    let model = ModelServer::start().await;
    let url = model.url(Dialect::OpenAi);
    let mut settings = settings_for(Dialect::OpenAi, &url);
    settings.extend([
        ("NUM_COPILOT_WORKERS", "2"),
        ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "2"),
        ("MAX_INFLIGHT_COPILOT_TURNS_PER_USER", "1000"),
    ]);
    let server = jwt_server(&settings);
    let gate = Gate::closed();
    let held = gate.clone();
    model.respond_with(move |_| Script::default().wait_for(&held).say("Done."));
    let session_of = |user: &'static str| {
        let request = server.client.post(server.api("/chat/sessions")).bearer_auth(token(user));
        async move { id_of(request.send().await.expect("an answer")).await }
    };
    let mut streams = Vec::new();
    for n in 0..MANY {
        let session = session_of("ann").await;
        streams.push(post(&server, Some("ann"), &session, &format!("ann {n}")).await);
    }
    model.wait_for_requests(2).await;
    let session = session_of("bob").await;
    let bob = post(&server, Some("bob"), &session, "bob at last").await;
    assert_eq!(bob.status(), 200);
    gate.open();
    assert_eq!(
        assert_complete(&EventStream::of(bob).all().await),
        TurnEnd::Finished("stop".into())
    );
    let asked: Vec<String> = model.requests().iter().map(RecordedRequest::last_user_text).collect();
    let place = asked.iter().position(|words| words.contains("bob")).expect("bob was answered");
    // Two ran when bob's message came, and two more of ann's may have been ahead of it in the queue.
    assert!(place <= 4, "bob was number {place}");
    for stream in streams {
        assert_eq!(
            assert_complete(&EventStream::of(stream).all().await),
            TurnEnd::Finished("stop".into())
        );
    }
    let answered: HashSet<String> =
        model.requests().iter().map(RecordedRequest::last_user_text).collect();
    assert_eq!(answered.len(), MANY + 1, "every turn ran once");
}

#[tokio::test]
async fn a_message_that_waits_for_a_permit_can_be_cancelled() {
    let caps = [("MAX_RUNNING_COPILOT_TURNS_PER_USER", "1")];
    let setup = ScriptedServer::with(Dialect::OpenAi, &caps).await;
    let gate = Gate::closed();
    let held = gate.clone();
    setup.model.respond_with(move |_| Script::default().wait_for(&held).say("Done."));
    let first = setup.server.session().await;
    let running = setup.server.say(&first, "runs").await;
    setup.model.wait_for_requests(1).await;
    let second = setup.server.session().await;
    let waiting = setup.server.say(&second, "waits").await;
    let report = setup.server.cancel(&second).await;
    assert_eq!(report["cancelled"], true);
    assert_eq!(assert_complete(&waiting.all().await), TurnEnd::Aborted);
    assert_eq!(setup.model.requests().len(), 1, "it never ran");
    gate.open();
    assert_eq!(assert_complete(&running.all().await), TurnEnd::Finished("stop".into()));
}
