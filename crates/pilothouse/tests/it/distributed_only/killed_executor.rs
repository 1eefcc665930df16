//! An executor is killed while its turns run, and another one continues all of them.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures::future::join_all;
use testkit::model_server::{RecordedRequest, Script};

use super::followed_turn::FollowedTurn;
use super::{ALL_AT_ONCE, cluster, finished};
use crate::contract::assert_complete;
use crate::events::{kinds, text_of};
use crate::server::Role;

const TURNS: usize = 20;
/// The lease, plus the time a loaded machine needs to notice its end and to start the work again.
const RECOVERED_WITHIN: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_of_a_killed_executor_continues_elsewhere_without_breaking_its_stream() {
    let (model, mut cluster) = cluster(1, 1, &[]).await;
    model.enqueue(Script::default().say("I begin").hang());
    model.enqueue(Script::text("Once more, and to the end."));
    let mut turn = FollowedTurn::start(cluster.api(0).http(), "hello").await;
    turn.until("text-delta").await;
    cluster.spawn(Role::Executor, &[]);
    cluster.executor_mut(0).kill9();
    turn.read_to_the_end().await;
    turn.assert_holds(cluster.api(0).http(), &finished()).await;
    assert!(kinds(&turn.seen).contains(&"data-attempt"));

    cluster.executor_mut(0).restart();
    cluster.executor_mut(1).kill9();
    model.enqueue(Script::text("Here I am."));
    let next = cluster.api(0).http().say(&turn.session, "are you there?").await.all().await;
    assert_eq!((assert_complete(&next), text_of(&next)), (finished(), "Here I am.".to_owned()));
    model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_macros, reason = "how long a recovery takes is worth reading")]
async fn twenty_streaming_turns_of_a_killed_executor_end_once_on_their_connections() {
    let (model, mut cluster) = cluster(1, 1, &ALL_AT_ONCE).await;
    model.respond_with(endless_first_response());
    let api = cluster.api(0).http();
    let texts: Vec<String> = (0..TURNS).map(|number| format!("question {number}")).collect();
    let mut turns = join_all(texts.iter().map(|text| FollowedTurn::start(api, text))).await;
    join_all(turns.iter_mut().map(|turn| turn.until("text-delta"))).await;
    cluster.spawn(Role::Executor, &[]);
    cluster.executor_mut(0).kill9();
    let killed = Instant::now();
    join_all(turns.iter_mut().map(FollowedTurn::read_to_the_end)).await;
    let recovered = killed.elapsed();
    eprintln!("{TURNS} turns were finished elsewhere {recovered:?} after the kill");
    assert!(recovered < RECOVERED_WITHIN, "{recovered:?}");
    for (turn, text) in turns.iter().zip(&texts) {
        turn.assert_holds(cluster.api(0).http(), &finished()).await;
        assert!(turn.text().ends_with(&format!("The answer to {text}.")), "{}", turn.text());
        let attempts = kinds(&turn.seen).iter().filter(|kind| **kind == "data-attempt").count();
        assert_eq!(attempts, 1, "taken over once");
    }
    assert_eq!(model.requests().len(), 2 * TURNS, "one request before the kill and one after");
    model.assert_no_violations();
}

/// Streams slowly and without end on the first request for a text; answers at once on the second.
fn endless_first_response() -> impl Fn(&RecordedRequest) -> Script + Send + Sync + 'static {
    let asked = Mutex::new(HashMap::<String, usize>::new());
    move |request| {
        let text = request.last_user_text();
        let mut asked = asked.lock().expect("no thread panicked with the lock");
        let times = asked.entry(text.clone()).or_default();
        *times += 1;
        match *times {
            1 => (0..2000).fold(Script::default(), |script, word| {
                script.say_in(&format!("word {word} "), 1).delay(Duration::from_millis(20))
            }),
            _ => Script::text(&format!("The answer to {text}.")),
        }
    }
}
