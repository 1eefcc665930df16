//! A cancel sent to one API process reaches the executor that runs the turn, with and without RabbitMQ and Redis.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::model_server::{Ending, Gate, ModelServer, RecordedRequest, Script};
use testkit::proxy::Mode;

use super::watched::Watched;
use super::{cluster, finished, nobody};
use crate::contract::End;
use crate::processes::until_processes;
use crate::server::{Api, Cluster, Role};

const WITHIN: Duration = Duration::from_secs(1);
/// The time between two lease renewals, which report a cancel when no notification does.
const RENEWAL: Duration = Duration::from_millis(800);
/// How often a reader polls the database when Redis sends no notification.
const LOOK: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_at_another_api_reaches_one_of_three_executors_within_a_second() {
    let (model, cluster) = cluster(2, 3, &[]).await;
    model.respond_with(hang_as_told);
    let (here, there) = (cluster.api(0).http(), cluster.api(1).http());
    for (number, (text, sign)) in
        [("speak", "text-delta"), ("silent", "start-step"), ("speak", "text-delta")]
            .into_iter()
            .enumerate()
    {
        let mut turn = Watched::start(here, text).await;
        turn.until(sign).await;
        model.wait_for_requests(number + 1).await;
        assert_stops(there, &mut turn, WITHIN, WITHIN).await;
        assert_hung_up(&model).await;
        turn.assert_holds(there, &End::Aborted).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_at_another_api_ends_a_command_and_its_process_tree() {
    let (model, cluster) = cluster(2, 3, &[]).await;
    let length = format!("600.{}", cluster.api(0).pid());
    let tree = format!("(setsid sleep {length} &) ; bash -c 'sleep {length}' & sleep {length}");
    model.enqueue(Script::tool("call_1", "bash_exec", &json!({"command": tree})));
    let mut turn = Watched::start(cluster.api(0).http(), "work").await;
    turn.until("tool-input-available").await;
    until_processes(&length, 3).await;
    let asked = assert_stops(cluster.api(1).http(), &mut turn, WITHIN, WITHIN).await;
    until_processes(&length, 0).await;
    assert!(asked.elapsed() < WITHIN, "the tree was there for {:?}", asked.elapsed());
    turn.assert_holds(cluster.api(1).http(), &End::Aborted).await;
    assert_eq!(model.requests().len(), 1, "the model was not asked again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_turn_is_cancelled_at_another_api() {
    let (model, cluster) = cluster(2, 1, &[("NUM_COPILOT_WORKERS", "1")]).await;
    let gate = Gate::closed();
    model.enqueue(Script::default().say("Busy").wait_for(&gate).say("."));
    let mut busy = Watched::start(cluster.api(0).http(), "first").await;
    gate.reached().await;
    let mut waiting = Watched::start(cluster.api(0).http(), "second").await;
    assert_stops(cluster.api(1).http(), &mut waiting, WITHIN, WITHIN).await;
    waiting.assert_holds(cluster.api(1).http(), &End::Aborted).await;
    gate.open();
    busy.read_to_the_end().await;
    busy.assert_holds(cluster.api(1).http(), &finished()).await;
    assert_eq!(model.requests().len(), 1, "the queued turn never reached the model");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_redis_and_rabbitmq_a_cancel_takes_one_renewal() {
    let (model, mut cluster) = nobody(&[]).await;
    for role in [Role::Api, Role::Api, Role::Executor, Role::Executor, Role::Executor] {
        cluster.spawn_linked(role, &[]);
    }
    model.respond_with(hang_as_told);
    let mut turn = Watched::start(cluster.api(0).http(), "speak").await;
    turn.until("text-delta").await;
    take_away_all_but_postgres(&cluster);
    let there = cluster.api(1).http();
    assert_stops(there, &mut turn, RENEWAL + WITHIN, RENEWAL + WITHIN + LOOK).await;
    assert_hung_up(&model).await;
    turn.assert_holds(there, &End::Aborted).await;
}

/// Cancels the turn. The response arrives in time, and so does the end of the stream, which is open at another API
/// process.
async fn assert_stops(
    api: &Api,
    turn: &mut Watched,
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

async fn assert_hung_up(model: &ModelServer) {
    let requests = model.wait_until_idle().await;
    assert!(requests.iter().all(|request| request.ending == Ending::ClientLeft));
}

fn take_away_all_but_postgres(cluster: &Cluster) {
    let (apis, executors) = (0..2, 0..3);
    let processes = apis.map(|n| cluster.api(n)).chain(executors.map(|n| cluster.executor(n)));
    for process in processes {
        process.links().redis.set(Mode::Refuse);
        process.links().rabbitmq.set(Mode::Refuse);
    }
}

fn hang_as_told(request: &RecordedRequest) -> Script {
    match request.last_user_text().as_str() {
        "silent" => Script::hang_before_headers(),
        _ => Script::default().say("I begin").hang(),
    }
}
