//! Sub-session trees spread over several executors: a cancel stops every turn of the tree, with and without RabbitMQ,
//! and a parent that waits for its sub-session survives the loss of its executor.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::model_server::{Gate, ModelServer, RecordedRequest, ResponseEnd, Script};
use testkit::proxy::ProxyMode;

use super::followed_turn::FollowedTurn;
use super::rows::ask;
use super::{cluster, empty_cluster, finished};
use crate::contract::TurnEnd;
use crate::distributed::long_running::{
    calls, delegate, result_text, script_model, steps_of, unscripted,
};
use crate::processes::until_processes;
use crate::scripts::bash;
use crate::server::{Cluster, Role};

const ENDED_WITHIN: Duration = Duration::from_secs(1);
/// The time between two lease renewals, which report a cancel when no notification does.
const RENEWAL: Duration = Duration::from_millis(800);
/// Below the 10 s that a container runtime allows before SIGKILL.
const EXIT_TIMEOUT: Duration = Duration::from_secs(9);

/// Three levels. One sub-session of the last level streams without end; the other runs a command with a child process.
fn tree(length: &str) -> impl Fn(&str, usize, &RecordedRequest) -> Script + Send + Sync + 'static {
    let command = format!("bash -c 'sleep {length}' & sleep {length}");
    move |words, step, _| match (words, step) {
        ("root", 0) => calls(&[delegate("call_1", "middle")]),
        ("middle", 0) => calls(&[delegate("call_2", "speaks"), delegate("call_3", "works")]),
        ("speaks", 0) => Script::default().say("I begin").hang(),
        ("works", 0) => calls(&[bash("call_4", &command)]),
        _ => unscripted(words, step),
    }
}

/// Starts the tree at the first API process and returns when every turn of it runs.
async fn start_tree(model: &ModelServer, cluster: &Cluster) -> (FollowedTurn, String) {
    let length = format!("600.{}", cluster.api(0).pid());
    script_model(model, tree(&length));
    let root = FollowedTurn::start(cluster.api(0).http(), "root").await;
    until_processes(&length, 2).await;
    model.wait_until("the one that speaks", |requests| steps_of(requests, "speaks") == 1).await;
    (root, length)
}

/// Cancels the root at the other API process; every turn, request and process of the tree ends within a second of the
/// response.
async fn assert_stops(
    model: &ModelServer,
    cluster: &Cluster,
    mut root: FollowedTurn,
    length: &str,
    answered: Duration,
) {
    let asked = Instant::now();
    let report = cluster.api(1).http().cancel(&root.session).await;
    assert!(asked.elapsed() < answered, "the answer took {:?}", asked.elapsed());
    assert_eq!((&report["cancelled"], &report["turn_id"]), (&json!(true), &json!(root.turn)));
    assert_ne!(report["reason"], "cancel_published_not_confirmed");
    let told = Instant::now();
    let requests = model.wait_until_idle().await;
    until_processes(length, 0).await;
    assert!(told.elapsed() < ENDED_WITHIN, "it was there for {:?}", told.elapsed());
    assert_eq!(
        requests.iter().filter(|request| request.ending == ResponseEnd::ClientLeft).count(),
        1
    );
    let ends = ask(cluster, "SELECT DISTINCT status FROM turn").await;
    assert_eq!(ends, ["cancelled"], "every turn of the tree");
    root.read_to_the_end().await;
    root.assert_holds(cluster.api(1).http(), &TurnEnd::Aborted).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_reaches_a_tree_on_three_executors_within_a_second() {
    let (model, cluster) = cluster(2, 3, &[("NUM_COPILOT_WORKERS", "1")]).await;
    let (root, length) = start_tree(&model, &cluster).await;
    assert_stops(&model, &cluster, root, &length, ENDED_WITHIN).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_broker_a_cancel_reaches_a_tree_within_one_renewal() {
    let (model, mut cluster) = empty_cluster(&[("NUM_COPILOT_WORKERS", "2")]).await;
    for role in [Role::Api, Role::Api, Role::Executor, Role::Executor, Role::Executor] {
        cluster.spawn_with_proxies(role, &[]);
    }
    let (root, length) = start_tree(&model, &cluster).await;
    let processes = (0..2).map(|n| cluster.api(n)).chain((0..3).map(|n| cluster.executor(n)));
    processes.for_each(|process| process.proxies().rabbitmq.set(ProxyMode::Refuse));
    assert_stops(&model, &cluster, root, &length, RENEWAL + ENDED_WITHIN).await;
}

/// A parent that waits for a sub-session, whose response is held back until the gate opens.
fn script_held_child(gate: &Gate, model: &ModelServer) {
    let held = gate.clone();
    script_model(model, move |words, step, request| match (words, step) {
        ("root", 0) => calls(&[delegate("call_1", "child")]),
        ("root", 1) => Script::text(&result_text(request, "call_1", "response")),
        ("child", 0) => Script::default().wait_for(&held).say("Done at last."),
        _ => unscripted(words, step),
    });
}

async fn assert_one_child(cluster: &Cluster, mut root: FollowedTurn) {
    root.reconnect(cluster.api(0).http()).await;
    root.read_to_the_end().await;
    assert_eq!(root.text(), "Done at last.");
    root.assert_holds(cluster.api(0).http(), &finished()).await;
    let turns = ask(cluster, "SELECT count(*) FROM turn").await;
    assert_eq!(turns, ["2"], "the parent's and one of the child");
    let open = ask(cluster, "SELECT count(*) FROM turn WHERE status <> 'completed'").await;
    assert_eq!(open, ["0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_parent_and_its_sub_session_survive_the_kill_of_every_executor() {
    let (model, mut cluster) = cluster(1, 2, &[]).await;
    let gate = Gate::closed();
    script_held_child(&gate, &model);
    let mut root = FollowedTurn::start(cluster.api(0).http(), "root").await;
    root.until("tool-output-available").await;
    gate.reached().await;
    // One executor runs the parent and one the sub-session: both are killed, one after the other.
    for number in 0..2 {
        cluster.executor_mut(number).kill9();
        cluster.spawn(Role::Executor, &[]);
    }
    gate.open();
    assert_one_child(&cluster, root).await;
    model.assert_no_violations();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_parent_moves_to_another_executor_when_its_own_shuts_down() {
    let (model, mut cluster) = cluster(1, 2, &[]).await;
    let gate = Gate::closed();
    script_held_child(&gate, &model);
    let mut root = FollowedTurn::start(cluster.api(0).http(), "root").await;
    root.until("tool-output-available").await;
    gate.reached().await;
    for number in 0..2 {
        cluster.spawn(Role::Executor, &[]);
        let old = cluster.executor_mut(number);
        old.sigterm();
        assert_eq!(old.wait_for_exit(EXIT_TIMEOUT).code(), Some(0), "executor {number}");
    }
    gate.open();
    assert_one_child(&cluster, root).await;
    let attempts = ask(&cluster, "SELECT DISTINCT attempt FROM turn").await;
    assert_eq!(attempts, ["1"], "nothing counts as a crash");
}
