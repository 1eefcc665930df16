//! An API process that shuts down aborts its streams, so that no client takes the cut for the end of the turn.

use std::time::Duration;

use futures::future::join_all;
use testkit::model_server::{Gate, Script};

use super::followed_turn::FollowedTurn;
use super::{ALL_AT_ONCE, cluster, finished};
use crate::events::Ending;

const TURNS: usize = 8;
const EXIT_TIMEOUT: Duration = Duration::from_secs(9);

#[tokio::test(flavor = "multi_thread")]
async fn streams_of_an_api_that_shuts_down_break_and_resume_at_another() {
    let (model, mut cluster) = cluster(2, 1, &ALL_AT_ONCE).await;
    let gate = Gate::closed();
    let held = gate.clone();
    model.respond_with(move |_| Script::default().say("I begin").wait_for(&held).say(" and end."));
    let api = cluster.api(0).http();
    let mut turns = join_all((0..TURNS).map(|_| FollowedTurn::start(api, "hello"))).await;
    join_all(turns.iter_mut().map(|turn| turn.until("text-delta"))).await;
    cluster.api(0).sigterm();
    for ending in join_all(turns.iter_mut().map(FollowedTurn::read_rest)).await {
        assert_eq!(ending, Ending::Broken, "a clean close would look like a complete answer");
    }
    assert_eq!(cluster.api_mut(0).wait_for_exit(EXIT_TIMEOUT).code(), Some(0));

    let other = cluster.api(1).http();
    join_all(turns.iter_mut().map(|turn| turn.reconnect(other))).await;
    gate.open();
    join_all(turns.iter_mut().map(FollowedTurn::read_to_the_end)).await;
    for turn in &turns {
        turn.assert_holds(other, &finished()).await;
        assert_eq!(turn.text(), "I begin and end.");
    }
    assert_eq!(model.requests().len(), TURNS, "no turn was restarted");
}
