//! A turn that crashes its executor on every attempt fails after three attempts, and its client gets the error on its
//! open connection.

use serde_json::json;
use testkit::model_server::Script;

use super::followed_turn::FollowedTurn;
use super::{cluster, finished};
use crate::contract::{TurnEnd, assert_complete};
use crate::events::text_of;
use crate::history::{history, rows};

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_crashes_its_executor_three_times_fails_on_the_open_stream() {
    let (model, mut cluster) = cluster(1, 1, &[]).await;
    for _ in 0..3 {
        model.enqueue(Script::default().say("I begin").hang());
    }
    let mut turn = FollowedTurn::start(cluster.api(0).http(), "hello").await;
    for attempt in 1..=3 {
        while !turn.text().ends_with(&"I begin".repeat(attempt)) {
            turn.until("text-delta").await;
        }
        cluster.executor_mut(0).restart();
    }
    turn.read_to_the_end().await;
    let api = cluster.api(0).http();
    turn.assert_holds(api, &TurnEnd::Failed("crash_loop".into())).await;
    assert_eq!(model.requests().len(), 3, "the fourth attempt sends no request");
    let said = history(api, &turn.session).await;
    assert_eq!(rows(&said, "system")[0]["metadata"]["code"], json!("crash_loop"));

    model.enqueue(Script::text("Here I am."));
    let next = api.say(&turn.session, "are you there?").await.all().await;
    assert_eq!((assert_complete(&next), text_of(&next)), (finished(), "Here I am.".to_owned()));
    model.assert_no_violations();
}
