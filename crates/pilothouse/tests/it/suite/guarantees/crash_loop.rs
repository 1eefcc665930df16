//! A turn that crashes the server repeatedly fails with an error and does not block the session.

use serde_json::json;
use testkit::model_server::{ModelServer, Script};

use super::server_for;
use crate::contract::{TurnEnd, assert_complete};
use crate::events::{text_of, turn_of};
use crate::history::{history, rows};
use crate::turn_requests::{follow_after, send_and_follow, status_of};

#[tokio::test(flavor = "multi_thread")]
async fn three_crashes_in_one_turn_fail_it_and_the_next_message_is_answered() {
    let model = ModelServer::start().await;
    for _ in 0..3 {
        model.enqueue(Script::default().say("I begin").hang());
    }
    let mut server = server_for(&model, &[]);
    let session = server.session().await;
    let mut stream = send_and_follow(&server, &session, "m1", "hello").await;
    let turn = turn_of(&stream);
    let mut seen = Vec::new();
    for attempt in 1..=3 {
        while !text_of(&seen).ends_with(&"I begin".repeat(attempt)) {
            seen.push(stream.next().await.expect("the stream continues"));
        }
        server.restart();
        let last = seen.last().expect("events").id;
        stream = follow_after(&server, &turn, last).await;
    }
    seen.extend(stream.all().await);
    assert_eq!(assert_complete(&seen), TurnEnd::Failed("crash_loop".into()));
    assert_eq!(status_of(&server, &turn).await, "failed");
    assert_eq!(model.requests().len(), 3, "the fourth attempt sends no request");
    let rows_so_far = history(&server, &session).await;
    let notice = rows(&rows_so_far, "system")[0].clone();
    assert_eq!(notice["metadata"]["code"], json!("crash_loop"));

    model.enqueue(Script::text("Here I am."));
    let next = server.say(&session, "are you there?").await.all().await;
    assert_eq!(assert_complete(&next), TurnEnd::Finished("stop".into()));
    assert_eq!(text_of(&next), "Here I am.");
    history(&server, &session).await;
    model.assert_no_violations();
}
