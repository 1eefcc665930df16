//! Postgres is the source of truth, so without it nothing is accepted and nothing is streamed. Clients with an open
//! stream get a status event, senders get 503 with `Retry-After`, and every turn continues afterwards.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::proxy::ProxyMode;
use testkit::services::{PostgresServer, TestServerUrls};
use tokio_postgres::NoTls;

use super::concurrent_turns::{ConcurrentTurns, question};
use super::outage_cluster::{AffectedProcesses, OutageCluster, shared};
use super::turn_client::{ReceivedTurn, SentMessage, post};
use super::turn_guarantees::takeovers;
use super::{measured, readiness};
use crate::server::{TEST_TIMEOUT, json_of};

/// A call to the database may take two seconds.
const REFUSED_WITHIN: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_crashes_and_recovers_loses_nothing() {
    let mut postgres = PostgresServer::start().expect("a Postgres server for this test");
    let setup =
        OutageCluster::on(&TestServerUrls { database: postgres.url(), ..shared() }, &[]).await;
    let mut turns = ConcurrentTurns::ask(&setup, 12, 60).await;
    turns.all_begin().await;
    let session = setup.api(0).session().await;
    postgres.restart_immediate();
    turns.add(&setup, 0, question(&session, 900, 3));
    turns.all_continue(TEST_TIMEOUT).await;
    readiness::wait_until_ready(&setup).await;
    postgres.restart_immediate();
    turns.all_continue(TEST_TIMEOUT).await;
    let seen = turns.finish(&setup).await;
    report(&seen);
    assert!(seen.iter().all(|seen| seen.breaks == 0), "no stream was broken");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_closed_by_the_database_are_reopened() {
    let setup = OutageCluster::start(&[]).await;
    let mut turns = ConcurrentTurns::ask(&setup, 12, 40).await;
    turns.all_begin().await;
    for _ in 0..3 {
        terminate_all(&setup).await;
        measured("all continue after", turns.all_continue(TEST_TIMEOUT).await);
    }
    let seen = turns.finish(&setup).await;
    report(&seen);
    assert!(seen.iter().all(|seen| (seen.breaks, takeovers(seen)) == (0, 0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_wait_for_a_database_that_is_away_for_less_than_a_lease() {
    let setup = OutageCluster::start(&[("TURN_LEASE_MS", "12000")]).await;
    let mut turns = ConcurrentTurns::ask(&setup, 12, 40).await;
    turns.all_begin().await;
    black_hole_for(&setup, Duration::from_secs(3)).await;
    measured("all continue after", turns.all_continue(TEST_TIMEOUT).await);
    let seen = turns.finish(&setup).await;
    report(&seen);
    assert!(seen.iter().all(|seen| (seen.breaks, takeovers(seen)) == (0, 0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_turn_continues_after_a_database_outage_longer_than_a_lease() {
    let setup =
        OutageCluster::start(&[("TURN_LEASE_MS", "2000"), ("CHAT_HEARTBEAT_SECONDS", "1")]).await;
    let mut turns = ConcurrentTurns::ask(&setup, 12, 40).await;
    turns.all_begin().await;
    let session = setup.api(0).session().await;
    setup.set(AffectedProcesses::All, |proxies| &proxies.postgres, ProxyMode::BlackHole);
    let began = Instant::now();
    let question = question(&session, 900, 3);
    for _ in 0..2 {
        assert_refused(&setup, &question).await;
    }
    readiness::wait_for_failing(&setup, AffectedProcesses::All, "postgres").await;
    let longer_than_a_lease = Duration::from_secs(5);
    tokio::time::sleep(longer_than_a_lease.saturating_sub(began.elapsed())).await;
    setup.set(AffectedProcesses::All, |proxies| &proxies.postgres, ProxyMode::Pass);
    turns.add(&setup, 0, question.clone());
    turns.add(&setup, 1, question);
    readiness::wait_until_ready(&setup).await;
    let seen = turns.finish(&setup).await;
    report(&seen);
    assert!(seen.iter().all(|seen| seen.breaks == 0), "no stream was broken");
    let told = seen.iter().filter(|seen| seen.notices > 0).count();
    assert!(told >= 12, "every client with an open stream got a status event: {told}");
    let turns: HashSet<&str> = seen.iter().map(|seen| seen.turn.as_str()).collect();
    assert_eq!((seen.len(), turns.len()), (14, 13), "the same message made one turn");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_overview_omits_running_jobs_while_the_database_is_away() {
    let setup = OutageCluster::start(&[]).await;
    let seen = async || {
        let overview = setup.api(0).get("/ops/overview").send().await.expect("an answer");
        let overview = json_of(overview).await;
        ["live_turns", "live_executions", "workers"].map(|name| overview[name].clone())
    };
    assert_eq!(seen().await, [json!([]), json!([]), json!([])], "nothing runs");
    setup.set(AffectedProcesses::Apis, |proxies| &proxies.postgres, ProxyMode::BlackHole);
    assert_eq!(seen().await, [Value::Null, Value::Null, Value::Null], "unknown");
    setup.set(AffectedProcesses::Apis, |proxies| &proxies.postgres, ProxyMode::Pass);
    readiness::wait_until_ready(&setup).await;
}

/// Asserts a 503 within the limit, with a `Retry-After` header.
async fn assert_refused(setup: &OutageCluster, question: &SentMessage) {
    let (api, began) = (setup.api(0), Instant::now());
    let answer = post(&api.client, api.base(), question).send().await.expect("an answer");
    measured("refused after", began.elapsed());
    assert_eq!(answer.status(), 503);
    let seconds = answer.headers()["retry-after"].to_str().expect("text").parse::<u64>();
    assert!(seconds.is_ok_and(|seconds| (1..=60).contains(&seconds)));
    assert!(began.elapsed() < REFUSED_WITHIN, "{:?}", began.elapsed());
}

/// No process reaches the database for this long.
async fn black_hole_for(setup: &OutageCluster, time: Duration) {
    setup.set(AffectedProcesses::All, |proxies| &proxies.postgres, ProxyMode::BlackHole);
    tokio::time::sleep(time).await;
    setup.set(AffectedProcesses::All, |proxies| &proxies.postgres, ProxyMode::Pass);
}

async fn terminate_all(setup: &OutageCluster) {
    let url = &setup.cluster.storage().urls().database;
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
    let mut running = tokio::task::JoinSet::new();
    running.spawn(connection);
    let ended = client
        .query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
            &[],
        )
        .await
        .expect("a superuser may do this");
    assert!(!ended.is_empty());
}

fn report(seen: &[ReceivedTurn]) {
    let sum = |of: fn(&ReceivedTurn) -> usize| seen.iter().map(of).sum::<usize>();
    measured("takeovers", sum(takeovers));
    measured("breaks", sum(|seen| seen.breaks));
    measured("notices", sum(|seen| seen.notices));
    measured("refusals", sum(|seen| seen.refusals));
}
