//! A cancel sent to one API process reaches the executor that runs the turn, with and without RabbitMQ and Redis.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::model_server::{Gate, ModelServer, RecordedRequest, ResponseEnd, Script};
use testkit::proxy::ProxyMode;

use super::followed_turn::FollowedTurn;
use super::{cluster, empty_cluster, finished};
use crate::contract::TurnEnd;
use crate::processes::until_processes;
use crate::server::{Api, Cluster, Role};

const ENDED_WITHIN: Duration = Duration::from_secs(1);
/// The time between two lease renewals, which report a cancel when no notification does.
const RENEWAL: Duration = Duration::from_millis(800);
/// How often a reader polls the database when Redis sends no notification.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_at_another_api_reaches_one_of_three_executors_within_a_second() {
    let (model, cluster) = cluster(2, 3, &[]).await;
    model.respond_with(hang_by_text);
    let (here, there) = (cluster.api(0).http(), cluster.api(1).http());
    for (number, (text, sign)) in
        [("speak", "text-delta"), ("silent", "start-step"), ("speak", "text-delta")]
            .into_iter()
            .enumerate()
    {
        let mut turn = FollowedTurn::start(here, text).await;
        turn.until(sign).await;
        model.wait_for_requests(number + 1).await;
        assert_stops(there, &mut turn, ENDED_WITHIN, ENDED_WITHIN).await;
        assert_requests_aborted(&model).await;
        turn.assert_holds(there, &TurnEnd::Aborted).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_at_another_api_ends_a_command_and_its_process_tree() {
    let (model, cluster) = cluster(2, 3, &[]).await;
    let length = format!("600.{}", cluster.api(0).pid());
    let tree = format!("(setsid sleep {length} &) ; bash -c 'sleep {length}' & sleep {length}");
    model.enqueue(Script::tool("call_1", "bash_exec", &json!({"command": tree})));
    let mut turn = FollowedTurn::start(cluster.api(0).http(), "work").await;
    turn.until("tool-input-available").await;
    until_processes(&length, 3).await;
    let asked = assert_stops(cluster.api(1).http(), &mut turn, ENDED_WITHIN, ENDED_WITHIN).await;
    until_processes(&length, 0).await;
    assert!(asked.elapsed() < ENDED_WITHIN, "the tree was there for {:?}", asked.elapsed());
    turn.assert_holds(cluster.api(1).http(), &TurnEnd::Aborted).await;
    assert_eq!(model.requests().len(), 1, "the model was not asked again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_turn_is_cancelled_at_another_api() {
    let (model, cluster) = cluster(2, 1, &[("NUM_COPILOT_WORKERS", "1")]).await;
    let gate = Gate::closed();
    model.enqueue(Script::default().say("Busy").wait_for(&gate).say("."));
    let mut busy = FollowedTurn::start(cluster.api(0).http(), "first").await;
    gate.reached().await;
    let mut waiting = FollowedTurn::start(cluster.api(0).http(), "second").await;
    assert_stops(cluster.api(1).http(), &mut waiting, ENDED_WITHIN, ENDED_WITHIN).await;
    waiting.assert_holds(cluster.api(1).http(), &TurnEnd::Aborted).await;
    gate.open();
    busy.read_to_the_end().await;
    busy.assert_holds(cluster.api(1).http(), &finished()).await;
    assert_eq!(model.requests().len(), 1, "the queued turn never reached the model");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_redis_and_rabbitmq_a_cancel_takes_one_renewal() {
    let (model, mut cluster) = empty_cluster(&[]).await;
    for role in [Role::Api, Role::Api, Role::Executor, Role::Executor, Role::Executor] {
        cluster.spawn_with_proxies(role, &[]);
    }
    model.respond_with(hang_by_text);
    let mut turn = FollowedTurn::start(cluster.api(0).http(), "speak").await;
    turn.until("text-delta").await;
    refuse_all_but_postgres(&cluster);
    let there = cluster.api(1).http();
    assert_stops(there, &mut turn, RENEWAL + ENDED_WITHIN, RENEWAL + ENDED_WITHIN + POLL_INTERVAL)
        .await;
    assert_requests_aborted(&model).await;
    turn.assert_holds(there, &TurnEnd::Aborted).await;
}

/// Cancels the turn. The response arrives in time, and so does the end of the stream, which is open at another API
/// process.
async fn assert_stops(
    api: &Api,
    turn: &mut FollowedTurn,
    answered: Duration,
    shown: Duration,
) -> Instant {
    let asked = Instant::now();
    let report = api.cancel(&turn.session).await;
    assert!(asked.elapsed() < answered, "the answer took {:?}", asked.elapsed());
    assert_eq!((&report["cancelled"], &report["turn_id"]), (&json!(true), &json!(turn.turn)));
    assert_ne!(report["reason"], "cancel_published_not_confirmed");
    turn.read_to_the_end().await;
    assert!(asked.elapsed() < shown, "the stream ended after {:?}", asked.elapsed());
    asked
}

async fn assert_requests_aborted(model: &ModelServer) {
    let requests = model.wait_until_idle().await;
    assert!(requests.iter().all(|request| request.ending == ResponseEnd::ClientLeft));
}

fn refuse_all_but_postgres(cluster: &Cluster) {
    let (apis, executors) = (0..2, 0..3);
    let processes = apis.map(|n| cluster.api(n)).chain(executors.map(|n| cluster.executor(n)));
    for process in processes {
        process.proxies().redis.set(ProxyMode::Refuse);
        process.proxies().rabbitmq.set(ProxyMode::Refuse);
    }
}

fn hang_by_text(request: &RecordedRequest) -> Script {
    match request.last_user_text().as_str() {
        "silent" => Script::hang_before_headers(),
        _ => Script::default().say("I begin").hang(),
    }
}
