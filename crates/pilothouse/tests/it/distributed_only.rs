//! What only several processes can meet: one of them dies, hangs, or is cut off from a server, and the others go on.

use std::time::Duration;

use testkit::model_server::{ModelServer, Script};
use testkit::proxy::Mode;

use crate::contract::{End, assert_whole};
use crate::distributed::guarantees::{model_settings, turn_of};
use crate::events::{Events, kinds, text_of};
use crate::server::{Cluster, Engine, Role};

const FINISHED: fn() -> End = || End::Finished("stop".to_owned());

/// One API and one executor, and a model.
async fn cluster(more: &[(&str, &str)]) -> (ModelServer, Cluster) {
    let model = ModelServer::start().await;
    let url = model.openai_url();
    let cluster = Cluster::start(Engine::Distributed, &[], &model_settings(&url, more));
    (model, cluster)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_turn_of_a_killed_executor_goes_on_at_another_one_and_its_stream_does_not_break() {
    let (model, mut cluster) = cluster(&[]).await;
    model.enqueue(Script::default().say("I begin").hang());
    model.enqueue(Script::text("Once more, and to the end."));
    let api = cluster.api(0).http();
    let session = api.session().await;
    let mut stream = api.say(&session, "hello").await;
    let mut events = stream.until_seen("text-delta").await;
    cluster.spawn(Role::Executor, &[]);
    cluster.executor_mut(0).kill9();
    events.extend(stream.all().await);
    assert_eq!(assert_whole(&events), FINISHED());
    assert!(kinds(&events).contains(&"data-attempt"));

    cluster.executor_mut(0).restart();
    cluster.executor_mut(1).kill9();
    model.enqueue(Script::text("Here I am."));
    let next = cluster.api(0).http().say(&session, "are you there?").await.all().await;
    assert_eq!((assert_whole(&next), text_of(&next)), (FINISHED(), "Here I am.".to_owned()));
    model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_that_hung_longer_than_its_lease_comes_back_and_changes_nothing() {
    let (model, mut cluster) = cluster(&[]).await;
    let gate = testkit::model_server::Gate::closed();
    model.enqueue(Script::default().say("I begin").wait_for(&gate).say(" and go on."));
    model.enqueue(Script::text("Once more, and to the end."));
    let api = cluster.api(0).http();
    let session = api.session().await;
    let mut stream = api.say(&session, "hello").await;
    let turn = turn_of(&stream);
    let mut events = stream.until_seen("text-delta").await;
    cluster.executor(0).pause();
    cluster.spawn(Role::Executor, &[]);
    events.extend(stream.all().await);
    assert_eq!(assert_whole(&events), FINISHED());
    gate.open();
    cluster.executor(0).resume();
    cluster.executor(0).log().wait_for("fence");
    let api = cluster.api(0).http();
    let again = api.get(&format!("/chat/tasks/{turn}/stream?last_message_id=0"));
    let again = Events::of(again.send().await.expect("an answer")).all().await;
    assert_eq!(text_of(&again), text_of(&events), "what was seen stays true");
    let requests = model.requests().len();
    assert_eq!(requests, 2, "the one that hung asked nobody again");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_api_shows_the_same_stream() {
    let (model, mut cluster) = cluster(&[]).await;
    let gate = testkit::model_server::Gate::closed();
    model.enqueue(Script::default().say("I begin").wait_for(&gate).say(" and I end."));
    cluster.spawn(Role::Api, &[]);
    let session = cluster.api(0).http().session().await;
    let stream = cluster.api(0).http().say(&session, "hello").await;
    let path = format!("/chat/tasks/{}/stream", turn_of(&stream));
    let request = cluster.api(1).http().get(&path).header("last-event-id", "0");
    let elsewhere = Events::of(request.send().await.expect("an answer"));
    gate.open();
    assert_eq!(elsewhere.all().await, stream.all().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_cut_off_from_its_servers_loses_its_turn_to_another_and_works_again_after() {
    let model = ModelServer::start().await;
    let url = model.openai_url();
    let mut cluster = Cluster::empty(Engine::Distributed, &[], &model_settings(&url, &[]));
    cluster.spawn(Role::Api, &[]);
    cluster.spawn_linked(Role::Executor, &[]);
    model.enqueue(Script::default().say("I begin").hang());
    model.enqueue(Script::text("Once more, and to the end."));
    let session = cluster.api(0).http().session().await;
    let mut stream = cluster.api(0).http().say(&session, "hello").await;
    let mut events = stream.until_seen("text-delta").await;
    let links = cluster.executor(0).links();
    for link in [&links.postgres, &links.redis, &links.rabbitmq] {
        link.set(Mode::BlackHole);
    }
    cluster.spawn(Role::Executor, &[]);
    events.extend(stream.all().await);
    assert_eq!(assert_whole(&events), FINISHED());

    let links = cluster.executor(0).links();
    for link in [&links.postgres, &links.redis, &links.rabbitmq] {
        link.set(Mode::Pass);
        link.reset_all();
    }
    cluster.executor_mut(1).kill9();
    model.enqueue(Script::text("I am back."));
    let next = cluster.api(0).http().say(&session, "are you there?").await;
    let next = tokio::time::timeout(Duration::from_secs(30), next.all()).await.expect("in time");
    assert_eq!((assert_whole(&next), text_of(&next)), (FINISHED(), "I am back.".to_owned()));
}
